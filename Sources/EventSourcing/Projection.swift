package import JSON
package import Journal
public import Model

/// A projection: the state of a service at some position, built from a snapshot and records.
///
/// Usable on any thread.
package protocol Projection: AnyObject {
  /// Loads a snapshot and returns whether it was readable.
  func start(from snapshot: Snapshot) -> Bool

  /// The form in which snapshots are written; this form and all earlier ones can be read.
  var snapshotForm: Int { get }

  /// Applies a record of any service.
  ///
  /// - Returns: The sources that may have changed.
  @discardableResult
  func apply(_ record: Record) -> [String]

  /// Returns the sources that a record of any service may change; `nil` if they depend on the state
  /// before it.
  func sources(changedBy record: Record) -> [String]?

  /// Whether the sources that an event changes depend on the state before it.
  var dependsOnState: Bool { get }

  /// The events of other services that the state consists of too.
  var others: OtherEvents { get }

  /// Returns whether a record is an event that the state consists of.
  func knows(_ record: Record) -> Bool

  /// Returns the changes that follow from a record alone, or `nil` if they depend on the state.
  func given(by record: Record) -> [SourceChange]?

  /// Applies a record of any service and returns the changes of sources.
  ///
  /// - Parameter isWanted: Whether the changes of a source are wanted; others may be left out. Of a
  ///   state that consists of tables, called once for each derived source whose tables the record
  ///   writes.
  func changes(by record: Record, where isWanted: (String) -> Bool) -> [SourceChange]

  /// Applies a record without computing the changes.
  ///
  /// - Parameter stream: The number of the record's stream in ``names``.
  /// - Returns: The reason why the state cannot be built: the record is damaged or has an
  ///   unsupported type. `nil` on success.
  @discardableResult
  func replay(_ record: Record, in stream: Int) -> JournalError?

  /// Applies a record, and returns the rows that it has written.
  ///
  /// - Parameter choose: Gets the places of the rows, and returns which of them are read.
  func writes(
    of record: Record, _ choose: (EventWrites) -> (RowPlace) -> Bool
  ) -> [RowWrite]

  /// The names of the streams that it knows.
  var names: Names { get }

  /// The unknown event types that ``replay(_:)`` has skipped.
  var unknown: UnknownKinds { get }

  /// The names of the sources that have a value.
  var sources: [String] { get }

  /// Returns the value of a source, or `nil` if it has none.
  func value(of source: String) -> JSONText?

  /// Returns the state as a snapshot at a position.
  func snapshot(at seq: UInt64) -> Snapshot

  /// The current and former forms of the service's events.
  var forms: EventForms { get }
}

/// The projection for one type of state.
@usableFromInline
final class StateProjection<State: ServiceState>: Projection {
  private let service: String
  private let prefix: String
  private let coder = EventCoder()
  let forms = EventForms(State.Event.upcasters)
  let names: Names
  private(set) var state: State

  /// The state before the first event.
  let initial: State
  private(set) var unknown = UnknownKinds()

  /// The values of derived sources in ``state``, as far as they are known.
  private let derived = DerivedValues()

  @usableFromInline
  var others: OtherEvents {
    didSet { last = nil }
  }

  /// The reading of the last record's type: consecutive records mostly have the same.
  private var last: Reading?

  /// The parts of a type of events.
  ///
  /// An object, because that is cheaper to pass on than three strings.
  private final class Reading {
    let type: String

    /// The kind with its form; `nil` if the type belongs to another service.
    let kind: Substring?

    /// The name of the kind if its form is the current one.
    let name: String?

    /// Whether it is one of ``others``.
    let isOther: Bool

    init(_ type: String, kind: Substring?, name: String?, isOther: Bool) {
      (self.type, self.kind, self.name, self.isOther) = (type, kind, name, isOther)
    }
  }

  /// - Parameters:
  ///   - names: The names of the streams; more are added as they occur.
  ///   - initial: The state before the first event.
  ///   - others: The events of other services that it consists of too.
  @usableFromInline
  init(service: String, _ names: Names, from initial: State, _ others: OtherEvents) {
    (state, self.initial, self.others) = (initial, initial, others)
    self.service = service
    self.names = names
    prefix = service + "."
  }

