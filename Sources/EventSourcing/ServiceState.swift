public import JSON
internal import Journal
public import Model

/// The state of a service: a value computed from its events alone.
///
/// `apply` is pure. Replay, snapshots, past values and live commands run the same code and reach
/// the same state.
///
///     struct Counter: ServiceState, Codable {
///       private var count = 0
///       mutating func apply(_ event: CounterEvent, at place: EventContext) { count += 1 }
///       func value(of source: String) -> JSONText? { JSONText(count) }
///       var sources: [String] { ["counter"] }
///       static func sources(changedBy event: CounterEvent, at place: EventContext) -> [String] {
///         ["counter"]
///       }
///     }
@usableFromInline
package protocol ServiceState: Sendable {
  associatedtype Event: ServiceEvent
  associatedtype Sources: Sequence<String>

  /// The data that undoes an event: often an event itself.
  associatedtype Inverse = Event

  /// The way in which a ledger reaches the values of the state.
  associatedtype Lookup: StateLookup<Self> = NamedLookup<Self>

  /// Creates the state before the first event.
  init()

  /// Applies an event; an event that is invalid in this state changes nothing.
  mutating func apply(_ event: Event, at place: EventContext)

  /// The types of events of other services that it consists of too, for example `cells.set`.
  ///
  /// Only a state of tables can have some.
  var otherTypes: Set<String> { get }

  /// Whether it has applied all events; otherwise no snapshot of it may take the place of an
  /// earlier one.
  var isWhole: Bool { get }

  /// Returns an event of another service as one of this state; `nil` if it is none.
  static func event(ofOther type: String, _ data: JSONText) -> Event?

  /// Returns the rule that an event breaks in this state, or `nil` if it is valid.
  ///
  /// Services never record invalid events. They come from journals that were edited by hand, or
  /// damaged before their checksum was computed. A start fails on an invalid event.
  func fault(of event: Event, at place: EventContext) -> String?

  /// Returns the value of a source by its full name, for example `"counter/value"`, or `nil` if
  /// it has none.
  func value(of source: String) -> JSONText?

  /// Returns the content of a list or a map, which is empty if it was never written.
  ///
  /// Returns `nil` for other sources.
  func collection(of source: String) -> SourceCollection?

  /// Returns whether a source has a value, consistent with ``sources``.
  func has(_ source: String) -> Bool

  /// Returns whether a list or a map is empty.
  ///
  /// Called before and after each step of an observed one.
  func isEmpty(collection source: String) -> Bool

  /// The names of the sources that have a value, in any order; callers may stop iterating early.
  var sources: Sources { get }

  /// Returns the sources whose values an event may change.
  static func sources(changedBy event: Event, at place: EventContext) -> [String]

  /// Returns the changes that follow from an event alone, or `nil` if they depend on the state.
  static func changes(givenBy event: Event, at place: EventContext) -> [SourceChange]?

  /// Returns the changes by an event, given the state before it.
  ///
  /// For states with lists or maps: their changes are steps. A change without a step means that
  /// the source has the value in the state after the event.
  func changes(by event: Event, at place: EventContext) -> [SourceChange]

  /// Returns the bytes of state charged to a stream; called at the start.
  func size(of stream: Stream) -> Int

  /// Returns the change of ``size(of:)`` by an event, in no more time than `apply` takes.
  ///
  /// `nil` lets the caller compare the size before and after the event.
  func growth(by event: Event, in stream: Stream) -> Int?

  /// Returns an event that undoes another one, given the state before it.
  ///
  /// Applied at the same place, it restores this state. `nil` if there is no such event; the cost
  /// of a rollback then depends on the size of the state.
  func inverse(of event: Event, in stream: Stream) -> Inverse?

  /// Returns the event that removes what an event has written, so that it can end with a lease;
  /// see ``LeasedPart``.
  ///
  /// An event that removes it returns itself. `nil` if what it writes cannot end with a lease.
  static func removal(after event: Event, in stream: Stream) -> Event?

  /// Returns whether there is something that a removal would remove.
  func has(toRemove removal: Event, in stream: Stream) -> Bool

  /// Undoes the event that was applied last.
  mutating func revert(_ inverse: Inverse, at place: EventContext)

  /// Whether it applies events of the kind ``RestoredRows/kind``, so that its rows can be undone.
  ///
  /// Only a state of tables can.
  static var restoresRows: Bool { get }

  /// Returns why an event cannot be undone; `nil` if it can.
  func obstacle(toUndoing event: Event) -> String?

  /// Copies large storage now; otherwise copy-on-write would do so during the first command.
  mutating func makeUnique()

  /// Encodes the state for a snapshot.
  ///
  /// - Parameter names: The names of all streams.
  func encodeSnapshot(by coder: EventCoder, _ names: NameList) -> JSONText

  /// Decodes the state from a snapshot; returns `nil` if the text does not match.
  ///
  /// - Parameter names: The names of all streams; a state by number adds its own.
  init?(snapshot text: JSONText, by coder: EventCoder, _ names: Names)

  /// Returns the state of a snapshot; `nil` if the text does not match.
  ///
  /// Called on the state before the first event, which a ledger may have been given.
  func restored(from text: JSONText, by coder: EventCoder, _ names: Names) -> Self?

  /// The policy for unknown events of the service.
  static var unknownEvents: UnknownEvents { get }

  /// Whether the state has lists or maps, whose steps ``changes(by:at:)`` returns.
  static var isCollection: Bool { get }

  /// The conversions between snapshot forms, from each form to the next, the oldest first.
  ///
  /// A form must stay convertible: after a compaction, the snapshot is the only copy of the
  /// state.
  static var upcasters: [Upcaster] { get }
}

