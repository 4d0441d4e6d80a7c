internal import Signals

/// The commands with an idempotency key that a service rejected.
///
/// In memory only: the last 10,000 of each user, 20,000 of all users.
///
/// A client may repeat a command on another connection and be rejected there, before the daemon
/// reads the first copy. The first copy must then not run, because the client already has an
/// error.
struct RefusedCommands {
  private typealias Refused = (call: UInt64, error: any ServiceError)

  private var refused = CommandTable<Refused>(maxOfUser: 10_000, maxOfAll: 20_000)

  mutating func note(_ command: Command, _ error: any ServiceError) {
    guard let id = command.identity else { return }
    refused.add(id, (command.fingerprint, error))
  }

  /// Returns the error of an earlier run of the same command, or `nil` if there is none.
  ///
  /// - Throws: ``Refusal/reused(seq:)`` if the idempotency key belongs to another command.
  func refusal(of command: Command) throws(Refusal) -> (any ServiceError)? {
    guard !refused.isEmpty, let id = command.identity, let entry = refused[id] else { return nil }
    guard entry.call == command.fingerprint else { throw .reused(seq: nil) }
    return entry.error
  }

  /// Removes all entries, because the events they were decided on are lost.
  mutating func removeAll() { self = RefusedCommands() }
}
