public import Facts
public import JSON
public import Journal

/// The state of a service: a value computed from its events alone.
///
/// `apply` is pure. Replay, snapshots, past values and live commands run the same code and reach
/// the same state.
///
///     struct Counter: ServiceState {
///       private var count = 0
///       mutating func apply(_ event: CounterEvent, at place: Place) { count += 1 }
///       func value(of source: String) -> JSONText? { JSONText(count) }
///       var sources: [String] { ["counter"] }
///       static func sources(changedBy event: CounterEvent, at place: Place) -> [String] {
///         ["counter"]
///       }
///     }
@usableFromInline
package protocol ServiceState: Codable, Sendable {
  associatedtype Event: ServiceEvent
  associatedtype Sources: Sequence<String>

  /// The data that undoes an event: often an event itself.
  associatedtype Inverse = Event

  /// Creates the state before the first event.
  init()

  /// Applies an event; an event that is invalid in this state changes nothing.
  mutating func apply(_ event: Event, at place: Place)

  /// Returns the rule that an event breaks in this state, or `nil` if it is valid.
  ///
  /// Services never record invalid events. They come from journals that were edited by hand, or
  /// damaged before their checksum was computed. A start fails on an invalid event.
  func fault(of event: Event, at place: Place) -> String?

  /// Returns the value of a source by its full name, for example `"counter/value"`, or `nil` if
  /// it has none.
  func value(of source: String) -> JSONText?

  /// Returns the name and the value of a source by the bytes of its name, with one look-up.
  ///
  /// `nil` if it has no value, or if only ``value(of:)`` finds it.
  func entry(_ source: Span<UInt8>) -> (name: String, value: JSONText)?

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
  static func sources(changedBy event: Event, at place: Place) -> [String]

  /// Returns the changes that follow from an event alone, or `nil` if they depend on the state.
  static func changes(givenBy event: Event, at place: Place) -> [SourceChange]?

  /// Returns the changes by an event, given the state before it.
  ///
  /// For states with lists or maps: their changes are steps. A change without a step means that
  /// the source has the value in the state after the event.
  func changes(by event: Event, at place: Place) -> [SourceChange]

  /// Returns the bytes of state charged to a stream; called at the start.
  func size(ofStream stream: String) -> Int

  /// Returns the change of ``size(ofStream:)`` by an event, in no more time than `apply` takes.
  ///
  /// `nil` lets the caller compare the size before and after the event.
  func growth(by event: Event, in stream: String) -> Int?

  /// Returns an event that undoes another one, given the state before it.
  ///
  /// Applied at the same place, it restores this state. `nil` if there is no such event; the cost
  /// of a rollback then depends on the size of the state.
  func inverse(of event: Event, in stream: String) -> Inverse?

  /// Returns the event that removes what an event has written, so that it can end with a lease;
  /// see ``LeasedPart``.
  ///
  /// An event that removes it returns itself. `nil` if what it writes cannot end with a lease.
  static func removal(after event: Event, in stream: String) -> Event?

  /// Returns whether there is something that a removal would remove.
  func has(toRemove removal: Event, in stream: String) -> Bool

  /// Undoes the event that was applied last.
  mutating func revert(_ inverse: Inverse, at place: Place)

  /// Copies large storage now; otherwise copy-on-write would do so during the first command.
  mutating func unshare()

  /// Whether a change after a copy copies only a small part of the storage.
  ///
  /// Such a state shares the storage of its two copies where they are equal.
  static var isCopiedInParts: Bool { get }

  /// Encodes the state for a snapshot.
  func kept(by coder: EventCoder) -> JSONText

  /// Decodes the state from a snapshot; returns `nil` if the text does not match.
  init?(kept text: JSONText, by coder: EventCoder)

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

extension ServiceState where Inverse == Event {
  /// Applies the inverse event.
  package mutating func revert(_ inverse: Event, at place: Place) { apply(inverse, at: place) }
}

extension ServiceState {
  /// Checks that a number follows the last one, because numbers are assigned in order and never
  /// reused.
  ///
  /// - Returns: The broken rule, or `nil`.
  package static func fault(ofNumber number: Int, after last: Int) -> String? {
    number > last ? nil : "number \(number) is not after \(last)"
  }

  /// By default, values are found by ``value(of:)`` alone.
  package func entry(_ source: Span<UInt8>) -> (name: String, value: JSONText)? { nil }

  /// By default there is only one form.
  package static var upcasters: [Upcaster] { [] }

  /// By default every event is valid.
  package func fault(of event: Event, at place: Place) -> String? { nil }

  /// By default unknown events are skipped.
  package static var unknownEvents: UnknownEvents { .skipped }

  /// By default it checks ``value(of:)``.
  package func has(_ source: String) -> Bool { value(of: source) != nil }

  /// By default no source is a list or a map.
  package func collection(of source: String) -> SourceCollection? { nil }

  /// By default it checks ``collection(of:)``.
  package func isEmpty(collection source: String) -> Bool {
    switch collection(of: source) {
    case .list(let elements): elements.isEmpty
    case .map(let values): values.isEmpty
    case nil: true
    }
  }

  /// By default it returns the size of the source with the stream's name.
  package func size(ofStream stream: String) -> Int { value(of: stream)?.text.utf8.count ?? 0 }

  /// By default the size is compared, which suits small values.
  package func growth(by event: Event, in stream: String) -> Int? { nil }

  /// By default there is no inverse.
  package func inverse(of event: Event, in stream: String) -> Inverse? { nil }

  /// By default nothing can end with a lease.
  package static func removal(after event: Event, in stream: String) -> Event? { nil }

  package func has(toRemove removal: Event, in stream: String) -> Bool { true }

  /// Does nothing by default; override it for large copy-on-write state.
  package mutating func unshare() {}

  /// By default a change copies all of it.
  package static var isCopiedInParts: Bool { false }

  /// By default it uses the state's `Codable` conformance.
  package func kept(by coder: EventCoder) -> JSONText { coder.text(self) }

  package init?(kept text: JSONText, by coder: EventCoder) {
    guard let state = coder.value(Self.self, of: text) else { return nil }
    self = state
  }

  /// By default it returns ``changes(givenBy:at:)``.
  package func changes(by event: Event, at place: Place) -> [SourceChange] {
    Self.changes(givenBy: event, at: place) ?? []
  }

  /// By default all sources are plain values.
  package static var isCollection: Bool { false }

  /// By default the changes depend on the state.
  @usableFromInline
  package static func changes(givenBy event: Event, at place: Place) -> [SourceChange]? { nil }
}

/// An event of a service.
///
/// An enum conforms by declaring `Codable` with the compiler's implementation.
@usableFromInline
package protocol ServiceEvent: Sendable {
  /// Encodes the event: its kind, for example `"incremented"`, and its data as a JSON object.
  ///
  /// A kind must never be reused for another meaning.
  func written(_ coder: EventCoder) -> (kind: String, data: JSONText)

  /// The conversions of each changed kind's data, from each form to the next, the oldest first.
  ///
  /// Stored events keep their form. They are converted whenever they are read.
  static var upcasters: [String: [Upcaster]] { get }

  /// All kinds of events, as `describe` lists them.
  ///
  /// An unreadable event of one of them counts as damaged, not as unknown.
  static var kinds: Set<String> { get }

  /// Decodes an event; returns `nil` if this version does not know it.
  init?(kind: String, data: JSONText, _ coder: EventCoder)
}

extension ServiceEvent {
  /// By default no kind has changed.
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

/// The context of an event: its stream, position, time and user.
@usableFromInline
package struct Place: Sendable {
  @usableFromInline
  let record: Record

  @inlinable
  init(_ record: Record) {
    self.record = record
  }

  /// The stream of the event.
  @inlinable
  package var stream: String { record.stream }

  /// The position in the journal.
  @inlinable
  package var seq: UInt64 { record.seq }

  /// The position in the stream.
  @inlinable
  package var version: UInt64 { record.version }

  /// The time in microseconds since 1970; never before the time of the previous event.
  @inlinable
  package var time: Int64 { record.time }

  /// The uid of the user who caused the event; `nil` if unknown.
  ///
  /// Parsed on each access.
  package var uid: UInt32? {
    record.meta.flatMap { EventCoder().value(Meta.self, of: JSONText(kept: $0))?.uid }
  }
}
