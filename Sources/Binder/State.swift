public import EventSourcing
public import JSON
public import Model

/// The state of a service: a value that follows from its events alone.
///
/// It consists of tables, which note what an event changes. Sources, lists in views, rollbacks, quotas
/// and snapshots follow from the notes.
///
///     struct Chores: State {
///       enum Event: Codable {
///         case added(id: Int, title: String)
///         case done(id: Int)
///       }
///
///       var titles = Table<Int, String>()
///
///       static let sources = [Source.rows(\Chores.titles, "chores/*", "What is to be done.")]
///
///       mutating func apply(_ event: Event, at context: EventContext) {
///         switch event {
///         case .added(let id, let title): titles[id] = title
///         case .done(let id): titles[id] = nil
///         }
///       }
///     }
public protocol State: Codable, Sendable {
  /// The events: an enum. The name of a case is the kind of the event, its values are the data.
  ///
  /// Never use the name of a removed case again for something else.
  associatedtype Event: Codable & Sendable

  /// Creates the state before the first event.
  init()

  /// Applies an event; one that makes no sense in this state changes nothing.
  ///
  /// It writes rows, and never assigns a whole table; see ``Table/removeAll()``.
  ///
  /// The only function that changes the state. It runs for each new event, and again for old ones when
  /// the daemon starts and when a client looks at the past. So it depends on nothing but its
  /// arguments: no clock, no random number, no file.
  mutating func apply(_ event: Event, at context: EventContext)

  /// All tables of the state, with the names of the sources that clients see.
  static var sources: [Source<Self>] { get }

  /// Returns the rule that an event breaks in this state; `nil` if it is valid.
  ///
  /// The service itself records no invalid events. The start fails on one, because the journal is
  /// damaged or was edited by hand. By default every event is valid.
  func fault(of event: Event, at context: EventContext) -> String?

  /// Returns why an event cannot be undone, for people; `nil` if it can.
  ///
  /// `undo` sets the rows that events have written back to what they were. That is wrong of an event
  /// with an effect outside of the state: a message that was sent, a token that was handed out. By
  /// default every event can be undone.
  static func obstacle(toUndoing event: Event) -> String?

  /// The conversions of changed events, by the name of the case, the oldest first.
  ///
  /// Old events keep their form in the journal, and are converted whenever they are read. An optional
  /// value or a case can be added without a conversion.
  static var eventForms: [String: [Upcaster]] { get }

  /// The conversions of changed snapshots, the oldest first.
  ///
  /// Never change or remove one: after a compaction the snapshot is the only record of old events.
  static var forms: [Upcaster] { get }

  /// The policy of the start for an event whose kind is no case of ``Event``.
  static var unknownEvents: UnknownEvents { get }
}

extension State {
  /// By default every event is valid.
  public func fault(of event: Event, at context: EventContext) -> String? { nil }

  /// By default every event can be undone.
  public static func obstacle(toUndoing event: Event) -> String? { nil }

  /// By default no event has changed.
  public static var eventForms: [String: [Upcaster]] { [:] }

  /// By default there is one form.
  public static var forms: [Upcaster] { [] }

  /// By default unknown events are skipped.
  public static var unknownEvents: UnknownEvents { .skipped }
}

/// The policy of a start for events of unknown kinds, recorded by a newer version of the program.
public enum UnknownEvents: Sendable {
  /// Skips them with a warning; no snapshot is written after them.
  case skipped
  /// Fails.
  case refused
}

/// The context of an event: its stream, position, time and user.
public struct EventContext {
  @usableFromInline
  let engine: EventSourcing.EventContext
  @usableFromInline
  let patterns: [SourcePattern]

  @usableFromInline
  init(_ engine: EventSourcing.EventContext, _ patterns: [SourcePattern]) {
    (self.engine, self.patterns) = (engine, patterns)
  }

  /// The name of the stream: that of the service, or of a row.
  public var stream: String { engine.stream }

  /// The position in the journal, from 1.
  public var seq: UInt64 { engine.seq }

  /// The position in the stream, from 1.
  public var version: UInt64 { engine.version }

  /// The time in microseconds since 1970; never before that of an earlier event.
  public var time: Int64 { engine.time }

  /// The uid of the user who has caused the event; `nil` if it is not known.
  public var user: UInt32? { engine.uid }

  /// Returns the key of the row in whose stream the event was recorded; `nil` if it is another stream,
  /// or the key has another type.
  ///
  /// See ``Ledger/record(_:of:_:)``.
  @inlinable
  public func key<Key: LosslessStringConvertible>(_ type: Key.Type = Key.self) -> Key? {
    let name = engine.stream
    for pattern in patterns {
      if let key: Key = pattern.key(of: name) { return key }
    }
    return nil
  }
}

