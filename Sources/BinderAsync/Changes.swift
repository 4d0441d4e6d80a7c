public import BinderClient
internal import Facts
internal import JSON
internal import Wire

/// The values of sources and their changes; ``AsyncBinderClient/watch(_:mode:)`` makes it.
///
/// The first elements are the present values, marked ``SourceValue/isPresent``. Each iteration is a
/// subscription of its own.
public struct Changes: AsyncSequence, Sendable {
  private let target: Link.Target
  private let pattern: String
  private let mode: Topic.Mode

  init(_ target: Link.Target, _ pattern: String, _ mode: Topic.Mode) {
    (self.target, self.pattern, self.mode) = (target, pattern, mode)
  }

  /// Returns an iterator.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(target: target, pattern: pattern, mode: mode)
  }

  /// The iterator of changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let target: Link.Target
    private let pattern: String
    private var mode: Topic.Mode
    private var subscription: Subscription?
    private var ready: [SourceValue] = []
    private var nextReady = 0
    private var known = KnownValues()

    init(target: Link.Target, pattern: String, mode: Topic.Mode) {
      (self.target, self.pattern, self.mode) = (target, pattern, mode)
    }

    /// Waits for the next value or change; never `nil`.
    public mutating func next() async throws -> SourceValue? {
      let subscription: Subscription
      if let begun = self.subscription {
        subscription = begun
      } else {
        subscription = try await begin()
      }
      while nextReady == ready.count {
        ready.removeAll(keepingCapacity: true)
        nextReady = 0
        guard let update = try await subscription.next() else { return nil }
        try known.take(update) { ready.append($0) }
      }
      nextReady += 1
      return ready[nextReady - 1]
    }

    private mutating func begin() async throws -> Subscription {
      do {
        let begun = try await open(isEvery: mode != .newest)
        subscription = begun
        return begun
      } catch ClientError.refused(let error)
        where mode == .everyIfJournaled && error.name == .invalidParams
        && [.string("/mode"), .string("/source")].contains(error.data["path"])
      {
        // The source is not journaled.
        mode = .newest
        let begun = try await open(isEvery: false)
        subscription = begun
        return begun
      }
    }

    private mutating func open(isEvery: Bool) async throws -> Subscription {
      let subscription = Subscription(
        target, pattern, isEvery ? ["mode": .string("every")] : [:], nil)
      known = KnownValues(isEvery: isEvery)
      try await subscription.open()
      return subscription
    }
  }
}

/// The values that a program knows, to make whole values of steps, and changes of a new snapshot.
struct KnownValues {
  /// Whether each change comes from the journal, so that there is no second snapshot.
  private let isEvery: Bool

  /// The last value of each source, to find changes after a reconnection.
  private var told: [String: JSONText] = [:]

  /// The last state of each list and map.
  private var collections: [String: JSONValue] = [:]
  private var hasBegun = false

  init(isEvery: Bool = false) {
    self.isEvery = isEvery
  }

  /// Passes on the values of an update.
  ///
  /// - Throws: ``ClientError/notUnderstood(_:)`` for a step that does not fit.
  mutating func take(
    _ update: SubscriptionUpdate, _ tell: (SourceValue) -> Void
  ) throws(ClientError) {
    switch update.kind {
    case .snapshot: takeSnapshot(update, tell)
    case .next: try takeNext(update, tell)
    case .caughtUp, .mark, .behind, .lagged, .paused: break
    }
  }

  private mutating func takeSnapshot(_ update: SubscriptionUpdate, _ tell: (SourceValue) -> Void) {
    defer { hasBegun = true }
    let members = update.members
    var values: [(source: String, value: JSONText)] = []
    if case .object(let all)? = members["values"] {
      values = all.members.map { ($0.name, $0.value.text) }
    } else if members["gone"] == nil {
      values = [(update.source, members.shownValue.text)]
    }
    collections = [:]
    for (source, value) in values where value.isCollection { collections[source] = value.value }
    // The rest of a long list follows in parts, the last of which completes the value.
    guard members["more"] == nil else { return }
    let before = told
    func value(_ source: String, _ value: JSONText?) -> SourceValue {
      SourceValue(source: source, seq: update.seq, value: value, isPresent: !hasBegun)
    }
    for (source, text) in values where before[source] != text { tell(value(source, text)) }
    let present = Dictionary(values.map { ($0.source, $0.value) }) { $1 }
    for source in before.keys.sorted() where present[source] == nil { tell(value(source, nil)) }
    if !isEvery { told = present }
  }

  private mutating func takeNext(
    _ update: SubscriptionUpdate, _ tell: (SourceValue) -> Void
  ) throws(ClientError) {
    let (source, members) = (update.source, update.members)
    let value: JSONText?
    if members["gone"] != nil {
      collections[source] = nil
      value = nil
    } else if let part = members["part"], case .object(let part) = part {
      collections[source]?.append(part["value"] ?? .null)
      guard part["last"] == .bool(true) else { return }
      value = collections[source]?.text
    } else if let changes = members["changes"] {
      value = try apply(changes.text, to: source)
      // The rest of a long list follows in parts.
      guard members["more"] == nil else { return }
    } else {
      value = members.shownValue.text
    }
    if !isEvery { told[source] = value }
    tell(
      SourceValue(
        source: source, seq: update.seq, value: value,
        skipped: members.position("skipped") ?? 0, isPresent: false))
  }

  /// Returns the list or map after its steps.
  private mutating func apply(
    _ changes: JSONText, to source: String
  ) throws(ClientError) -> JSONText {
    do throws(CollectionChange.Fault) {
      let steps = try CollectionChange.read(changes)
      // A source that did not exist before is empty.
      let empty: JSONValue = steps.first?.isOfMap == true ? .object([:]) : .array([])
      var known = collections[source] ?? empty
      for step in steps { try known.apply(step) }
      collections[source] = known
      return known.text
    } catch {
      throw .notUnderstood("\(error)")
    }
  }
}

extension JSONObject {
  /// The value to show: of a source that is not loaded, its loading state.
  fileprivate var shownValue: JSONValue {
    guard let state = self["state"], state != .string("loaded") else {
      return self["value"] ?? .null
    }
    var shown: JSONObject = ["state": state]
    shown["value"] = self["value"]
    shown["error"] = self["error"]
    return .object(shown)
  }
}
