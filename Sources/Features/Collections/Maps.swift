package import EventSourcing
package import JSON
package import Model

/// The state of all maps.
///
/// An empty map does not exist as a source.
package struct Maps: ServiceState, Codable {
  /// The values by key, by full name, for example `"maps/hosts"`.
  private var maps: [String: SortedMembers] = [:]

  package init() {}

  package static var isCollection: Bool { true }

  package subscript(name: String) -> SortedMembers { maps[name] ?? [:] }

  package mutating func apply(_ event: MapEvent, at place: EventContext) {
    let name = place.stream
    switch event {
    case .put(let key, let value): maps[name, default: [:]][key] = value
    case .removed(let key):
      maps[name]?[key] = nil
      if maps[name]?.isEmpty == true { maps[name] = nil }
    case .replaced(let values): maps[name] = values.isEmpty ? nil : SortedMembers(values)
    case .cleared: maps[name] = nil
    }
  }

  package func value(of source: String) -> JSONText? {
    maps[source].map { SourceCollection.map($0).text }
  }

  package func collection(of source: String) -> SourceCollection? { .map(self[source]) }

  package func has(_ source: String) -> Bool { maps[source] != nil }

  package var sources: some Sequence<String> { maps.keys }

  package func size(of stream: Stream) -> Int { Self.size(of: self[stream.name]) }

  package func growth(by event: MapEvent, in stream: Stream) -> Int? {
    switch event {
    case .put(let key, let value): Self.size(of: key, value) - size(of: stream.name, key)
    case .removed(let key): -size(of: stream.name, key)
    case .replaced(let values): Self.size(of: values) - size(of: stream)
    case .cleared: -size(of: stream)
    }
  }

  private func size(of map: String, _ key: String) -> Int {
    maps[map]?[key].map { Self.size(of: key, $0) } ?? 0
  }

  private static func size(of values: some Sequence<SortedMembers.Member>) -> Int {
    values.reduce(0) { $0 + size(of: $1.key, $1.value) }
  }

  /// Returns the size in bytes, including a fixed overhead per entry.
  private static func size(of key: String, _ value: JSONText) -> Int {
    160 + key.utf8.count + value.text.utf8.count
  }

  /// The data that undoes an event of a map.
  package enum Inverse {
    case event(MapEvent)

    /// Restores all members.
    case whole(SortedMembers)
  }

  package func inverse(of event: MapEvent, in stream: Stream) -> Inverse? {
    switch event {
    case .put(let key, _), .removed(let key):
      .event(maps[stream.name]?[key].map { .put(key: key, value: $0) } ?? .removed(key: key))
    case .replaced, .cleared: .whole(self[stream.name])
    }
  }

  package mutating func revert(_ inverse: Inverse, at place: EventContext) {
    switch inverse {
    case .event(let event): apply(event, at: place)
    case .whole(let members): maps[place.stream] = members.isEmpty ? nil : members
    }
  }

  package static func removal(after event: MapEvent, in stream: Stream) -> MapEvent? {
    switch event {
    case .put(let key, _), .removed(let key): .removed(key: key)
    case .replaced, .cleared: nil
    }
  }

  package func has(toRemove removal: MapEvent, in stream: Stream) -> Bool {
    guard case .removed(let key) = removal else { return false }
    return maps[stream.name]?[key] != nil
  }

  // `reserveCapacity` copies the dictionary if its storage is shared.
  package mutating func makeUnique() { maps.reserveCapacity(maps.count) }

  package static func sources(changedBy event: MapEvent, at place: EventContext) -> [String] {
    [place.stream]
  }

  package static func changes(givenBy event: MapEvent, at place: EventContext) -> [SourceChange]? {
    let step: CollectionChange =
      switch event {
      case .put(let key, let value): .put(key: key, value)
      case .removed(let key): .delete(key: key)
      case .replaced(let values): .reset(JSONText(members: values))
      case .cleared: .reset(JSONText(members: [:]))
      }
    return [SourceChange(source: place.stream, seq: place.seq, step: step)]
  }
}

/// The events of a map; the map is the stream.
package enum MapEvent: ServiceEvent, Codable, Equatable {
  case put(key: String, value: JSONText)
  case removed(key: String)
  case replaced(values: [String: JSONText])
  case cleared

  package static var kinds: Set<String> { ["put", "removed", "replaced", "cleared"] }

  /// Writes the usual event by hand, in the form of the compiler, because a map gets many of them.
  package func write(to data: inout ByteBuffer, _ coder: EventCoder) -> String {
    guard case .put(let key, let value) = self else { return coder.write(self, to: &data) }
    data.object {
      $0.member("key", key)
      $0.member("value", value)
    }
    return "put"
  }
}
