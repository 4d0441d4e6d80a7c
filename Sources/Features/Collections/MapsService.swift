package import EventSourcing
package import JSON
internal import Model

/// Observable dictionaries for scripts; observers receive each change, not the whole dictionary.
///
/// Each map is a stream and a source `maps/NAME`. Names follow the rules of cells. A map that was
/// never written is empty. Of canonically equivalent keys a map has one, as it was written first.
package final class MapsService {
  /// The maximum length of a key in bytes.
  package static let maxKeyBytes = 1024

  /// The maximum number of keys in a map.
  package static let maxCount = 1_000_000

  package let ledger: Ledger<Maps>
  private let types: SourceTypes

  package init(in host: ServiceHost) {
    types = host.types
    ledger = Ledger("maps", in: host)
  }

  /// Sets the value of a key and adds the key if necessary.
  ///
  /// - Returns: The value.
  package func put(
    _ value: JSONText, for key: String, in name: String
  ) throws(CollectionError) -> JSONText {
    let map = try whole(name)
    try check(key, value)
    let values = ledger.pending[map]
    guard values.count < Self.maxCount || values[key] != nil else {
      throw .tooMany(max: Self.maxCount)
    }
    try checkTypes([(key, value)], of: map)
    ledger.record(.put(key: values.known(key) ?? key, value: value), in: map)
    return value
  }

  /// Removes a key.
  ///
  /// - Returns: Whether the key existed. If not, nothing is recorded.
  package func remove(_ key: String, from name: String) throws(CollectionError) -> Bool {
    let map = try whole(name)
    guard let key = ledger.pending[map].known(key) else { return false }
    ledger.record(.removed(key: key), in: map)
    return true
  }

  /// Replaces all keys and values.
  ///
  /// - Returns: The number of keys.
  package func replace(
    with values: [String: JSONText], in name: String
  ) throws(CollectionError) -> Int {
    let map = try whole(name)
    guard values.count <= Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    for (key, value) in values { try check(key, value) }
    try checkTypes(values, of: map)
    ledger.record(.replaced(values: values), in: map)
    return values.count
  }

  /// Removes all keys.
  ///
  /// - Returns: The number of removed keys. If it is 0, nothing is recorded.
  package func clear(_ name: String) throws(CollectionError) -> Int {
    let map = try whole(name)
    let count = ledger.pending[map].count
    if count > 0 { ledger.record(.cleared, in: map) }
    return count
  }

  /// Returns whether a source name is a valid map name, whether or not the map is empty.
  package static func isMap(_ source: String) -> Bool { SourceName.isSource(source, of: "maps") }

  private func whole(_ name: String) throws(CollectionError) -> String {
    if let fault = SourceName.fault(in: name, of: "maps") { throw .badName(rule: fault) }
    return "maps/\(name)"
  }

  /// Checks that values fit the types that are declared for the map and its keys.
  private func checkTypes(
    _ values: some Sequence<(key: String, value: JSONText)>, of map: String
  ) throws(CollectionError) {
    guard types.isOn, let parts = types.parts(of: map) else { return }
    for (key, value) in values {
      if let mismatch = parts.mismatch(of: value, for: key) { throw .wrongType(mismatch) }
    }
  }

  private func check(_ key: String, _ value: JSONText) throws(CollectionError) {
    if let fault = ValueFault(value) { throw .badValue(fault) }
    guard 1...Self.maxKeyBytes ~= key.utf8.count else { throw .badKey(bytes: key.utf8.count) }
  }
}
