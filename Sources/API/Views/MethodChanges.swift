internal import Connections
internal import JSON
internal import Model
package import Signals

/// Tells open views when methods that they offer get other parameters, come or go.
///
/// The forms of a view are made when it opens. Without this its client could send neither the old
/// parameters nor the new ones.
package final class MethodChanges {
  private let changes = KeyedSubject<String, Void>()

  /// The parts of a method on which the form of an intent depends.
  private struct Form: Equatable {
    private struct Member: Equatable {
      let name: String
      let shape: Shape
      let isOptional: Bool
    }

    private let members: [Member]
    private let kind: Method.Kind

    init(_ method: Method) {
      members = method.parameters.map {
        Member(name: $0.name, shape: $0.shape, isOptional: $0.isOptional)
      }
      kind = method.kind
    }
  }

  /// Notes that some methods replace others of the same services.
  package func replace(_ old: [Method], with new: [Method]) {
    guard !changes.isEmpty else { return }
    let before = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
    let after = Dictionary(new.map { ($0.name, $0) }) { first, _ in first }
    var services: Set<String> = []
    for name in Set(before.keys).union(after.keys).sorted()
    where before[name].map(Form.init) != after[name].map(Form.init) {
      changes.send((), to: name)
      if let service = (after[name] ?? before[name])?.service { services.insert(service) }
    }
    for service in services.sorted() { changes.send((), to: service) }
  }

  /// Emits when a method changes, or any method of a service.
  ///
  /// - Parameter name: The full name of the method, or the name of the service.
  package func changes(of name: String) -> SafeSignal<Void> { changes.elements(of: name) }
}

extension CallContext {
  /// Closes a view when a method changes, or any of a service, so that its client opens it again.
  ///
  /// - Parameter name: See ``MethodChanges/changes(of:)``.
  func close(_ view: View, whenChanged name: String) {
    let (turns, user) = (connection.context, caller.uid)
    view.bag.add(
      disposable: catalog.files.methods.changes(of: name).observeNext { [weak view] _ in
        _ = turns.add(for: user) { view?.closeFirst("changed") }
      })
  }
}
