package import EventSourcing
package import JSON

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
package struct Todos: ServiceState, Codable {
  package private(set) var items: [Int: TodoItem] = [:]

  /// The id of the item added last.
  package private(set) var lastID = 0

  package init() {}

  package mutating func apply(_ event: TodoEvent, at place: EventContext) {
    guard let id = Self.id(place.stream) else { return }
    switch event {
    case .added(let title):
      items[id] = TodoItem(id: id, title: title, done: false)
      lastID = id
    case .renamed(let title): items[id]?.title = title
    case .finished: items[id]?.done = true
    case .reopened: items[id]?.done = false
    case .removed: items[id] = nil
    }
  }

  /// Returns the event that undoes another one; adding and removing have none.
  package func inverse(of event: TodoEvent, in stream: Stream) -> TodoEvent? {
    guard let item = Self.id(stream.name).flatMap({ items[$0] }) else { return nil }
    return switch event {
    case .added, .removed: nil
    case .renamed: .renamed(title: item.title)
    case .finished, .reopened: item.done ? .finished : .reopened
    }
  }

  package func value(of source: String) -> JSONText? {
    guard let item = Self.id(source).flatMap({ items[$0] }) else { return nil }
    return JSONText(
      trusted: #"{"id":\#(item.id),"title":\#(JSONText(string: item.title).text),"#
        + #""done":\#(item.done)}"#)
  }

  package func has(_ source: String) -> Bool { Self.id(source).map { items[$0] != nil } ?? false }

  package var sources: some Sequence<String> { items.keys.lazy.map { "todo/\($0)" } }

  package static func sources(changedBy event: TodoEvent, at place: EventContext) -> [String] {
    [place.stream]
  }

  /// Returns the id of an item from the name of its source; `nil` for another name.
  package static func id(_ source: String) -> Int? {
    guard source.hasPrefix("todo/"), let id = Int(source.dropFirst("todo/".count)), id > 0,
      source == "todo/\(id)"
    else { return nil }
    return id
  }
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
