package import Signals

/// Who is here: logged in on some connection.
///
/// It is known as long as the connections are there, and never journaled.
package final class PresenceService {
  /// The names of those who are here, sorted.
  package var online: AnyProperty<[String]> { names.readOnlyView }

  private let names = Property<[String]>([])

  /// On how many connections somebody is logged in.
  private var connections: [String: Int] = [:]

  package init() {}

  /// Somebody has logged in on one more connection.
  package func enter(_ name: String) {
    connections[name, default: 0] += 1
    if connections[name] == 1 { names.value = connections.keys.sorted() }
  }

  /// Somebody is logged in on one connection less.
  package func leave(_ name: String) {
    guard let count = connections[name] else { return }
    connections[name] = count > 1 ? count - 1 : nil
    if count == 1 { names.value = connections.keys.sorted() }
  }
}
