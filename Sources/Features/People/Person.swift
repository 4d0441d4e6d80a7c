internal import EventSourcing

/// A person.
package struct Person: Codable, Equatable, Sendable {
  package let id: Int
  package var name: String
  package var color: Color
}

/// The events of a person; the stream is `people/ID`.
package enum PersonEvent: ServiceEvent, Codable, Equatable {
  case created(name: String, color: Color)
  case renamed(name: String)
  case colored(color: Color)
  case removed

  package static var kinds: Set<String> { ["created", "renamed", "colored", "removed"] }
}
