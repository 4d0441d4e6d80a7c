package import EventSourcing
internal import JSON

/// Something to do.
package struct TodoItem: Codable, Equatable, Sendable {
  package let id: Int
  package var title: String
  package var done: Bool
}

/// The events of something to do; the stream is `todo/ID`.
package enum TodoEvent: ServiceEvent, Codable, Equatable {
  case added(title: String)
  case renamed(title: String)
  case finished
  case reopened
  case removed

  package static var kinds: Set<String> {
    ["added", "renamed", "finished", "reopened", "removed"]
  }
}

/// The things to do, by id.
package struct Todos: TableState, Codable {
  package typealias Lookup = TableLookup<Todos>

  package private(set) var items = Table<Int, TodoItem>()

  package init() {}

  package static let tables = TableList<Todos>([
    .rows(\.items, "todo/*", "What is to be done.")
  ])

  package var tables: TableList<Todos> { Self.tables }

  package mutating func apply(_ event: TodoEvent, at place: EventContext) {
    guard let id = Self.id(place.stream) else { return }
    switch event {
    case .added(let title): items[id] = TodoItem(id: id, title: title, done: false)
    case .renamed(let title): items[id]?.title = title
    case .finished: items[id]?.done = true
    case .reopened: items[id]?.done = false
    case .removed: items[id] = nil
    }
  }

  /// 1: `{"items":{"1":{…}},"lastID":1}`; 2: `{"items":{"rows":{"1":{…}},"lastID":1}}`.
  package static var upcasters: [Upcaster] {
    [
      { kept in
        let members = kept.members ?? [:]
        return JSONText(members: [
          "items": JSONText(members: [
            "rows": members["items"] ?? JSONText(members: [:]),
            "lastID": members["lastID"] ?? JSONText(0),
          ])
        ])
      }
    ]
  }

  /// Returns the id of an item from the name of its source; `nil` for another name.
  package static func id(_ source: String) -> Int? {
    (pattern.key(of: source) as Int?).flatMap { $0 > 0 ? $0 : nil }
  }

  private static let pattern = SourcePattern("todo/*")
}

/// An error from changing what there is to do.
package enum TodoError: ServiceError, Equatable {
  case unknown(id: Int)
  case badTitle
  case tooMany(max: Int)
  /// All ids have been used.
  case noNumberLeft

  package var kind: ServiceErrorKind {
    switch self {
    case .unknown(let id): .notFound(what: "todo", id: "\(id)")
    case .badTitle: .invalid(parameter: "title", expected: description)
    case .tooMany, .noNumberLeft: .rejected(reason: "too_many")
    }
  }

  package var description: String {
    switch self {
    case .unknown(let id): "there is nothing to do with the number \(id)"
    case .badTitle:
      "a title has 1 to \(TodoService.maxTitleLength) characters and no control characters, "
        + "\(TodoService.maxTitleBytes) bytes at most"
    case .tooMany(let max): "there are at most \(max) things to do"
    case .noNumberLeft: "there is no number left"
    }
  }
}
