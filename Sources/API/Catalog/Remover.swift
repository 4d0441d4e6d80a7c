package import EventSourcing

/// Removes values of one service, regardless of their owners.
package struct Remover {
  /// The recorded command name, for example `"cells.remove"`.
  package let method: String

  /// The names of all removable values, for example `"cells/lamp"`.
  package let names: () -> [String]

  /// Removes one value, within a command.
  package let remove: (String) throws -> Void

  package init(
    method: String, names: @escaping () -> [String], remove: @escaping (String) throws -> Void
  ) {
    self.method = method
    self.names = names
    self.remove = remove
  }
}

extension Remover {
  /// Creates a remover for a service whose sources have the names of the removable values.
  package init<State: ServiceState>(
    _ method: String, _ ledger: Ledger<State>, _ remove: @escaping (Substring) throws -> Void
  ) {
    self.init(
      method: method, names: { ledger.sources },
      remove: { try remove($0[$0.index(after: $0.firstIndex(of: "/") ?? $0.startIndex)...]) })
  }
}