/// A state as the engine sees it.
@usableFromInline
package struct Stored<S: State>: TableState {
  @usableFromInline
  package typealias Lookup = TableLookup<Stored<S>>
  @usableFromInline
  package typealias Event = StoredEvent<S>

  @usableFromInline
  var state: S
  @usableFromInline
  package let tables: TableList<Stored<S>>
  @usableFromInline
  let patterns: [SourcePattern]

  @usableFromInline
  package init() {
    state = S()
    tables = TableList(Source<S>.tables)
    patterns = tables.sources.filter(\.hasKey).compactMap(\.streams)
  }

  @inlinable
  package mutating func apply(_ event: StoredEvent<S>, at place: EventSourcing.EventContext) {
    switch event {
    case .own(let event): state.apply(event, at: EventContext(place, patterns))
    case .restored(let rows): restore(rows)
    }
  }

  @usableFromInline
  package func fault(of event: StoredEvent<S>, at place: EventSourcing.EventContext) -> String? {
    switch event {
    case .own(let event): state.fault(of: event, at: EventContext(place, patterns))
    case .restored(let rows): fault(of: rows)
    }
  }

  @usableFromInline
  package static var restoresRows: Bool { true }

  @usableFromInline
  package func obstacle(toUndoing event: StoredEvent<S>) -> String? {
    event.own.flatMap(S.obstacle)
  }

  @usableFromInline
  package func encodeSnapshot(by coder: EventCoder, _ names: NameList) -> JSONText {
    coder.text(state)
  }

  @usableFromInline
  package init?(snapshot text: JSONText, by coder: EventCoder, _ names: Names) { nil }

  @usableFromInline
  package func restored(from text: JSONText, by coder: EventCoder, _ names: Names) -> Stored<S>? {
    guard let state: S = coder.value(of: text) else { return nil }
    var restored = self
    restored.state = state
    return restored
  }

  @usableFromInline
  package static var unknownEvents: EventSourcing.UnknownEvents {
    S.unknownEvents == .refused ? .refused : .skipped
  }

  @usableFromInline
  package static var upcasters: [EventSourcing.Upcaster] { S.forms.map(\.convert) }
}

/// An event of a state as the engine sees it.
@usableFromInline
package enum StoredEvent<S: State>: ServiceEvent {
  case own(S.Event)

  /// Rows that an undo has set back.
  case restored(RestoredRows)

  @inlinable
  init(_ event: S.Event) { self = .own(event) }

  /// The event of the service; `nil` if the engine has made it.
  @inlinable
  var own: S.Event? { if case .own(let event) = self { event } else { nil } }

  @usableFromInline
  package func write(to data: inout ByteBuffer, _ coder: EventCoder) -> String {
    let kind: String
    switch self {
    case .own(let event): kind = coder.write(event, to: &data)
    case .restored(let rows):
      data.append(coder.text(rows).text)
      kind = RestoredRows.kind
    }
    // Each answer and page must be able to contain it.
    if data.count > 2 * ValueFault.maxDepth, let fault = ValueFault(JSONText(trusted: data.string))
    {
      coder.refuse(fault)
    }
    return kind
  }

  @usableFromInline
  package init?(kind: String, data: JSONText, _ coder: EventCoder) {
    if kind == RestoredRows.kind {
      guard let rows: RestoredRows = coder.value(of: data) else { return nil }
      self = .restored(rows)
      return
    }
    guard let event: S.Event = coder.event(kind, data) else { return nil }
    self = .own(event)
  }

  @usableFromInline
  package static var upcasters: [String: [EventSourcing.Upcaster]] {
    S.eventForms.mapValues { $0.map(\.convert) }
  }

  /// Unknown: the compiler tells of one kind whether it is a case, and lists none.
  @usableFromInline
  package static var kinds: Set<String> { [] }

  @usableFromInline
  package static func knows(_ kind: String) -> Bool {
    if kind == RestoredRows.kind { return true }
    do {
      _ = try S.Event(from: KindProbe(kind: kind))
      return true
    } catch {
      return (error as? KindProbe.Answer)?.isKnown ?? true
    }
  }
}

/// A decoder that asks an enum whether it has a case of a name.
///
/// The compiler's `init(from:)` of an enum begins with the keys of its cases.
private struct KindProbe: Decoder {
  let kind: String
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  struct Answer: Error {
    let isKnown: Bool
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw Answer(isKnown: Key(stringValue: kind) != nil)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Answer(isKnown: true) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw Answer(isKnown: true)
  }
}
