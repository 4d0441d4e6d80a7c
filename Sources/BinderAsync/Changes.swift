public import BinderClient
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
        try known.receive(update) { ready.append($0) }
      }
      nextReady += 1
      return ready[nextReady - 1]
    }

    private mutating func begin() async throws -> Subscription {
      do {
        let begun = try await open(isEvery: mode != .newest)
        subscription = begun
        return begun
      } catch let error as ClientError
        where mode == .everyIfJournaled && error.isOfSourceWithoutPast
      {
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

extension KnownValues {
  /// Passes on the values of an update.
  ///
  /// - Throws: ``ClientError/notUnderstood(_:)`` for a step that does not fit.
  fileprivate mutating func receive(
    _ update: SubscriptionUpdate, _ tell: (SourceValue) -> Void
  ) throws(ClientError) {
    let members = update.members
    switch update.kind {
    case .snapshot:
      show(
        members.values(of: update.source), seq: update.seq, isWhole: members["more"] == nil, tell)
    case .next:
      try change(
        update.source, Change(members), seq: update.seq,
        skipped: members.position("skipped") ?? 0, tell)
    case .caughtUp, .mark, .behind, .lagged, .paused: break
    }
  }
}

extension KnownValues.Change {
  fileprivate init(_ members: JSONObject) {
    var part: (value: JSONValue, isLast: Bool)?
    if case .object(let sent)? = members["part"] {
      part = (sent["value"] ?? .null, sent["last"] == .bool(true))
    }
    self.init(
      gone: members["gone"] != nil, state: members.string("state"), value: members["value"]?.text,
      error: members["error"]?.text, changes: members["changes"]?.text, part: part,
      more: members["more"] != nil)
  }
}

extension JSONObject {
  /// The values of a snapshot, by source.
  fileprivate func values(of source: String) -> [(source: String, value: JSONText)] {
    if case .object(let all)? = self["values"] {
      return all.members.map { ($0.name, $0.value.text) }
    }
    if self["gone"] != nil { return [] }
    let value = self["value"]?.text
    let unloaded = JSONText(state: string("state"), value: value, error: self["error"]?.text)
    return [(source, unloaded ?? value ?? .null)]
  }
}
