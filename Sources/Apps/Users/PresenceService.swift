package import Signals

/// The users who are online: logged in on at least one connection.
///
/// Presence is kept in memory and never journaled.
package final class PresenceService {
  /// The names of users online, sorted.
  package var online: AnyProperty<[String]> { names.readOnlyView }

  private let names = Property<[String]>([])
  private let changes = PassthroughSubject<String, Never>()
  private let changesByName = KeyedSubject<String, Void>()

  /// The number of connections on which each user is logged in.
  private var connections: [String: Int] = [:]

  package init() {}

  // MARK: Changes

  /// Adds a connection of a user.
  package func enter(_ name: String) {
    connections[name, default: 0] += 1
    if connections[name] == 1 { change(name) { $1.insert(name, at: $0) } }
  }

  /// Removes a connection of a user.
  package func leave(_ name: String) {
    guard let count = connections[name] else { return }
    connections[name] = count > 1 ? count - 1 : nil
    if count == 1 { change(name) { $1.remove(at: $0) } }
  }

  private func change(_ name: String, _ body: (_ place: Int, inout [String]) -> Void) {
    names.update { names in
      var (low, high) = (0, names.count)
      while low < high {
        let middle = (low + high) / 2
        if names[middle] < name { low = middle + 1 } else { high = middle }
      }
      body(low, &names)
    }
    changes.send(name)
    changesByName.send((), to: name)
  }

  // MARK: Content

  /// Returns whether a user is online.
  package func isHere(_ name: String) -> Bool { connections[name] != nil }

  /// Emits the name of each user who comes online or goes offline, from now on.
  package var comings: SafeSignal<String> { changes.toSignal() }

  /// Emits when a user comes online or goes offline, from now on.
  package func comings(of name: String) -> SafeSignal<Void> { changesByName.elements(of: name) }

  /// Emits whether a user is online, now and after each change.
  package func presence(of name: String) -> SafeSignal<Bool> {
    SafeSignal { [self] observer in
      observer.receive(isHere(name))
      return comings(of: name).observeNext { [self] in observer.receive(isHere(name)) }
    }
  }

  /// The names of users online; for views.
  package var rows: RowList<String, String> {
    RowList(
      Identity(self), keys: { [self] in Array(connections.keys) },
      row: { [self] in isHere($0) ? $0 : nil }, changes: comings.map { .rows([$0]) })
  }

  /// The names of users online, as one value.
  package var all: Computed<[String]> {
    Computed(Identity(self), changes: comings.map { _ in () }) { [self] in online.value }
  }
}
