internal import BinderClient
public import JSON
internal import Wire

/// The first event of a sequence of events.
public enum JournalStart: Equatable, Sendable {
  /// The next event.
  case now
  /// The first event that the journal still holds.
  case start
  /// The event after a position.
  case after(UInt64)
  /// A number of positions before the end.
  case last(UInt64)
  /// The first event at a time, in RFC 3339.
  case time(String)

  /// The start as a parameter of `subscribe`.
  var parameter: JSONValue {
    switch self {
    case .now: .string("now")
    case .start: .string("start")
    case .after(let seq): .object(["after": .number(JSONNumber(seq))])
    case .last(let count): .object(["last": .number(JSONNumber(count))])
    case .time(let time): .object(["time": .string(time)])
    }
  }
}

/// An event of the journal.
public struct JournalEvent: Equatable, Sendable {
  /// The position in the journal.
  public let seq: UInt64

  /// The type, for example `cells.set`.
  public let type: String

  /// The stream, named as its source.
  public let stream: String

  /// The position in the stream.
  public let version: UInt64

  /// The time of the event in RFC 3339, UTC.
  public let time: String

  /// The content, by type.
  public let data: JSONValue

  /// The idempotency key of the command that caused it; `nil` if it had none.
  public let cmd: String?

  init(_ seq: UInt64, _ event: JSONObject) {
    self.seq = seq
    (type, stream) = (event.string("type") ?? "", event.string("stream") ?? "")
    (version, time) = (event.position("version") ?? 0, event.string("time") ?? "")
    (data, cmd) = (event["data"] ?? .null, event.string("cmd"))
  }
}

/// The events of the journal; ``AsyncBinderClient/events(_:types:from:)`` makes it.
///
/// Each iteration is a subscription of its own. It throws ``ClientError/refused(_:)`` with
/// `seq_expired` if events were removed before they were read.
public struct JournalEvents: AsyncSequence, Sendable {
  private let target: Link.Target
  private let options: JSONObject

  init(_ target: Link.Target, streams: [String], types: [String], _ start: JournalStart) {
    self.target = target
    var filter = JSONObject()
    if !streams.isEmpty { filter["streams"] = .array(streams.map { .string($0) }) }
    if !types.isEmpty { filter["types"] = .array(types.map { .string($0) }) }
    var options: JSONObject = ["from": start.parameter]
    if !filter.members.isEmpty { options["filter"] = .object(filter) }
    self.options = options
  }

  /// Returns an iterator.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: Subscription(target, "events", options, nil))
  }

  /// The iterator of events.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let subscription: Subscription
    private var isOpen = false

    init(subscription: Subscription) {
      self.subscription = subscription
    }

    /// Waits for the next event; never `nil`.
    public mutating func next() async throws -> JournalEvent? {
      if !isOpen {
        try await subscription.open()
        isOpen = true
      }
      while let update = try await subscription.next() {
        guard update.kind == .next, let seq = update.seq else { continue }
        return JournalEvent(seq, update.members.object("event"))
      }
      return nil
    }
  }
}
