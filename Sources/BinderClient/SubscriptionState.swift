package import JSON
internal import Model
internal import Wire

/// A position in the journal to resume after.
///
/// One event may change several sources of a pattern. `part` is how many changes of the event after
/// `seq` were given to the program, with `mode` `every`.
public struct Cursor: Hashable, Codable, Sendable {
  /// The identity of the journal.
  public var epoch: String

  /// The position.
  public var seq: UInt64

  /// The number of changes after ``seq`` that the program has.
  public var part: Int

  /// Creates a position.
  public init(epoch: String, seq: UInt64, part: Int = 0) {
    (self.epoch, self.seq, self.part) = (epoch, seq, part)
  }
}

/// The progress of a subscription over all its connections: no input and no output.
///
/// For each connection, use ``resume()`` for the parameters, then ``begin(epoch:seq:after:isWhole:)`` for
/// the answer, then ``receive(seq:)`` and ``advance(to:)`` for the notifications.
package struct SubscriptionState {
  /// The position of the last message that was passed on.
  package private(set) var cursor: Cursor?

  /// The last position that the program acknowledged in this journal; 0 for none.
  private var acknowledged: UInt64 = 0

  /// The number of changes that the daemon sends again because they are of one event with others.
  private var repeated = 0
  private var hasBegun = false

  private let isDurable: Bool

  /// Whether several workers share the events, so that they come in any order.
  private let isShared: Bool

  /// Whether the daemon resumes after a position that the client names.
  private let isPositional: Bool
  private let isEveryOfPattern: Bool

  /// - Parameters:
  ///   - source: A source, a pattern or `events`.
  ///   - isEvery: Whether the subscription reads every change from the journal.
  ///   - cursor: The position at which an earlier program has stopped.
  package init(
    source: String, isEvery: Bool, isDurable: Bool = false, isShared: Bool = false,
    cursor: Cursor? = nil
  ) {
    isPositional = (source == "events" || isEvery) && !isDurable
    isEveryOfPattern = isEvery && source.contains("*")
    (self.isDurable, self.isShared, self.cursor) = (isDurable, isShared, cursor)
  }

  /// Returns the position that the parameters of the next `subscribe` name; `nil` for none.
  package mutating func resume() -> Cursor? {
    guard isPositional, let cursor else { return nil }
    repeated = cursor.part
    return cursor
  }

  /// Processes the answer to `subscribe`.
  ///
  /// - Parameter isWhole: Whether the value of one source is in the answer, without parts that follow.
  /// - Returns: Whether the answer has values that the program may not know.
  package mutating func begin(
    epoch: String?, seq: UInt64?, after: UInt64?, isWhole: Bool
  ) -> Bool {
    let last = cursor
    let now = epoch.map { Cursor(epoch: $0, seq: after ?? seq ?? 0) }
    let isOther = last?.epoch != now?.epoch
    if isOther { acknowledged = 0 }
    // A durable reader resumes after its last acknowledgement, which may be before the cursor.
    if !isDurable || last == nil || isOther { cursor = now }
    if repeated > 0, var now {
      now.part = repeated
      cursor = now
    }
    let isFirst = !hasBegun
    hasBegun = true
    guard after == nil else { return false }
    // Nothing has changed at the same position. A pattern may have sources that are not journaled.
    return isFirst || now == nil || now != last || !isWhole
  }

  /// The treatment of a change or an event.
  package enum Delivery: Equatable {
    case new
    /// The program has it already.
    ///
    /// `mustAcknowledge` is true if the daemon has lost the acknowledgement with the connection.
    case again(mustAcknowledge: Bool)
  }

  /// Processes the position of a `next`; `nil` for a source that is not journaled.
  package mutating func receive(seq: UInt64?) -> Delivery {
    guard let seq, let last = cursor else { return .new }
    if repeated > 0 {
      repeated -= 1
      if seq == last.seq + 1 { return .again(mustAcknowledge: false) }
      repeated = 0
    }
    if isDurable, !isShared, seq <= last.seq {
      return .again(mustAcknowledge: seq <= acknowledged)
    }
    if !isEveryOfPattern {
      cursor = Cursor(epoch: last.epoch, seq: seq)
    } else if last.part > 0, seq == last.seq + 1 {
      cursor?.part += 1
    } else {
      cursor = Cursor(epoch: last.epoch, seq: seq - 1, part: 1)
    }
    return .new
  }

  /// Processes the position of another message that moves the cursor, such as `mark`.
  ///
  /// A durable reader that reads again is before its cursor.
  package mutating func advance(to seq: UInt64?) {
    guard let seq, let last = cursor, seq > last.seq else { return }
    cursor = Cursor(epoch: last.epoch, seq: seq)
  }

  /// Records an acknowledgement, to repeat it if the daemon loses it.
  package mutating func acknowledge(upTo seq: UInt64) {
    acknowledged = max(acknowledged, seq)
  }
}

