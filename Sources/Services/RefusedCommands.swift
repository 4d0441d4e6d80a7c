internal import Signals

/// The commands with an identity to which a service has said no, in memory only: the last 10,000 of
/// each user, 20,000 of all users together.
///
/// A client that repeats a command on another connection may be refused there before the daemon has
/// read the first: that must not be done then, because the client was told that it was not.
struct RefusedCommands {
  private typealias Refused = (call: UInt64, error: any ServiceError)

  private var refused = CommandTable<Refused>(maxOfUser: 10_000, maxOfAll: 20_000)

  mutating func note(_ command: Command, _ error: any ServiceError) {
    guard let id = command.identity else { return }
    refused.add(id, (command.fingerprint, error))
  }

  /// What the service has said to the same command; `nil` when it was not asked, or has not refused.
  ///
  /// - Throws: ``Refusal/reused(seq:)`` when the identity is that of another command.
  func refusal(of command: Command) throws(Refusal) -> (any ServiceError)? {
    guard !refused.isEmpty, let id = command.identity, let entry = refused[id] else { return nil }
    guard entry.call == command.fingerprint else { throw .reused(seq: nil) }
    return entry.error
  }

  /// Forgets all: what they were decided on is lost.
  mutating func removeAll() { self = RefusedCommands() }
}
