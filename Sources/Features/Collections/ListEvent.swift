internal import EventSourcing
package import JSON

/// The events of a list; the list is the stream.
package enum ListEvent: ServiceEvent, Codable, Equatable {
  case inserted(at: Int, value: JSONText)
  case updated(at: Int, value: JSONText)
  case removed(at: Int)
  case moved(from: Int, to: Int)
  case replaced(values: [JSONText])
  case cleared

  package static var kinds: Set<String> {
    ["inserted", "updated", "removed", "moved", "replaced", "cleared"]
  }
}