  /// Returns the state, and goes back to the one before the first event.
  func removeState() -> State {
    derived.removeAll()
    defer { state = initial }
    return state
  }

  private static var snapshots: SnapshotForms { SnapshotForms(State.upcasters) }

  static var snapshotForm: Int { snapshots.present }

  var snapshotForm: Int { Self.snapshotForm }

  func start(from snapshot: Snapshot) -> Bool {
    guard let data = Self.snapshots.read(snapshot),
      let state = initial.restored(from: data, by: coder, names)
    else {
      return false
    }
    self.state = state
    derived.removeAll()
    return true
  }

  func apply(_ record: Record) -> [String] {
    guard let event = event(of: record) else { return [] }
    let place = place(of: record)
    derived.removeAll()
    AppliedEvent.begin(record)
    state.apply(event, at: place)
    AppliedEvent.end()
    return State.Lookup.sources(changedBy: event, at: place) ?? []
  }

  private func stream(_ number: Int) -> Stream {
    Stream(number, in: names, isNamed: State.Lookup.needsNames)
  }

  private func place(of record: Record) -> EventContext {
    EventContext(record, in: stream(names.add(record.stream)))
  }

  func sources(changedBy record: Record) -> [String]? {
    guard let event = event(of: record) else { return [] }
    return State.Lookup.sources(changedBy: event, at: place(of: record))
  }

  func changes(by record: Record, where isWanted: (String) -> Bool) -> [SourceChange] {
    guard let event = event(of: record) else { return [] }
    AppliedEvent.begin(record)
    defer { AppliedEvent.end() }
    return State.Lookup.apply(event, at: place(of: record), to: &state, derived, where: isWanted)
  }

  func writes(
    of record: Record, _ choose: (EventWrites) -> (RowPlace) -> Bool
  ) -> [RowWrite] {
    guard let event = event(of: record) else { return [] }
    derived.removeAll()
    AppliedEvent.begin(record)
    defer { AppliedEvent.end() }
    return State.Lookup.writes(of: event, at: place(of: record), in: &state, choose)
  }

  func replay(_ record: Record, in stream: Int) -> JournalError? {
    guard let event = event(of: record) else { return fault(of: record) }
    derived.removeAll()
    let place = EventContext(record, in: self.stream(stream))
    AppliedEvent.begin(record)
    defer { AppliedEvent.end() }
    if let rule = state.fault(of: event, at: place) {
      return .corrupt(seq: record.seq, detail: "\(record.type) in \(record.stream): \(rule)")
    }
    state.apply(event, at: place)
    return nil
  }

  /// Returns the event of a record, which must be known, or belong to another service.
  ///
  /// For a running daemon: it would show another state than the daemon that has recorded the event.
  func known(_ record: Record) throws(JournalError) -> State.Event? {
    if let event = event(of: record) { return event }
    if let fault = fault(of: record) { throw fault }
    guard kind(of: record) != nil else { return nil }
    throw .notUnderstood(
      seq: record.seq, detail: "this program does not know \(record.type); upgrade it")
  }

  /// Classifies a record whose event is unknown or unreadable.
  ///
  /// Returns `nil` if it can be skipped.
  private func fault(of record: Record) -> JournalError? {
    guard let kind = kind(of: record) else { return nil }
    switch forms.read(kind, .null) {
    case .newer(let known):
      let name = EventType.name(of: record.type)
      return .notUnderstood(
        seq: record.seq,
        detail: "it is \(record.type), and this program knows \(name) up to version \(known)")
    case .event(let kind, _) where State.Event.knows(kind):
      return .corrupt(
        seq: record.seq, detail: "\(record.type) in \(record.stream): its data is invalid")
    case .event where State.unknownEvents == .refused:
      return .notUnderstood(
        seq: record.seq, detail: "this program does not know \(record.type), which \(service) needs"
      )
    case .event:
      unknown.count(record)
      return nil
    }
  }

  /// Returns the kind of a record's event with its form, or `nil` if it belongs to another
  /// service.
  private func kind(of record: Record) -> Substring? { reading(record).kind }

