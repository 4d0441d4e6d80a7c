internal import EventSourcing
internal import Facts
internal import JSON

/// Offers the lists to clients.
package func bindLists(_ interface: Interface, to lists: ListsService) {
  interface.offer(
    "lists", "Observable arrays for scripts; watchers get each change.",
    events: ["inserted", "updated", "removed", "moved", "replaced", "cleared"].map { "lists.\($0)" }
  )
  interface.offerSources(
    of: lists.ledger,
    [.init("lists/**", "The list of that name.", .array(.any), kind: .list, isWritable: true)],
    exists: ListsService.isList, writes: ["lists.replaced"],
    write: { source, value throws(CollectionError) in
      guard let values = value.elements else { throw .notAnArray }
      _ = try lists.replace(with: values, in: String(source.dropFirst("lists/".count)))
      return value
    })

  interface.command(
    "lists.append", "Adds an element at the end; returns its index.", AppendToList.self,
    writes: ["lists.inserted"]
  ) { (list: AppendToList) throws(CollectionError) in
    try lists.append(list.value, to: list.name)
  }
  interface.command(
    "lists.insert", "Adds an element before another or at the end; returns its index.",
    SetInList.self, writes: ["lists.inserted"]
  ) { (list: SetInList) throws(CollectionError) in
    try lists.insert(list.value, at: list.at, in: list.name)
  }
  interface.command(
    "lists.update", "Sets an element; returns it.", SetInList.self, writes: ["lists.updated"]
  ) { (list: SetInList) throws(CollectionError) in
    try lists.update(list.value, at: list.at, in: list.name)
  }
  interface.command(
    "lists.remove", "Removes an element; returns it.", RemoveFromList.self,
    writes: ["lists.removed"]
  ) { (list: RemoveFromList) throws(CollectionError) in
    try lists.remove(at: list.at, from: list.name)
  }
  interface.command(
    "lists.move", "Moves an element to another index; returns it.", MoveInList.self,
    writes: ["lists.moved"]
  ) { (list: MoveInList) throws(CollectionError) in
    try lists.move(from: list.from, to: list.to, in: list.name)
  }
  interface.command(
    "lists.replace", "Replaces all elements; returns how many there are.", ReplaceList.self,
    writes: ["lists.replaced"]
  ) { (list: ReplaceList) throws(CollectionError) in
    try lists.replace(with: list.value, in: list.name)
  }
  interface.command(
    "lists.clear", "Removes all elements; returns how many there were.", NamedList.self,
    writes: ["lists.cleared"]
  ) { (list: NamedList) throws(CollectionError) in
    try lists.clear(list.name)
  }
}

private protocol ListParameters: SourceParameters {
  var name: String { get }
}

extension ListParameters {
  var source: String { "lists/" + name }
}

private let nameDoc = "The list: 1 to 7 segments of [A-Za-z0-9_.:-] with / between them."
private let valueDoc = "Any JSON, 256 KiB at most."

private struct AppendToList: DocumentedParameters, ListParameters {
  let name: String
  let value: JSONText

  static let docs = ["name": nameDoc, "value": valueDoc]
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
