import EventSourcing
import JSON
import Model

/// Things to do, with all requirements of a state written by hand.
struct ByHand: ServiceState, Codable {
  enum Event: ServiceEvent, Codable {
    case added(title: String)
    case renamed(title: String)
    case removed

    static var kinds: Set<String> { ["added", "renamed", "removed"] }
  }

  private(set) var items: [Int: Item] = [:]
  private(set) var lastID = 0

  mutating func apply(_ event: Event, at place: EventContext) {
    guard let id = Self.id(place.stream) else { return }
    switch event {
    case .added(let title):
      items[id] = Item(id: id, title: title, done: false)
      lastID = id
    case .renamed(let title): items[id]?.title = title
    case .removed: items[id] = nil
    }
  }

  func inverse(of event: Event, in stream: Stream) -> Event? {
    guard case .renamed = event, let item = Self.id(stream.name).flatMap({ items[$0] }) else {
      return nil
    }
    return .renamed(title: item.title)
  }

  func value(of source: String) -> JSONText? {
    guard let item = Self.id(source).flatMap({ items[$0] }) else { return nil }
    return JSONText(
      trusted: #"{"id":\#(item.id),"title":\#(JSONText(string: item.title).text),"#
        + #""done":\#(item.done)}"#)
  }

  func has(_ source: String) -> Bool { Self.id(source).map { items[$0] != nil } ?? false }

  var sources: some Sequence<String> { items.keys.lazy.map { "todo/\($0)" } }

  static func sources(changedBy event: Event, at place: EventContext) -> [String] {
    [place.stream]
  }

  private static func id(_ source: String) -> Int? {
    guard source.hasPrefix("todo/"), let id = Int(source.dropFirst("todo/".count)), id > 0,
      source == "todo/\(id)"
    else { return nil }
    return id
  }
}

/// A service whose state is written by hand.
struct HandService: Measured {
  private let ledger: EventSourcing.Ledger<ByHand>

  init(in host: ServiceHost) { ledger = EventSourcing.Ledger("todo", in: host) }

  var count: Int { ledger.committed.items.count }

  func rename(_ id: Int, to title: String) {
    guard let item = ledger.pending.items[id], item.title != title else { return }
    ledger.record(.renamed(title: title), in: "todo/\(id)")
  }
}
