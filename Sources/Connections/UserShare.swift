internal import Queues
internal import Facts

/// The resources that all clients of one system user share.
///
/// It exists while the user has a client.
final class UserShare {
  let uid: UInt32

  /// The number of connected clients.
  var connections = 0

  /// The number of late calls.
  var lateCalls = 0

  /// Bytes buffered for the clients: incomplete input, waiting answers and pending output.
  var bufferedBytes = 0

  /// The nanoseconds of this turn that the clients have used.
  var spent: UInt64 = 0

  /// The interrupted clients, in the order in which they continue.
  var interrupted = Queue<Connection>()

  /// Whether the user is in the waiting list of ``TurnTime``.
  var isInterrupted = false

  init(uid: UInt32) {
    self.uid = uid
  }

  var isUnused: Bool { connections == 0 && lateCalls == 0 }
}