extension ServiceState {
  /// By default a state consists of events of its own service.
  @usableFromInline
  package var otherTypes: Set<String> { [] }

  /// By default an event that a state cannot apply ends the start.
  @usableFromInline
  package var isWhole: Bool { true }

  @usableFromInline
  package static func event(ofOther type: String, _ data: JSONText) -> Event? { nil }
}

extension ServiceState {
  /// By default it has no rows.
  @usableFromInline
  package static var restoresRows: Bool { false }

  @usableFromInline
  package func obstacle(toUndoing event: Event) -> String? { nil }
}

extension ServiceState where Inverse == Event {
  /// Applies the inverse event.
  @usableFromInline
  package mutating func revert(_ inverse: Event, at place: EventContext) {
    apply(inverse, at: place)
  }
}

extension ServiceState {
  /// Checks that a number follows the last one, because numbers are assigned in order and never
  /// reused.
  ///
  /// - Returns: The broken rule, or `nil`.
  @usableFromInline
  package static func fault(ofNumber number: Int, after last: Int) -> String? {
    number > last ? nil : "number \(number) is not after \(last)"
  }

  /// By default there is only one form.
  @usableFromInline
  package static var upcasters: [Upcaster] { [] }

  /// By default every event is valid.
  @usableFromInline
  package func fault(of event: Event, at place: EventContext) -> String? { nil }

  /// By default it decodes the snapshot.
  @usableFromInline
  package func restored(from text: JSONText, by coder: EventCoder, _ names: Names) -> Self? {
    Self(snapshot: text, by: coder, names)
  }

  /// By default unknown events are skipped.
  @usableFromInline
  package static var unknownEvents: UnknownEvents { .skipped }

  /// By default it checks ``value(of:)``.
  @usableFromInline
  package func has(_ source: String) -> Bool { value(of: source) != nil }

  /// By default no source is a list or a map.
  @usableFromInline
  package func collection(of source: String) -> SourceCollection? { nil }

  /// By default it checks ``collection(of:)``.
  @usableFromInline
  package func isEmpty(collection source: String) -> Bool {
    switch collection(of: source) {
    case .list(let elements): elements.isEmpty
    case .map(let values): values.isEmpty
    case nil: true
    }
  }

  /// By default it returns the size of the source with the stream's name.
  @usableFromInline
  package func size(of stream: Stream) -> Int { value(of: stream.name)?.text.utf8.count ?? 0 }

  /// By default the size is compared, which suits small values.
  @usableFromInline
  package func growth(by event: Event, in stream: Stream) -> Int? { nil }

  /// By default there is no inverse.
  @usableFromInline
  package func inverse(of event: Event, in stream: Stream) -> Inverse? { nil }

  /// By default nothing can end with a lease.
  @usableFromInline
  package static func removal(after event: Event, in stream: Stream) -> Event? { nil }

  @usableFromInline
  package func has(toRemove removal: Event, in stream: Stream) -> Bool { true }

  /// Does nothing by default; override it for large copy-on-write state.
  @usableFromInline
  package mutating func makeUnique() {}

  /// By default it returns ``changes(givenBy:at:)``.
  @usableFromInline
  package func changes(by event: Event, at place: EventContext) -> [SourceChange] {
    Self.changes(givenBy: event, at: place) ?? []
  }

  /// By default all sources are plain values.
  @usableFromInline
  package static var isCollection: Bool { false }

  /// By default the changes depend on the state.
  @usableFromInline
  package static func changes(givenBy event: Event, at place: EventContext) -> [SourceChange]? {
    nil
  }
}

extension ServiceState where Self: Codable {
  /// By default it uses the state's `Codable` conformance.
  @usableFromInline
  package func encodeSnapshot(by coder: EventCoder, _ names: NameList) -> JSONText {
    coder.text(self)
  }

  @usableFromInline
  package init?(snapshot text: JSONText, by coder: EventCoder, _ names: Names) {
    guard let state = coder.value(Self.self, of: text) else { return nil }
    self = state
  }
}

/// A state whose sources are its streams, with plain values by number.
///
/// Each event gives the source of its stream a new value, or removes it. The values are found by the
/// number of the stream, and nothing is asked by name. Such a state needs no
/// ``ServiceState/growth(by:in:)`` and no ``ServiceState/inverse(of:in:)``.
@usableFromInline
package protocol NumberedState: ServiceState
where Sources == EmptyCollection<String> {
  override associatedtype Lookup = NumberedLookup<Self>

  /// Returns the value of the source with the name of a stream.
  func value(numbered stream: Int) -> JSONText?

  /// Returns the value that an event gives the source of its stream.
  static func value(after event: Event) -> JSONText?

  /// Sets the value of the source with the name of a stream.
  mutating func set(_ value: JSONText?, numbered stream: Int)

  /// Calls `body` with the number of each source that has a value.
  func forEachNumber(_ body: (Int) -> Void)
}