/// The values that a program knows, to make whole values of steps and parts, and changes of a new
/// snapshot.
package struct KnownValues {
  /// A change of one source.
  package enum Change {
    case value(JSONText)
    case gone
    /// The steps of a list or map. If it is not whole, parts follow.
    case steps(JSONText, isWhole: Bool)
    case part(JSONValue, isLast: Bool)
  }

  /// Whether each change comes from the journal, so that there is no second snapshot.
  private let isEvery: Bool

  /// Whether the changes begin in the past, without the value from before.
  private let beginsInPast: Bool

  /// The last value of each source, to find changes after a reconnection.
  private var known: [String: JSONText] = [:]

  /// The last state of each list and map.
  private var collections: [String: JSONValue] = [:]

  /// The source whose snapshot goes on in parts, and whether the program knows no value yet.
  private var incomplete: (source: String, isPresent: Bool)?
  private var hasBegun = false

  package init(isEvery: Bool = false, beginsInPast: Bool = false) {
    (self.isEvery, self.beginsInPast) = (isEvery, beginsInPast)
  }

  /// Passes on the values of a snapshot that have changed.
  ///
  /// - Parameter isWhole: Whether no parts follow; otherwise the last of them completes the value.
  package mutating func show(
    _ values: [(source: String, value: JSONText)], seq: UInt64?, isWhole: Bool,
    _ tell: (SourceValue) -> Void
  ) {
    let isPresent = !hasBegun
    hasBegun = true
    collections = [:]
    for (source, value) in values where value.isCollection { collections[source] = value.value }
    incomplete = nil
    guard isWhole else {
      incomplete = values.first.map { ($0.source, isPresent) }
      return
    }
    func value(_ source: String, _ value: JSONText?) -> SourceValue {
      SourceValue(source: source, seq: seq, value: value, isPresent: isPresent)
    }
    for (source, text) in values where known[source] != text { tell(value(source, text)) }
    let present = Dictionary(values.map { ($0.source, $0.value) }) { $1 }
    for source in known.keys.sorted() where present[source] == nil { tell(value(source, nil)) }
    if !isEvery { known = present }
  }

  /// Passes on the value of a source after a change, unless parts of it are missing.
  ///
  /// - Throws: ``ClientError/notUnderstood(_:)`` for a step that does not fit.
  package mutating func change(
    _ source: String, _ change: Change, seq: UInt64?, skipped: UInt64,
    _ tell: (SourceValue) -> Void
  ) throws(ClientError) {
    var (value, isPresent): (JSONText?, Bool) = (nil, false)
    switch change {
    case .gone: collections[source] = nil
    case .value(let text): value = text
    case .steps(let steps, let isWhole):
      value = try apply(steps, to: source)
      guard isWhole else { return }
    case .part(let part, let isLast):
      collections[source]?.append(part)
      guard isLast else { return }
      value = collections[source]?.text
      if let incomplete, incomplete.source == source {
        isPresent = incomplete.isPresent
        self.incomplete = nil
        // The same as before the connection was lost.
        guard value != known[source] else { return }
      }
    }
    if !isEvery { known[source] = value }
    tell(
      SourceValue(source: source, seq: seq, value: value, skipped: skipped, isPresent: isPresent))
  }

  /// Returns the list or map after its steps, or the steps if its previous state is not known.
  private mutating func apply(
    _ changes: JSONText, to source: String
  ) throws(ClientError) -> JSONText {
    do throws(CollectionChange.Fault) {
      let steps = try CollectionChange.read(changes)
      guard var known = collections[source] ?? unknown(for: steps) else { return changes }
      for step in steps { try known.apply(step) }
      collections[source] = known
      return known.text
    } catch {
      throw .notUnderstood("\(error)")
    }
  }

  /// Returns the state of a list or map before its first steps; `nil` if it is not known.
  private func unknown(for steps: [CollectionChange]) -> JSONValue? {
    // A source that did not exist before is empty; a reset needs no state.
    guard let isOfMap = steps.first?.isOfMap else { return .null }
    return beginsInPast ? nil : isOfMap ? .object([:]) : .array([])
  }
}

extension KnownValues.Change {
  /// Creates the change that the members of a `next` describe.
  package init(
    gone: Bool?, state: String?, value: JSONText?, error: JSONText?, changes: JSONText?,
    part: (value: JSONValue, isLast: Bool)?, more: Bool?
  ) {
    if gone == true {
      self = .gone
    } else if let part {
      self = .part(part.value, isLast: part.isLast)
    } else if let changes {
      self = .steps(changes, isWhole: more != true)
    } else {
      // A `null` value decodes like a missing one.
      self = .value(JSONText(state: state, value: value, error: error) ?? value ?? .null)
    }
  }
}

extension JSONText {
  /// Creates the value to show for a source that is not loaded: its loading state, in the same form
  /// as in a pattern.
  ///
  /// - Returns: `nil` for a loaded source, and for a source that has no loading state.
  package init?(state: String?, value: JSONText?, error: JSONText?) {
    guard let state, state != "loaded" else { return nil }
    var object: JSONObject = ["state": .string(state)]
    object["value"] = value?.value
    object["error"] = error?.value
    self = JSONValue.object(object).text
  }

  /// Whether the value is an array or an object.
  fileprivate var isCollection: Bool {
    text.utf8.first == UInt8(ascii: "[") || text.utf8.first == UInt8(ascii: "{")
  }
}

extension JSONValue {
  /// Appends a further part of a list or map that did not fit one line.
  fileprivate mutating func append(_ part: JSONValue) {
    switch (self, part) {
    case (.array(let known), .array(let more)): self = .array(known + more)
    case (.object(var known), .object(let more)):
      for member in more.members { known[member.name] = member.value }
      self = .object(known)
    default: break
    }
  }
}
