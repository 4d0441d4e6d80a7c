public import JSON

/// The subject of a stream: sources or events, and how to read them.
public struct Topic: Equatable, Sendable {
  /// The changes that a stream delivers.
  public enum Mode: Equatable, Sendable {
    /// The newest value only.
    ///
    /// Values in between are conflated for a slow reader.
    case newest
    /// Every change, from the journal.
    ///
    /// The daemon refuses sources that are not journaled.
    case every
    /// Every change of journaled sources, and the newest value of others.
    case everyIfJournaled
  }

  /// A source, a pattern of sources, or `events`.
  public let source: String

  /// The changes to deliver; ignored for events.
  public let mode: Mode

  /// The start of the stream, in the form of `subscribe`; `nil` for now.
  public let from: JSONValue?

  /// The event filter, in the form of `subscribe`; `nil` for all events.
  public let filter: JSONObject?

  /// The durable reader for events; `nil` if the position is not stored.
  public let durable: DurableReader?

  /// Whether removed events are skipped with ``Update/missed(topic:_:)`` instead of ending the
  /// stream.
  public let passesGaps: Bool

  /// Whether each event says who has recorded it.
  public let withOrigin: Bool

  /// The minimum interval between values in milliseconds; 0 for none.
  ///
  /// Requires ``Mode/newest``.
  public let intervalMilliseconds: UInt64

  /// A JSON Pointer to the part of each value to deliver; `nil` for the whole value.
  public let pick: String?

  /// Creates a topic for a source or a pattern of sources.
  public init(
    _ source: String, mode: Mode = .everyIfJournaled, from: JSONValue? = nil,
    everyMilliseconds interval: UInt64 = 0, pick: String? = nil
  ) {
    self.source = source
    self.mode = mode
    self.from = from
    (filter, durable, passesGaps, withOrigin) = (nil, nil, false, false)
    intervalMilliseconds = interval
    self.pick = pick
  }

  /// Creates a topic for the events of the journal.
  ///
  /// - Parameters:
  ///   - durable: A reader that resumes after its last acknowledged event; see
  ///     ``Follower/acknowledge(_:upTo:until:)``. `from` then applies only to its first use.
  ///   - withOrigin: Whether each event says who has recorded it.
  public init(
    eventsFrom from: JSONValue?, filter: JSONObject? = nil, durable: DurableReader? = nil,
    passesGaps: Bool = false, withOrigin: Bool = false
  ) {
    source = "events"
    self.durable = durable
    self.passesGaps = passesGaps
    self.withOrigin = withOrigin
    mode = .every
    self.from = from
    self.filter = filter
    (intervalMilliseconds, pick) = (0, nil)
  }
}

/// A reader of events whose position the daemon stores.
public struct DurableReader: Equatable, Sendable {
  /// The reader's name: 1 to 64 of `[A-Za-z0-9_.:-]`.
  public let name: String

  /// The most unacknowledged events that the daemon sends; `nil` for the daemon's default.
  public let maxUnacknowledged: UInt64?

  /// Whether to take over the reader if another client uses it.
  public let steals: Bool

  /// Creates a durable reader.
  public init(_ name: String, maxUnacknowledged: UInt64? = nil, steals: Bool = false) {
    self.name = name
    self.maxUnacknowledged = maxUnacknowledged
    self.steals = steals
  }
}

/// An update of a stream.
public enum Update: Equatable, Sendable {
  /// A source has a new value, or no longer has one.
  case value(SourceValue)

  /// An event in the protocol's form: `{"type":…,"stream":…}`.
  case event(seq: UInt64, JSONText)

  /// All past updates of a topic were delivered; later ones are live.
  ///
  /// Sent once for each topic.
  case caughtUp(topic: Int, seq: UInt64?)

  /// Positions of a topic that were removed from the journal.
  ///
  /// Their events cannot be read.
  case missed(topic: Int, ClosedRange<UInt64>)
}

/// A value of a source.
public struct SourceValue: Equatable, Sendable {
  /// The name of the source.
  public let source: String

  /// The position of the change; `nil` for sources that are not journaled.
  public let seq: UInt64?

  /// The value; `nil` if the source no longer exists.
  public let value: JSONText?

  /// The number of values that were conflated before this one.
  public let skipped: UInt64

  /// Whether the source already had this value when the stream began.
  public let isPresent: Bool

  package init(
    source: String, seq: UInt64?, value: JSONText?, skipped: UInt64, isPresent: Bool
  ) {
    (self.source, self.seq, self.value) = (source, seq, value)
    (self.skipped, self.isPresent) = (skipped, isPresent)
  }

  /// Creates a value.
  public init(source: String, seq: UInt64?, value: JSONText?, isPresent: Bool = true) {
    self.init(source: source, seq: seq, value: value, skipped: 0, isPresent: isPresent)
  }
}
