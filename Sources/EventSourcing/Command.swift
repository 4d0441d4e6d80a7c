package import JSON
package import Model
internal import Signals

/// A call of a service's method: the caller, the idempotency key and the preconditions.
package struct Command {
  /// The method, for example `"cells.set"`.
  package var method: String

  /// The process that sent the command; events store only its `uid` and `pid`.
  package var caller: Peer

  /// Returns whether the caller may record events in a stream; `nil` allows all streams.
  package var mayRecord: ((_ stream: String) -> Bool)?

  /// The origin of the command, on which depends whether limits of a user refuse it.
  package var origin = Origin.request

  /// The rare parts; `nil` if all are as usual.
  private var rare: Rare?

  package init(
    method: String, caller: Peer, id: String? = nil, parameters: String = "",
    expectations: [(stream: String, at: Expectation)] = [],
    mayRecord: ((_ stream: String) -> Bool)? = nil
  ) {
    (self.method, self.caller, self.mayRecord) = (method, caller, mayRecord)
    guard id != nil || !parameters.isEmpty || !expectations.isEmpty else { return }
    change { ($0.id, $0.parameters, $0.expectations) = (id, parameters, expectations) }
  }
}

extension Command {
  /// The parts that few commands have.
  ///
  /// They are in one object, so that a usual command is created and destroyed at little cost. A
  /// command copies the object before it changes it, unless no other command has it.
  private final class Rare {
    var id: String?
    var parameters = ""
    var expectations: [(stream: String, at: Expectation)] = []
    var cause: Cause?
    var waitsForDisk = false
    var lease: (() throws -> String)?

    init() {}

    init(copy other: Rare) {
      (id, parameters, expectations) = (other.id, other.parameters, other.expectations)
      (cause, waitsForDisk, lease) = (other.cause, other.waitsForDisk, other.lease)
    }
  }

  private mutating func change(_ body: (Rare) -> Void) {
    if !isKnownUniquelyReferenced(&rare) { rare = rare.map(Rare.init(copy:)) ?? Rare() }
    if let rare { body(rare) }
  }

  /// Whether the command has no options: only a method, a caller and rights.
  @inline(__always)
  var isUsual: Bool { rare == nil }

  /// Whether its events have an origin of their own, because of a key or a cause.
  var hasOwnOrigin: Bool { rare.map { $0.id != nil || $0.cause != nil } ?? false }

  /// The client's idempotency key (`_meta.cmd`).
  ///
  /// A second command with the same key is not run again.
  package var id: String? {
    get { rare?.id }
    set { change { $0.id = newValue } }
  }

  /// The parameters as text, to detect a different command under the same ``id``.
  package var parameters: String {
    get { rare?.parameters ?? "" }
    set { change { $0.parameters = newValue } }
  }

  /// The required versions of streams (`_meta.expect`).
  package var expectations: [(stream: String, at: Expectation)] {
    get { rare?.expectations ?? [] }
    set { change { $0.expectations = newValue } }
  }

  /// The cause of the command; `nil` if its caller began it.
  package var cause: Cause? {
    get { rare?.cause }
    set { change { $0.cause = newValue } }
  }

  /// Whether the response waits until the events are on disk (`_meta.wait`), regardless of the
  /// durability setting.
  package var waitsForDisk: Bool {
    get { rare?.waitsForDisk ?? false }
    set { change { $0.waitsForDisk = newValue } }
  }

  /// Returns the lease with which the written values end, and grants it if necessary; called
  /// within the command.
  package var lease: (() throws -> String)? {
    get { rare?.lease }
    set { change { $0.lease = newValue } }
  }
}

extension Command {
  /// The origins of commands.
  package enum Origin: Sendable {
    /// A client that waits for the answer, and whose commands wait while it writes too fast.
    case request

    /// A binding, which tries a refused value again later.
    case binding

    /// A promise that the daemon has made, such as a will: it is not refused.
    case promise
  }
}

