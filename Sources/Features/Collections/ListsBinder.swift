package import API
internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

/// Offers the lists to clients.
package func bindLists(_ catalog: Catalog, to lists: ListsService) {
  catalog.command(
    "lists.append", "Adds an element at the end; returns its index.", AppendToList.self,
    writes: ["lists.inserted"], reader: AppendToList.read
  ) { _, list throws(CollectionError) in
    try lists.append(list.value, to: list.name)
  }
  catalog.command(
    "lists.insert", "Adds an element before another or at the end; returns its index.",
    SetInList.self, writes: ["lists.inserted"]
  ) { _, list throws(CollectionError) in
    try lists.insert(list.value, at: list.at, in: list.name)
  }
  catalog.command(
    "lists.update", "Sets an element; returns it.", SetInList.self, writes: ["lists.updated"]
  ) { _, list throws(CollectionError) in
    try lists.update(list.value, at: list.at, in: list.name)
  }
  catalog.command(
    "lists.remove", "Removes an element; returns it.", RemoveFromList.self,
    writes: ["lists.removed"]
  ) { _, list throws(CollectionError) in
    try lists.remove(at: list.at, from: list.name)
  }
  catalog.command(
    "lists.move", "Moves an element to another index; returns it.", MoveInList.self,
    writes: ["lists.moved"]
  ) { _, list throws(CollectionError) in
    try lists.move(from: list.from, to: list.to, in: list.name)
  }
  catalog.command(
    "lists.replace", "Replaces all elements; returns how many there are.", ReplaceList.self,
    writes: ["lists.replaced"]
  ) { _, list throws(CollectionError) in
    try lists.replace(with: list.value, in: list.name)
  }
  bindCollections(
    catalog, of: lists.ledger, "Observable arrays for scripts; watchers get each change.", .list,
    .array(.any), "elements", clearing: NamedList.self, exists: ListsService.isList,
    replace: { name, value throws(CollectionError) in
      guard let values = value.elements(atMost: ListsService.maxWritten + 1) else {
        throw .notAnArray
      }
      _ = try lists.replace(with: values, in: name)
    },
    clear: { name throws(CollectionError) in try lists.clear(name) })
}

extension Feature {
  package static func lists(_ lists: ListsService) -> Feature {
    let remover = Remover("lists.clear", lists.ledger) { _ = try lists.clear(String($0)) }
    return Feature(removers: [remover]) { bindLists($0, to: lists) }
  }
}

private protocol ListParameters: CollectionParameters {}

extension ListParameters {
  var source: String { "lists/" + name }
}

private let nameDoc = "The list: 1 to 7 segments of [A-Za-z0-9_.:-] with / between them."
private let valueDoc = "Any JSON, 256 KiB at most."

private struct AppendToList: DocumentedParameters, ListParameters {
  let name: String
  let value: JSONText

  static let docs = ["name": nameDoc, "value": valueDoc]

  static func read(
    _ parameters: RequestParameters, _ line: Span<UInt8>, _ context: CallContext
  ) throws(NotPlain) -> AppendToList {
    guard parameters.count == 2, let name = parameters.string("name", at: 0, in: line),
      let value = parameters.value("value", at: 1, in: line)
    else { throw NotPlain() }
    return AppendToList(name: name, value: value)
  }
}

private struct SetInList: DocumentedParameters, ListParameters {
  let name: String
  let at: Int
  let value: JSONText

  static let docs = ["name": nameDoc, "at": "The index, from 0.", "value": valueDoc]
}

private struct RemoveFromList: DocumentedParameters, ListParameters {
  let name: String
  let at: Int

  static let docs = ["name": nameDoc, "at": "The index, from 0."]
}

private struct MoveInList: DocumentedParameters, ListParameters, ReadingParameters {
  let name: String
  let from: Int
  let to: Int

  // A move to the same index returns the element but records no event, so it needs the right to
  // read.
  var readSource: String? { from == to ? source : nil }

  static let docs = [
    "name": nameDoc, "from": "Its index, from 0.", "to": "Its index afterwards.",
  ]
}

private struct ReplaceList: DocumentedParameters, ListParameters {
  let name: String
  let value: [JSONText]

  static let docs = ["name": nameDoc, "value": "The elements, each any JSON, 256 KiB at most."]
}

private struct NamedList: DocumentedParameters, ListParameters {
  let name: String

  static let docs = ["name": nameDoc]
}
