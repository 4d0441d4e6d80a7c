package import JSON

/// Observable dictionaries for scripts: whoever watches one hears of each key, not of the whole.
///
/// Each map is a stream and a source `maps/NAME`. Names are those of cells. A map that was never
/// written is empty.
package final class MapsService {
  /// Bytes of a key.
  package static let maxKeyBytes = 1024

  /// Keys of a map.
  package static let maxCount = 1_000_000

  package let ledger: Ledger<Maps>

  package init(in host: ServiceHost) {
    ledger = Ledger("maps", in: host)
  }

  /// Sets a key, new or not.
  ///
  /// - Returns: The value.
  package func put(
    _ value: JSONText, for key: String, in name: String
  ) throws(CollectionError) -> JSONText {
    let map = try whole(name)
    try check(key, value)
    let values = ledger.newest[map]
    guard values.count < Self.maxCount || values[key] != nil else {
      throw .tooMany(max: Self.maxCount)
    }
    ledger.record(.put(key: key, value: value), in: map)
    return value
  }

  /// Takes a key out.
  ///
  /// - Returns: Whether it was there; if not, nothing is recorded.
  package func delete(_ key: String, from name: String) throws(CollectionError) -> Bool {
    let map = try whole(name)
    guard ledger.newest[map][key] != nil else { return false }
    ledger.record(.deleted(key: key), in: map)
    return true
  }

  /// Makes the keys and values these.
  ///
  /// - Returns: How many there are.
  package func replace(
    with values: [String: JSONText], in name: String
  ) throws(CollectionError) -> Int {
    let map = try whole(name)
    guard values.count <= Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    for (key, value) in values { try check(key, value) }
    ledger.record(.replaced(values: values), in: map)
    return values.count
  }

  /// Takes all keys out.
  ///
  /// - Returns: How many there were; without any nothing is recorded.
  package func clear(_ name: String) throws(CollectionError) -> Int {
    let map = try whole(name)
    let count = ledger.newest[map].count
    if count > 0 { ledger.record(.cleared, in: map) }
    return count
  }

  /// Whether a source can be a map, empty or not.
  package static func isMap(_ source: String) -> Bool { SourceName.isSource(source, of: "maps") }

  private func whole(_ name: String) throws(CollectionError) -> String {
    if let fault = SourceName.fault(in: name, of: "maps") { throw .badName(rule: fault) }
    return "maps/\(name)"
  }

  private func check(_ key: String, _ value: JSONText) throws(CollectionError) {
    if let fault = ValueFault(value) { throw .badValue(fault) }
    guard 1...Self.maxKeyBytes ~= key.utf8.count else { throw .badKey(bytes: key.utf8.count) }
  }
}
