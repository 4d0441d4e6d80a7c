internal import JSON
internal import Journal
internal import Signals

/// The events of other services that a state consists of besides its own.
///
/// They are applied in the commit of their own service, at their positions: to the pending state when
/// they are recorded, and to the durable one when they are durable.
@usableFromInline
package struct OtherEvents: Sendable {
  /// The types of the events, for example `cells.set`.
  package let types: Set<String>

  /// The forms of the events of each service.
  private let forms: [String: EventForms]

  @usableFromInline
  static let none = OtherEvents([], [:])

  init(_ types: Set<String>, _ forms: [String: EventForms]) {
    (self.types, self.forms) = (types, forms)
  }

  var isEmpty: Bool { types.isEmpty }

  /// The services of the events.
  var services: Set<String> { Set(types.map(Self.service)) }

  private static func service(of type: String) -> String { String(type.prefix { $0 != "." }) }

  /// Returns whether a stored type is one of these.
  func contains(_ type: String) -> Bool { !isEmpty && types.contains(EventType.name(of: type)) }

  /// Returns the type of a record and its data in the current form; `nil` if it is no such event.
  func read(_ record: Record) -> (type: String, data: JSONText)? {
    guard contains(record.type) else { return nil }
    let data = JSONText(trusted: record.data)
    let service = Self.service(of: record.type)
    guard let forms = forms[service] else { return (EventType.name(of: record.type), data) }
    let kind = record.type.dropFirst(service.utf8.count + 1)
    guard case .event(let name, let present) = forms.read(kind, data) else { return nil }
    return ("\(service).\(name)", present)
  }
}

/// An event that is passed on to a state of another service.
struct RoutedEvent {
  let type: String
  let data: JSONText

  /// The number of the stream.
  let stream: Int
  let appended: Appended
  let time: Int64
  let user: UInt32
}

/// The ledgers whose states consist of events of other services too.
@usableFromInline
final class EventRoutes {
  /// Whether any ledger gets events of other services.
  @usableFromInline
  private(set) var isOn = false

  /// The numbers of the ledgers by the type of the event, without its form.
  private var ledgers: [String: [Int]] = [:]
  private var types: [Int: Set<String>] = [:]

  /// The events that are not durable yet, each with a ledger that has applied it.
  private var waiting = Queue<(ledger: Int, seq: UInt64)>(keeping: 256)

  /// Runs the folds, and charges their time to those who have written them.
  var charge: (_ folds: () -> Void) -> Void = { $0() }

  /// Returns the ledgers that get an event.
  func numbers(of type: String) -> [Int]? { ledgers[EventType.name(of: type)] }

  func set(_ types: Set<String>, of ledger: Int) {
    self.types[ledger] = types.isEmpty ? nil : types
    ledgers = [:]
    for (ledger, types) in self.types.sorted(by: { $0.key < $1.key }) {
      for type in types { ledgers[type, default: []].append(ledger) }
    }
    isOn = !ledgers.isEmpty
  }

  func append(_ ledger: Int, at seq: UInt64) { waiting.append((ledger, seq)) }

  /// Removes the next ledger that has applied the event at a position.
  func popFirst(at seq: UInt64) -> Int? {
    guard let first = waiting.first, first.seq == seq else { return nil }
    return waiting.removeFirst().ledger
  }

  /// Removes the events after a position; returns their ledgers.
  func removeAll(after seq: UInt64) -> Set<Int> {
    var ledgers: Set<Int> = []
    while let last = waiting.last, last.seq > seq {
      _ = waiting.popLast()
      ledgers.insert(last.ledger)
    }
    return ledgers
  }

  func removeAll() { waiting.removeAll() }
}
