internal import Model
package import Signals

/// An event store with what a daemon needs to run on it.
package protocol DaemonStore: EventStore {
  /// The daemons that share the journal, by name; without those that have stopped.
  var nodes: [ClusterNode] { get }

  /// Messages between them; `nil` in a journal for one daemon.
  var mail: (any DaemonMail)? { get }

  /// Writes the appended events now, instead of at the end of the turn.
  func submit()

  /// Ends the store; appended events that are not durable may still become so.
  func close()
}

extension DaemonStore {
  package var nodes: [ClusterNode] { [] }
  package var mail: (any DaemonMail)? { nil }
}

/// Messages between the daemons that share a journal.
///
/// They are not kept. Messages to one daemon arrive in order; some may be lost, which ``lost`` tells.
package protocol DaemonMail: AnyObject {
  /// The address of the active daemon, also if it is this one; `nil` while it is not known, or while
  /// the database is away.
  var active: String? { get }

  /// Sends a message: one line of text.
  func send(_ message: String, to address: String)

  /// Emits each message and the address of its sender.
  var received: Signal<(message: String, address: String), Never> { get }

  /// Emits when messages to this daemon may have been lost.
  var lost: Signal<Void, Never> { get }

  /// Emits when ``active`` or the daemons of the store may have changed.
  var changed: Signal<Void, Never> { get }
}

/// A daemon among those that share a journal.
package struct ClusterNode: Codable, Equatable, Sendable {
  package let name: String

  /// The address for ``DaemonMail``, another one after each start.
  package let boot: String

  /// The address for clients; `nil` if it tells none.
  package let address: String?
  package let version: String

  /// `active`, or `following`, as of its last sign of life.
  package let state: String

  /// The last position that it has applied.
  package let position: UInt64

  /// The time since its last sign of life, in milliseconds.
  package let silent: UInt64

  /// The silence after which a daemon counts as gone, in milliseconds.
  package static let goneMilliseconds: UInt64 = 10_000

  /// Whether it counts as alive.
  package var isAlive: Bool { silent < Self.goneMilliseconds }

  /// The silence after which one that was the active daemon counts as gone, in milliseconds.
  private static let replacedMilliseconds: UInt64 = 3_000

  /// Returns its role: `active`, `following` or `silent`.
  ///
  /// - Parameter active: The name of the active daemon; the state of another one is an earlier one.
  package func role(ifActive active: String?) -> String {
    if name == active { return "active" }
    let limit = state == "active" ? Self.replacedMilliseconds : Self.goneMilliseconds
    return silent < limit ? "following" : "silent"
  }
}
