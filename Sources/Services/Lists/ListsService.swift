package import JSON

/// Observable arrays for scripts: whoever watches one hears of each change, not of the whole.
///
/// Each list is a stream and a source `lists/NAME`. Names are those of cells. A list that was never
/// written is empty.
package final class ListsService {
  /// Elements of a list.
  package static let maxCount = 1_000_000

  package let ledger: Ledger<Lists>

  package init(in host: ServiceHost) {
    ledger = Ledger("lists", in: host)
  }

  /// Adds an element at the end.
  ///
  /// - Returns: Its index.
  package func append(_ value: JSONText, to name: String) throws(CollectionError) -> Int {
    let list = try whole(name)
    return try insert(value, at: ledger.newest[list].count, list)
  }

  /// Adds an element before another, or at the end.
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
    let count = ledger.newest[list].count
    guard 0...count ~= index else {
      throw .noIndex(parameter: "at", index: index, max: count)
    }
    guard count < Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    try check(value)
    ledger.record(.inserted(at: index, value: value), in: list)
    return index
  }

  /// Sets an element.
  ///
  /// - Returns: The value.
  package func update(
    _ value: JSONText, at index: Int, in name: String
  ) throws(CollectionError) -> JSONText {
    let list = try whole(name)
    try check(index, "at", in: list)
    try check(value)
    ledger.record(.updated(at: index, value: value), in: list)
    return value
  }

  /// Takes an element out.
  ///
  /// - Returns: What it was.
  package func remove(at index: Int, from name: String) throws(CollectionError) -> JSONText {
    let list = try whole(name)
    try check(index, "at", in: list)
    let value = ledger.newest[list][index]
    ledger.record(.removed(at: index), in: list)
    return value
  }

  /// Takes an element out and inserts it elsewhere.
  ///
  /// - Parameter to: Its index afterwards.
  /// - Returns: The element.
  package func move(
    from: Int, to: Int, in name: String
  ) throws(CollectionError) -> JSONText {
    let list = try whole(name)
    try check(from, "from", in: list)
    try check(to, "to", in: list)
    let value = ledger.newest[list][from]
    if from != to { ledger.record(.moved(from: from, to: to), in: list) }
    return value
  }

  /// Makes the elements these.
  ///
  /// - Returns: How many there are.
  package func replace(
    with values: [JSONText], in name: String
  ) throws(CollectionError) -> Int {
    let list = try whole(name)
    guard values.count <= Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    for value in values { try check(value) }
    ledger.record(.replaced(values: values), in: list)
    return values.count
  }

  /// Takes all elements out.
  ///
  /// - Returns: How many there were; without any nothing is recorded.
  package func clear(_ name: String) throws(CollectionError) -> Int {
    let list = try whole(name)
    let count = ledger.newest[list].count
    if count > 0 { ledger.record(.cleared, in: list) }
    return count
  }

  /// Whether a source can be a list, empty or not.
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
    let count = ledger.newest[list].count
    guard 0..<count ~= index else {
      throw .noIndex(parameter: parameter, index: index, max: count - 1)
    }
  }

  private func check(_ value: JSONText) throws(CollectionError) {
    if let fault = ValueFault(value) { throw .badValue(fault) }
  }
}
