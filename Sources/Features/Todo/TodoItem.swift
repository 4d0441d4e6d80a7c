internal import EventSourcing

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