extension NumberedState {
  @inlinable
  package mutating func apply(_ event: Event, at place: EventContext) {
    set(Self.value(after: event), numbered: place.number)
  }

  @usableFromInline
  package func value(of source: String) -> JSONText? { nil }
  package var sources: EmptyCollection<String> { EmptyCollection() }
  @usableFromInline
  package static func sources(changedBy event: Event, at place: EventContext) -> [String] { [] }

  @usableFromInline
  package static func changes(givenBy event: Event, at place: EventContext) -> [SourceChange]? {
    [SourceChange(source: place.stream, seq: place.seq, value: value(after: event))]
  }
}

/// A stream by its number.
@usableFromInline
package struct Stream {
  @usableFromInline
  let names: Names

  /// The number of the name; see ``Names``.
  @usableFromInline
  package let number: Int

  @usableFromInline
  let text: String?

  /// - Parameter isNamed: Whether the name is made now, for several accesses.
  @inlinable
  package init(_ number: Int, in names: Names, isNamed: Bool = true) {
    (self.names, self.number) = (names, number)
    text = isNamed ? names.text(number) : nil
  }

  /// The name, for example `"cells/lamp"`.
  package var name: String { text ?? names.text(number) }
}

/// An event of a service.
///
/// An enum conforms by declaring `Codable` with the compiler's implementation.
@usableFromInline
package protocol ServiceEvent: Sendable {
  /// Appends the data of the event, a JSON object, to a buffer.
  ///
  /// - Returns: The kind, for example `"incremented"`. A kind must never be reused for another
  ///   meaning.
  func write(to data: inout ByteBuffer, _ coder: EventCoder) -> String

  /// The conversions of each changed kind's data, from each form to the next, the oldest first.
  ///
  /// Stored events keep their form. They are converted whenever they are read.
  static var upcasters: [String: [Upcaster]] { get }

  /// All kinds of events, as `describe` lists them.
  ///
  /// An unreadable event of one of them counts as damaged, not as unknown.
  static var kinds: Set<String> { get }

  /// Returns whether a kind is one of these events.
  static func knows(_ kind: String) -> Bool

  /// Decodes an event; returns `nil` if this version does not know it.
  init?(kind: String, data: JSONText, _ coder: EventCoder)
}

extension ServiceEvent {
  /// By default it looks among ``kinds``.
  @usableFromInline
  package static func knows(_ kind: String) -> Bool { kinds.contains(kind) }

  /// By default no kind has changed.
  @usableFromInline
  package static var upcasters: [String: [Upcaster]] { [:] }
}

/// The policy of a service for its unknown events.
@usableFromInline
package enum UnknownEvents: Sendable {
  /// Skip the event; the state does not need it.
  case skipped
  /// Fail the start; the state would be wrong without it.
  case refused
}

extension ServiceEvent {
  /// Returns the kind of the event and its data.
  func written(_ coder: EventCoder) -> (kind: String, data: JSONText) {
    var data = ByteBuffer()
    let kind = write(to: &data, coder)
    return (kind, JSONText(trusted: data.string))
  }
}

/// The context of an event: its stream, position, time and user.
@usableFromInline
package struct EventContext {
  @usableFromInline
  package let numbered: Stream

  /// The position in the journal.
  @usableFromInline
  package let seq: UInt64

  /// The position in the stream.
  @usableFromInline
  package let version: UInt64

  /// The time in microseconds since 1970; never before the time of the previous event.
  @usableFromInline
  package let time: Int64

  /// The uid of the user who caused the event; ``Charge/nobody`` if only ``meta`` may have it.
  @usableFromInline
  let user: UInt32

  /// The ``Meta`` of an event that was read; `nil` if there is none, or the user is known.
  @usableFromInline
  let meta: String?

  @inlinable
  init(
    _ stream: Stream, seq: UInt64, version: UInt64, time: Int64, user: UInt32, meta: String? = nil
  ) {
    (numbered, self.seq, self.version, self.time) = (stream, seq, version, time)
    (self.user, self.meta) = (user, meta)
  }

  /// The name of the stream.
  @usableFromInline
  package var stream: String { numbered.name }

  /// The number of the stream's name.
  @inlinable
  package var number: Int { numbered.number }

  /// The place of a record in a stream.
  init(_ record: Record, in stream: Stream) {
    self.init(
      stream, seq: record.seq, version: record.version, time: record.time, user: Charge.nobody,
      meta: record.meta)
  }

  /// The uid of the user who caused the event; `nil` if unknown.
  ///
  /// May be parsed on each access.
  package var uid: UInt32? {
    if user != Charge.nobody { return user }
    return meta.flatMap { EventCoder().value(Meta.self, of: JSONText(trusted: $0))?.uid }
  }
}
