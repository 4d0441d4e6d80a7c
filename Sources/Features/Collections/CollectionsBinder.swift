internal import API
internal import EventSourcing
internal import JSON
internal import Model

/// Offers what lists and maps share to clients: their sources, and a method that clears one.
///
/// - Parameters:
///   - shape: The shape of a collection.
///   - elements: The word for what a collection holds.
///   - replace: Sets the elements of the collection of a name.
///   - clear: Removes the elements of the collection of a name; returns how many there were.
func bindCollections<State, Parameters: CollectionParameters>(
  _ catalog: Catalog, of ledger: Ledger<State>, _ doc: String, _ kind: SourceKind, _ shape: Shape,
  _ elements: String, clearing _: Parameters.Type,
  exists: @escaping (String) -> Bool,
  replace: @escaping (String, JSONText) throws(CollectionError) -> Void,
  clear: @escaping (String) throws(CollectionError) -> Int
) {
  let name = ledger.service
  catalog.offer(doc, ledger)
  catalog.offerSources(
    of: ledger,
    [.init("\(name)/**", "The \(kind) of that name.", shape, kind: kind, isWritable: true)],
    exists: exists, writes: ["\(name).replaced"],
    write: { source, value throws(CollectionError) in
      try replace(String(source.dropFirst(name.utf8.count + 1)), value)
      return value
    })
  catalog.command(
    "\(name).clear", "Removes all \(elements); returns how many there were.", Parameters.self,
    writes: ["\(name).cleared"]
  ) { _, collection throws(CollectionError) in
    try clear(collection.name)
  }
}

/// The parameters of a method of one list or map.
protocol CollectionParameters: Decodable, SourceParameters {
  var name: String { get }
}
