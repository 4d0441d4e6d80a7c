package import API
internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

/// Offers the maps to clients.
package func bindMaps(_ catalog: Catalog, to maps: MapsService) {
  catalog.command(
    "maps.put", "Sets a key; returns the value.", PutIntoMap.self, writes: ["maps.put"],
    reader: PutIntoMap.read
  ) { _, map throws(CollectionError) in
    try maps.put(map.value, for: map.key, in: map.name)
  }
  catalog.command(
    "maps.remove", "Removes a key; returns whether it existed.", RemoveFromMap.self,
    writes: ["maps.removed"]
  ) { _, map throws(CollectionError) in
    try maps.remove(map.key, from: map.name)
  }
  bindCollections(
    catalog, of: maps.ledger, "Observable dictionaries for scripts; watchers get each changed key.",
    .map, .object([]), "keys", clearing: NamedMap.self, exists: MapsService.isMap,
    replace: { name, value throws(CollectionError) in
      guard let values = value.members else { throw .notAnObject }
      _ = try maps.replace(with: values, in: name)
    },
    clear: { name throws(CollectionError) in try maps.clear(name) })
}

extension Feature {
  package static func maps(_ maps: MapsService) -> Feature {
    let remover = Remover("maps.clear", maps.ledger) { _ = try maps.clear(String($0)) }
    return Feature(removers: [remover]) { bindMaps($0, to: maps) }
  }
}

private protocol MapParameters: CollectionParameters {}

extension MapParameters {
  var source: String { "maps/" + name }
}

private let nameDoc = "The map: 1 to 7 segments of [A-Za-z0-9_.:-] with / between them."
private let keyDoc = "Any text, 1024 bytes at most."

private struct PutIntoMap: DocumentedParameters, MapParameters {
  let name: String
  let key: String
  let value: JSONText

  static let docs = ["name": nameDoc, "key": keyDoc, "value": "Any JSON, 256 KiB at most."]

  static func read(
    _ parameters: RequestParameters, _ line: Span<UInt8>, _ context: CallContext
  ) throws(NotPlain) -> PutIntoMap {
    guard parameters.count == 3, let name = parameters.string("name", at: 0, in: line),
      let key = parameters.string("key", at: 1, in: line),
      let value = parameters.value("value", at: 2, in: line)
    else { throw NotPlain() }
    return PutIntoMap(name: name, key: key, value: value)
  }
}

private struct RemoveFromMap: DocumentedParameters, MapParameters {
  let name: String
  let key: String

  static let docs = ["name": nameDoc, "key": keyDoc]
}

private struct NamedMap: DocumentedParameters, MapParameters {
  let name: String

  static let docs = ["name": nameDoc]
}
