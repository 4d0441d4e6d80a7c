internal import EventSourcing
package import JSON

/// The events of a map; the map is the stream.
package enum MapEvent: ServiceEvent, Codable, Equatable {
  case put(key: String, value: JSONText)
  case removed(key: String)
  case replaced(values: [String: JSONText])
  case cleared

  package static var kinds: Set<String> { ["put", "removed", "replaced", "cleared"] }
}
