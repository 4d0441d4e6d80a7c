package import JSON
internal import Journal

/// What a service knows, as a value that follows from its events and from nothing else.
///
/// `apply` is pure: a replay, a snapshot, a value of the past and the live path run the same code
/// and end in the same state.
package protocol ServiceState: Codable, Sendable {
  associatedtype Event: ServiceEvent
  associatedtype Sources: Sequence<String>

  /// The state before the first event.
  init()

  /// The state after an event; one that cannot follow on this state changes nothing.
  mutating func apply(_ event: Event, at place: Place)

  /// The rule that an event breaks that cannot follow on this state; `nil` when it can.
  ///
  /// No service records such an event: it comes from a journal that was made by hand, or damaged
  /// before its checksum was taken. A start that meets one ends.
  func fault(of event: Event, at place: Place) -> String?

  /// The value of a source, by its whole name, for example `"counter/value"`; `nil` when there is
  /// none now.
  func value(of source: String) -> JSONText?

  /// What a source holds that is a list or a map, empty when it was never written; `nil` for all
  /// others.
  func collection(of source: String) -> SourceCollection?

  /// Whether a source has a value now, as those have that ``sources`` names.
  func has(_ source: String) -> Bool

  /// Whether a source that is a list or a map holds nothing; asked before and after each step of one
  /// that is watched.
  func isEmpty(collection source: String) -> Bool

  /// The names of the sources that have a value now, in any order; not all of them may be asked for.
  var sources: Sources { get }

  /// The sources that an event may have given another value.
  static func sources(changedBy event: Event, at place: Place) -> [String]

  /// What an event alone says of the sources that it changes; `nil` when the state has to be known.
  static func changes(givenBy event: Event, at place: Place) -> [SourceChange]?

  /// What an event changes, asked of the state before it, where the event alone does not say it.
  ///
  /// For states with lists or maps: a change of one of those is its step. A change without one means
  /// that a source of another kind has the value that follows.
  func changes(by event: Event, at place: Place) -> [SourceChange]

  /// Bytes of what the state keeps because of the events of a stream; asked at the start.
  func size(ofStream stream: String) -> Int

  /// By how many bytes an event makes ``size(ofStream:)`` larger, in no more time than it takes to
  /// apply it; `nil` when that is to be asked before and after the event.
  func growth(by event: Event, in stream: String) -> Int?

  /// What undoes an event that is about to be applied: applied after it, at the same place, it brings
  /// the state back to what it is now. `nil` when there is no such event; then what undoes it costs
  /// as much as the state is large.
  func inverse(of event: Event, in stream: String) -> Event?

  /// Makes what is large its own: a copy of a state is only made when one of the two changes, which
  /// would be in the middle of the first command.
  mutating func unshare()

  /// The state as it is kept in a snapshot.
  func kept(by coder: EventCoder) -> JSONText

  /// The state that was kept so; `nil` when it does not fit.
  init?(kept text: JSONText, by coder: EventCoder)

  /// What is done about events of the service that are of no known kind.
  static var unknownEvents: UnknownEvents { get }

  /// Whether sources are lists or maps: then ``changes(by:at:)`` tells each step.
  static var isCollection: Bool { get }

  /// Where the form in which the state is kept as a snapshot has changed: what brings each form to
  /// the next, the first one first.
  ///
  /// A form that cannot be brought to the present one must not be left behind: after a compaction
  /// the snapshot is the only place where the state is.
  static var upcasters: [Upcaster] { get }
}

extension ServiceState {
  /// Numbers are given in order, and none a second time.
  ///
  /// - Returns: The rule that one breaks that is not after the last; `nil` when it is.
  static func fault(ofNumber number: Int, after last: Int) -> String? {
    number > last ? nil : "number \(number) is not after \(last)"
  }

  /// The form has not changed.
  package static var upcasters: [Upcaster] { [] }

  /// Every event can follow.
  package func fault(of event: Event, at place: Place) -> String? { nil }

  /// They are skipped.
  package static var unknownEvents: UnknownEvents { .skipped }

  /// Whether ``value(of:)`` has one.
  package func has(_ source: String) -> Bool { value(of: source) != nil }

  /// No source is a list or a map.
  package func collection(of source: String) -> SourceCollection? { nil }

  /// As the elements say.
  package func isEmpty(collection source: String) -> Bool {
    switch collection(of: source) {
    case .list(let elements): elements.isEmpty
    case .map(let values): values.isEmpty
    case nil: true
    }
  }

  /// As the source says that is called as the stream.
  package func size(ofStream stream: String) -> Int { value(of: stream)?.text.utf8.count ?? 0 }

  /// The size is asked: it is that of one small value.
  package func growth(by event: Event, in stream: String) -> Int? { nil }

  /// There is none.
  package func inverse(of event: Event, in stream: String) -> Event? { nil }

  /// It is small.
  package mutating func unshare() {}

  /// As the compiler encodes it.
  package func kept(by coder: EventCoder) -> JSONText { coder.text(self) }

  package init?(kept text: JSONText, by coder: EventCoder) {
    guard let state = coder.value(Self.self, of: text) else { return nil }
    self = state
  }

  /// What it says alone.
  package func changes(by event: Event, at place: Place) -> [SourceChange] {
    Self.changes(givenBy: event, at: place) ?? []
  }

  /// They are plain values.
  package static var isCollection: Bool { false }

  /// The state has to be known.
  package static func changes(givenBy event: Event, at place: Place) -> [SourceChange]? { nil }
}

/// Something that has happened to a service.
///
/// An enum with `Codable` written by the compiler is one as it stands.
package protocol ServiceEvent: Sendable {
  /// The event as it is kept: its kind, for example `"incremented"`, which is never reused for
  /// another, and what it says beside that, as a JSON object.
  func written(_ coder: EventCoder) -> (kind: String, data: JSONText)

  /// Where the data of a kind has changed its form: what brings each form to the next, the first one
  /// first. Events of older forms stay as they were written and are brought to the present one
  /// whenever they are read.
  static var upcasters: [String: [Upcaster]] { get }

  /// The kinds of which an event that does not read is damaged, and not one of another version.
  static var kinds: Set<String> { get }

  /// The event that was kept so; `nil` when this version does not know it.
  init?(kind: String, data: JSONText, _ coder: EventCoder)
}

extension ServiceEvent {
  /// None has changed.
  package static var upcasters: [String: [Upcaster]] { [:] }

  /// Of none it is known.
  package static var kinds: Set<String> { [] }
}

/// What a service does about an event of its own that it does not know.
package enum UnknownEvents: Sendable {
  /// It goes on without it: the state does not need it.
  case skipped
  /// It does not start: the state would be wrong without it.
  case refused
}

/// Where and when an event happened.
package struct Place: Sendable {
  private let record: Record

  init(_ record: Record) {
    self.record = record
  }

  /// The stream it belongs to.
  package var stream: String { record.stream }

  /// Its position in the journal.
  package var seq: UInt64 { record.seq }

  /// Its position in the stream.
  package var version: UInt64 { record.version }

  /// Microseconds since 1970; never less than that of the event before.
  package var time: Int64 { record.time }

  /// The user of this machine who has caused it; `nil` when that is not known.
  ///
  /// It is read from text each time.
  package var uid: UInt32? {
    record.meta.flatMap { EventCoder().value(Meta.self, of: JSONText(kept: $0))?.uid }
  }
}