  private func reading(_ record: Record) -> Reading {
    if let last, last.type == record.type { return last }
    let type = record.type.utf8
    var kind: Substring?
    if type.count > prefix.utf8.count, type.starts(with: prefix.utf8) {
      kind = record.type[type.index(type.startIndex, offsetBy: prefix.utf8.count)...]
    }
    let reading = Reading(
      record.type, kind: kind, name: kind.flatMap(forms.presentName),
      isOther: kind == nil && others.contains(record.type))
    last = reading
    return reading
  }

  /// Returns the event of a record, or `nil` if it belongs to another service or is unknown.
  func event(of record: Record) -> State.Event? {
    let reading = reading(record)
    if let name = reading.name {
      return State.Event(kind: name, data: JSONText(trusted: record.data), coder)
    }
    if reading.isOther {
      return others.read(record).flatMap { State.event(ofOther: $0.type, $0.data) }
    }
    guard let kind = reading.kind,
      case .event(let kind, let data) = forms.read(kind, JSONText(trusted: record.data))
    else { return nil }
    return State.Event(kind: kind, data: data, coder)
  }

  var dependsOnState: Bool { State.Lookup.dependsOnState }

  func knows(_ record: Record) -> Bool { event(of: record) != nil }

  func given(by record: Record) -> [SourceChange]? {
    guard let event = event(of: record) else { return [] }
    return State.changes(givenBy: event, at: place(of: record))
  }

  var sources: [String] { State.Lookup.sources(of: state, names) }

  func value(of source: String) -> JSONText? { State.Lookup.value(of: source, in: state, names) }

  func snapshot(at seq: UInt64) -> Snapshot {
    Self.snapshot(of: state, service, at: seq, coder, names.list)
  }

  static func snapshot(
    of state: State, _ service: String, at seq: UInt64, _ coder: EventCoder, _ names: NameList
  ) -> Snapshot {
    Snapshot(
      service: service, seq: seq, schema: snapshots.present,
      data: state.encodeSnapshot(by: coder, names).text)
  }
}

extension Projection {
  /// Returns whether a record is an event of another service that the state consists of.
  func isOther(_ record: Record) -> Bool { others.contains(record.type) }

  /// Applies a record without computing the changes; see ``replay(_:in:)``.
  @discardableResult
  func replay(_ record: Record) -> JournalError? { replay(record, in: names.add(record.stream)) }

  /// Starts from a service's newest snapshot at or before a position.
  ///
  /// - Returns: The position of the snapshot; 0 if there is none.
  /// - Throws: ``JournalError/outOfRange(first:last:)`` if events needed after the snapshot were
  ///   removed.
  func start(
    _ reader: any JournalReader, of service: String, upTo seq: UInt64
  ) throws(JournalError) -> UInt64 {
    let position = try ReplayStart(
      upTo: seq, form: snapshotForm,
      { end throws(JournalError) in try reader.snapshot(of: service, upTo: end) },
      start(from:)
    ).position
    let service = JournalProjection.removalName(of: service)
    guard position >= (try reader.lastRemoval(of: service, upTo: seq)) else {
      let bounds = try reader.bounds()
      let first = try reader.lastRemoval(of: service, upTo: bounds.last)
      throw .outOfRange(first: max(bounds.first, first), last: bounds.last)
    }
    // Of other services the state has the events that the journal keeps, so only a state between
    // removed events is unknown.
    for other in others.services {
      let last = try reader.bounds().last
      let removed = try reader.lastRemoval(of: other, upTo: last)
      if seq < removed, position < (try reader.lastRemoval(of: other, upTo: seq)) {
        throw .outOfRange(first: removed, last: last)
      }
    }
    return position
  }

  /// Brings a new projection to a position.
  func advance(
    _ reader: any JournalReader, of service: String, to seq: UInt64
  ) throws(JournalError) {
    var position = try start(reader, of: service, upTo: seq)
    while position < seq {
      let records = try reader.records(after: position, limit: 1000)
      for record in records where record.seq <= seq { apply(record) }
      guard let last = records.last else { return }
      position = last.seq
    }
  }
}
