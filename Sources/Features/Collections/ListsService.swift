package import EventSourcing
package import JSON
internal import Model

/// Observable arrays for scripts; observers receive each change, not the whole array.
///
/// Each list is a stream and a source `lists/NAME`. Names follow the rules of cells. A list that
/// was never written is empty.
package final class ListsService {
  /// The maximum number of elements in a list.
  package static let maxCount = 1_000_000

  /// The most elements that one command writes: about 8 ms of work.
  package static let maxWritten = 20_000

  package let ledger: Ledger<Lists>
  private let types: SourceTypes

  package init(in host: ServiceHost) {
    types = host.types
    ledger = Ledger("lists", in: host)
  }

  /// Appends an element.
  ///
  /// - Returns: Its index.
  package func append(_ value: JSONText, to name: String) throws(CollectionError) -> Int {
    let list = try whole(name)
    return try insert(value, at: ledger.pending[list].count, list)
  }

  /// Inserts an element at an index; the index may be the end.
  ///
  /// - Returns: Its index.
  package func insert(
    _ value: JSONText, at index: Int, in name: String
  ) throws(CollectionError) -> Int {
    try insert(value, at: index, try whole(name))
  }

  private func insert(
    _ value: JSONText, at index: Int, _ list: String
  ) throws(CollectionError) -> Int {
    let count = ledger.pending[list].count
    guard 0...count ~= index else {
      throw .noIndex(parameter: "at", index: index, max: count)
    }
    guard count < Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    try check(value)
    try checkTypes([value], of: list)
    ledger.record(.inserted(at: index, value: value), in: list)
    return index
  }

  /// Replaces an element.
  ///
  /// - Returns: The new value.
  package func update(
    _ value: JSONText, at index: Int, in name: String
  ) throws(CollectionError) -> JSONText {
    let list = try whole(name)
    try check(index, "at", in: list)
    try check(value)
    try checkTypes([value], of: list)
    ledger.record(.updated(at: index, value: value), in: list)
    return value
  }

  /// Removes an element.
  ///
  /// - Returns: The removed value.
  package func remove(at index: Int, from name: String) throws(CollectionError) -> JSONText {
    let list = try whole(name)
    try check(index, "at", in: list)
    let value = ledger.pending[list][index]
    ledger.record(.removed(at: index), in: list)
    return value
  }

  /// Moves an element.
  ///
  /// - Parameter to: The index after the move.
  /// - Returns: The element.
  package func move(
    from: Int, to: Int, in name: String
  ) throws(CollectionError) -> JSONText {
    let list = try whole(name)
    try check(from, "from", in: list)
    try check(to, "to", in: list)
    let value = ledger.pending[list][from]
    if from != to { ledger.record(.moved(from: from, to: to), in: list) }
    return value
  }

  /// Replaces all elements.
  ///
  /// - Returns: The number of elements.
  package func replace(
    with values: [JSONText], in name: String
  ) throws(CollectionError) -> Int {
    let list = try whole(name)
    guard values.count <= Self.maxWritten else { throw .tooManyWritten(max: Self.maxWritten) }
    for value in values { try check(value) }
    try checkTypes(values, of: list)
    ledger.record(.replaced(values: values), in: list)
    return values.count
  }

  /// Removes all elements.
  ///
  /// - Returns: The number of removed elements. If it is 0, nothing is recorded.
  package func clear(_ name: String) throws(CollectionError) -> Int {
    let list = try whole(name)
    let count = ledger.pending[list].count
    if count > 0 { ledger.record(.cleared, in: list) }
    return count
  }

  /// Returns whether a source name is a valid list name, whether or not the list is empty.
  package static func isList(_ source: String) -> Bool {
    SourceName.isSource(source, of: "lists")
  }

  private func whole(_ name: String) throws(CollectionError) -> String {
    if let fault = SourceName.fault(in: name, of: "lists") { throw .badName(rule: fault) }
    return "lists/\(name)"
  }

  private func check(
    _ index: Int, _ parameter: String, in list: String
  ) throws(CollectionError) {
    let count = ledger.pending[list].count
    guard 0..<count ~= index else {
      throw .noIndex(parameter: parameter, index: index, max: count - 1)
    }
  }

  /// Checks that elements fit the type that is declared for the list.
  private func checkTypes(_ values: [JSONText], of list: String) throws(CollectionError) {
    guard types.isOn, let parts = types.parts(of: list) else { return }
    for value in values {
      if let mismatch = parts.mismatch(of: value) { throw .wrongType(mismatch) }
    }
  }

  private func check(_ value: JSONText) throws(CollectionError) {
    if let fault = ValueFault(value) { throw .badValue(fault) }
  }
}
