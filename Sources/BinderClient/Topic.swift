public import JSON

/// What a stream is of.
public struct Topic: Equatable, Sendable {
  /// How the changes of a source are wanted.
  public enum Mode: Equatable, Sendable {
    /// The newest value; those in between are left out for a slow reader.
    case newest
    /// Every change, from the journal; a source that is not journaled is refused.
    case every
    /// Every change of what is journaled, the newest value of what is not.
    case everyIfJournaled
  }

  /// A source, a pattern of sources, or `events`.
  public let source: String

  /// How the changes are wanted; nothing for events.
  public let mode: Mode

  /// Where it begins, as `subscribe` takes it; `nil` for now.
  public let from: JSONValue?

  /// Which events are wanted, as `subscribe` takes it; `nil` for all.
  public let filter: JSONObject?

  /// How events are read durably; `nil` when they are not.
  public let durable: DurableReader?

  /// Whether events that are not kept any more are passed over, with ``Update/missed(topic:_:)``, instead
  /// of ending the stream.
  public let passesGaps: Bool

  /// Milliseconds between values, at least; 0 for none, and for all modes but ``Mode/newest``.
  public let intervalMilliseconds: UInt64

  /// A source or a pattern of sources.
  public init(
    _ source: String, mode: Mode = .everyIfJournaled, from: JSONValue? = nil,
    everyMilliseconds interval: UInt64 = 0
  ) {
    self.source = source
    self.mode = mode
    self.from = from
    (filter, durable, passesGaps) = (nil, nil, false)
    intervalMilliseconds = interval
  }

  /// The events of the journal.
  ///
  /// - Parameter durable: For a reader that goes on behind what it has acknowledged, see
  ///   ``Follower/acknowledge(_:upTo:until:)``; `from` is then for its first time.
  public init(
    eventsFrom from: JSONValue?, filter: JSONObject? = nil, durable: DurableReader? = nil,
    passesGaps: Bool = false
  ) {
    source = "events"
    self.durable = durable
    self.passesGaps = passesGaps
    mode = .every
    self.from = from
    self.filter = filter
    intervalMilliseconds = 0
  }
}

/// A reader of events whose position the daemon keeps.
public struct DurableReader: Equatable, Sendable {
  /// Its name: 1 to 64 of `[A-Za-z0-9_.:-]`.
  public let name: String

  /// How many events come that were not acknowledged; `nil` for the daemon's own number.
  public let maxUnacknowledged: UInt64?

  /// Whether it is taken from whoever holds it.
  public let steals: Bool

  /// A durable reader.
  public init(_ name: String, maxUnacknowledged: UInt64? = nil, steals: Bool = false) {
    self.name = name
    self.maxUnacknowledged = maxUnacknowledged
    self.steals = steals
  }
}

/// What a stream tells.
public enum Update: Equatable, Sendable {
  /// A source has a value, or none any more.
  case value(SourceValue)

  /// An event, as the protocol writes it: `{"type":…,"stream":…}`.
  case event(seq: UInt64, JSONText)

  /// A topic has told everything that was there: what follows happens now. Once for each.
  case caughtUp(topic: Int, seq: UInt64?)

  /// Positions of a topic that are not kept any more; what they were is not to be had.
  case missed(topic: Int, ClosedRange<UInt64>)

  /// A topic has ended.
  case completed(topic: Int)
}

/// A value of a source.
public struct SourceValue: Equatable, Sendable {
  /// The source.
  public let source: String

  /// The position that gave the value; `nil` for what is measured.
  public let seq: UInt64?

  /// The value; `nil` when the source is gone.
  public let value: JSONText?

  /// How many values before it were left out.
  public let skipped: UInt64

  /// Whether it was the value already when the stream began.
  public let isPresent: Bool

  init(
    source: String, seq: UInt64?, value: JSONText?, skipped: UInt64, isPresent: Bool
  ) {
    (self.source, self.seq, self.value) = (source, seq, value)
    (self.skipped, self.isPresent) = (skipped, isPresent)
  }

  /// A value that was there when the stream began.
  public init(source: String, seq: UInt64?, value: JSONText?) {
    self.init(source: source, seq: seq, value: value, skipped: 0, isPresent: true)
  }
}
