package import JSON

/// All maps and what they hold.
///
/// A map without keys is not there.
package struct Maps: ServiceState {
  /// The values by key, by whole name, for example `"maps/hosts"`.
  private var maps: [String: [String: JSONText]] = [:]

  package init() {}

  package static var isCollection: Bool { true }

  package subscript(name: String) -> [String: JSONText] { maps[name] ?? [:] }

  package mutating func apply(_ event: MapEvent, at place: Place) {
    let name = place.stream
    switch event {
    case .put(let key, let value): maps[name, default: [:]][key] = value
    case .deleted(let key):
      maps[name]?[key] = nil
      if maps[name]?.isEmpty == true { maps[name] = nil }
    case .replaced(let values): maps[name] = values.isEmpty ? nil : values
    case .cleared: maps[name] = nil
    }
  }

  package func value(of source: String) -> JSONText? { maps[source].map(JSONText.init(members:)) }

  package func collection(of source: String) -> SourceCollection? { .map(self[source]) }

  package var sources: some Sequence<String> { maps.keys }

  // To ask a dictionary for the room that it has copies it if it is shared.
  package mutating func unshare() { maps.reserveCapacity(maps.count) }

  package static func sources(changedBy event: MapEvent, at place: Place) -> [String] {
    [place.stream]
  }

  package static func changes(givenBy event: MapEvent, at place: Place) -> [SourceChange]? {
    let step: CollectionChange =
      switch event {
      case .put(let key, let value): .put(key: key, value)
      case .deleted(let key): .delete(key: key)
      case .replaced(let values): .reset(JSONText(members: values))
      case .cleared: .reset(JSONText(members: [:]))
      }
    return [SourceChange(source: place.stream, seq: place.seq, step: step)]
  }
}
