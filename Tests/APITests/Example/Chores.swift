internal import EventSourcing
internal import JSON

/// An event of the list.
enum ChoreEvent: ServiceEvent, Codable {
  case added(id: Int, title: String)
  case done(id: Int)

  static let kinds: Set = ["added", "done"]
}

/// The things that are still to do, by id; what follows from the events and from nothing else.
struct Chores: ServiceState, Codable {
  var titles: [Int: String] = [:]
  var lastID = 0

  mutating func apply(_ event: ChoreEvent, at place: EventContext) {
    switch event {
    case .added(let id, let title):
      titles[id] = title
      lastID = id
    case .done(let id): titles[id] = nil
    }
  }

  func value(of source: String) -> JSONText? {
    Int(source.dropFirst("chores/".count)).flatMap { titles[$0] }.map { JSONText(string: $0) }
  }

  var sources: some Sequence<String> { titles.keys.lazy.map { "chores/\($0)" } }

  static func sources(changedBy event: ChoreEvent, at place: EventContext) -> [String] {
    switch event {
    case .added(let id, _), .done(let id): ["chores/\(id)"]
    }
  }
}