extension Command {
  /// The cause of a command: a value that a binding passes on, a lease that has ended, a queued call,
  /// or the event that a script works on.
  ///
  /// It is stored with the events. After a kill it tells which changes a binding has not passed on: it
  /// may write an older value after the source has got a newer one.
  package struct Cause: Equatable, Codable, Sendable {
    /// The changed source; `nil` if the event at ``seq`` is the cause, whatever it has changed.
    package let source: String?

    /// The position up to which the changes of the source were seen; `nil` if it is not in the journal.
    package let seq: UInt64?

    /// The expression of the binding, or the beginning of it; `nil` if it is none.
    package let binding: String?

    /// `true` if the client has named the cause, and the daemon does not know it; otherwise `nil`.
    package let client: Bool?

    package init(
      source: String? = nil, seq: UInt64?, binding: String? = nil, isNamedByClient: Bool = false
    ) {
      (self.source, self.seq, self.binding) = (source, seq, binding)
      client = isNamedByClient ? true : nil
    }
  }

  /// The idempotency key scoped by user; `nil` if there is none.
  var identity: CommandIdentity? {
    id.map { CommandIdentity(user: .init(caller.uid), name: $0) }
  }

  /// A hash of the method and the parameters.
  var fingerprint: UInt64 { CommandWindow.fingerprint(method, parameters) }
}

/// A precondition on the version of a stream.
package enum Expectation: Equatable, Sendable {
  case version(UInt64)
  /// The stream has no events.
  case none
  /// The stream has events.
  case exists
  case any

  func holds(at version: UInt64) -> Bool {
    switch self {
    case .version(let expected): version == expected
    case .none: version == 0
    case .exists: version > 0
    case .any: true
    }
  }
}

/// The result of an accepted command.
package struct Accepted: Equatable {
  /// The value that the method returned; `nil` if it returned none.
  package var value: JSONText?

  /// The position of the last event that the command recorded; `nil` if it recorded none.
  package var seq: UInt64?

  /// The version of that event in its stream.
  package var version: UInt64?

  /// Whether the command had already run under the same idempotency key.
  package var isReplayed = false

  /// The lease with which the written values end.
  package var lease: String?

  /// Whether the value must be read from the journal; see ``ServiceHost/finish(_:)``.
  package var isValueInJournal = false

  /// Whether the response must still wait for the disk; see ``ServiceHost/finish(_:)``.
  package var isDiskAwaited = false
}

extension Accepted {
  // Not an initializer of its own, which would return a copy of all members.
  package init(
    value: JSONText?, seq: UInt64? = nil, version: UInt64? = nil, isReplayed: Bool = false,
    isValueInJournal: Bool = false, lease: String? = nil
  ) {
    self.init(
      value: value, seq: seq, version: version, isReplayed: isReplayed, lease: lease,
      isValueInJournal: isValueInJournal, isDiskAwaited: false)
  }
}

/// An error that rejects a command or rolls it back.
package enum Refusal: Error {
  /// The service rejected the command.
  case service(any ServiceError)

  /// A stream does not have the expected version.
  case conflict(stream: String, expected: Expectation, actual: UInt64)

  /// The idempotency key belongs to another command.
  ///
  /// `seq` is that command's last event; `nil` if it recorded none.
  case reused(seq: UInt64?)

  /// The caller may not record events in a stream.
  case denied(stream: String)

  /// The state would exceed its quota.
  case full(StateQuota.Scope, max: Int)

  /// The journal accepts no writes.
  case journal(JournalError)

  /// The method exceeded its time limit; its events were rolled back.
  case tooLong(milliseconds: Int)

  /// The method needs a result that is being computed off the event loop.
  ///
  /// Run the command again later; see ``ServiceError/isPending``.
  case pending

  /// The method threw an error that its service does not declare; the detail is for the log.
  case unexpected(detail: String)
}

/// An error from a service; each service declares a closed enum that conforms.
package protocol ServiceError: Error, CustomStringConvertible {
  /// The kind of error, for clients.
  var kind: ServiceErrorKind { get }

  /// Whether the error is temporary, so that a retry may succeed.
  var isPassing: Bool { get }

  /// Whether the command must wait for a result that is being computed off the event loop.
  ///
  /// If so, run the same command again when that result is available.
  var isPending: Bool { get }
}

extension ServiceError {
  package var isPending: Bool { false }
  package var isPassing: Bool { false }
}

/// The kinds of service errors that clients can distinguish.
package enum ServiceErrorKind: Equatable, Sendable {
  /// A parameter breaks a rule: its name and the expected value.
  case invalid(parameter: String, expected: String)

  /// The object does not exist.
  case notFound(what: String, id: String)

  /// The object already exists.
  case alreadyExists(what: String, id: String)

  /// The service's name for the broken rule, for example `"not_a_number"`.
  case rejected(reason: String)
}

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

  mutating func add(_ command: Command, _ error: any ServiceError) {
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
