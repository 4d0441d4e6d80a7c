/// The keys under which a store keeps the last removed position of each service.
package enum RemovalKey {
  /// The beginning of all keys.
  package static let prefix = "removed:"

  /// Returns the key of a service.
  package static func text(_ service: String) -> String { prefix + service }
}
