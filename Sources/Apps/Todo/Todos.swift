package import Binder
internal import JSON

/// Something to do.
package struct TodoItem: Codable, Equatable, Sendable {
  package let id: Int
  package var title: String
  package var done: Bool
}

/// The things to do, by id; the events of one are in the stream `todo/ID`.
package struct Todos: State {
  package enum Event: Codable, Equatable, Sendable {
    case added(title: String)
    case renamed(title: String)
    case finished
    case reopened
    case removed
  }

  package private(set) var items = Table<Int, TodoItem>()

  package init() {}

  package static let sources = [Source.rows(\Todos.items, "todo/*", "What is to be done.")]

  package mutating func apply(_ event: Event, at context: EventContext) {
    guard let id: Int = context.key() else { return }
    switch event {
    case .added(let title): items[id] = TodoItem(id: id, title: title, done: false)
    case .renamed(let title): items[id]?.title = title
    case .finished: items[id]?.done = true
    case .reopened: items[id]?.done = false
    case .removed: items[id] = nil
    }
  }

  /// 1: `{"items":{"1":{…}},"lastID":1}`; 2: `{"items":{"rows":{"1":{…}},"lastID":1}}`.
  package static let forms = [
    Upcaster.ofMembers { kept in
      kept = [
        "items": JSONText(members: [
          "rows": kept["items"] ?? JSONText(members: [:]), "lastID": kept["lastID"] ?? JSONText(0),
        ])
      ]
    }
  ]
}
