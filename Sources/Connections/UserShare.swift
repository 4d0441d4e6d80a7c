internal import Signals

/// What all clients of one user of the machine use together.
///
/// It exists while the user has a client.
final class UserShare {
  let uid: UInt32

  /// Clients that are connected.
  var connections = 0

  /// Calls that are answered in a later turn.
  var lateCalls = 0

  /// Bytes that the daemon holds for the clients: input without an end, answers that wait for the
  /// journal or for each other, output that was not taken.
  var bufferedBytes = 0

  /// Nanoseconds of this turn that the requests of the clients have taken.
  var spent: UInt64 = 0

  /// Clients that were interrupted, in the order in which they go on.
  var interrupted = Queue<Connection>()

  /// Whether ``TurnTime`` has the user on its list of those with interrupted clients.
  var isInterrupted = false

  init(uid: UInt32) {
    self.uid = uid
  }

  var isUnused: Bool { connections == 0 && lateCalls == 0 }
}
