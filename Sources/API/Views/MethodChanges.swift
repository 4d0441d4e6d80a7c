package import JSON
package import Signals

/// Tells open views when methods that they offer get other parameters, come or go.
///
/// The forms of a view are made when it opens. Without this its client could send neither the old
/// parameters nor the new ones.
package final class MethodChanges {
  private let changes = KeyedSubject<String, Void>()

  /// Notes that some methods replace others; those that are the same in both are not changed.
  ///
  /// - Parameters:
  ///   - old: The types of the parameters of the methods before, by full name.
  ///   - new: Those of the methods now.
  package func replace(_ old: [String: Shape], with new: [String: Shape]) {
    guard !changes.isEmpty else { return }
    var services: Set<String> = []
    for name in Set(old.keys).union(new.keys).sorted() where old[name] != new[name] {
      changes.send((), to: name)
      services.insert(String(name.prefix { $0 != "." }))
    }
    for service in services.sorted() { changes.send((), to: service) }
  }

  /// Emits when a method changes, or any method of a service.
  ///
  /// - Parameter name: The full name of the method, or the name of the service.
  package func changes(of name: String) -> SafeSignal<Void> { changes.elements(of: name) }
}
