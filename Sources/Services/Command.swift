package import JSON

/// What a service is asked to do, beside the parameters: by whom, under which identity, and what
/// must hold.
package struct Command {
  /// The method, for example `"cells.set"`.
  package var method: String

  /// Who asks.
  package var caller: Caller

  /// The client's identity of this command (`_meta.cmd`): a second one with it is not run again.
  package var id: String?

  /// What the command says, so that another one under the same ``id`` is known: its parameters.
  package var parameters: String

  /// Where streams must be (`_meta.expect`).
  package var expectations: [(stream: String, at: Expectation)]

  /// Whether its answer waits until the disk has its events (`_meta.wait`), whatever is enough for
  /// others.
  package var waitsForDisk = false

  /// Whether the caller may record events in a stream; `nil` when in all.
  package var mayRecord: ((_ stream: String) -> Bool)?

  package init(
    method: String, caller: Caller, id: String? = nil, parameters: String = "",
    expectations: [(stream: String, at: Expectation)] = [],
    mayRecord: ((_ stream: String) -> Bool)? = nil
  ) {
    self.method = method
    self.caller = caller
    self.id = id
    self.parameters = parameters
    self.expectations = expectations
    self.mayRecord = mayRecord
  }
}

extension Command {
  /// Its ``id`` among those of all users; `nil` when it has none.
  var identity: CommandIdentity? {
    id.map { CommandIdentity(user: .init(caller.uid), name: $0) }
  }

  /// What it asks, in few bytes.
  var fingerprint: UInt64 { CommandWindow.fingerprint(method, parameters) }
}

/// The process that asks, as the kernel knows it.
package struct Caller: Hashable, Sendable {
  package let uid: UInt32
  package let pid: Int32

  package init(uid: UInt32, pid: Int32) {
    self.uid = uid
    self.pid = pid
  }
}

/// Where a stream must be for a command to be run.
package enum Expectation: Equatable, Sendable {
  case version(UInt64)
  /// It has no events.
  case none
  /// It has events.
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

/// What has become of a command that was accepted.
package struct Accepted: Equatable {
  /// What the method returned; `nil` when it returns nothing.
  package var value: JSONText?

  /// The last event that it caused; `nil` when it caused none.
  package var seq: UInt64?

  /// The place of that event in its stream.
  package var version: UInt64?

  /// Whether it had been run before, under the same identity.
  package var isReplayed = false

  /// Whether the value has to be read in the journal; see ``ServiceHost/finish(_:)``.
  package var isValueInJournal = false

  /// Whether it is still to be waited for the disk; see ``ServiceHost/finish(_:)``.
  package var isDiskAwaited = false

  package init(
    value: JSONText?, seq: UInt64? = nil, version: UInt64? = nil, isReplayed: Bool = false,
    isValueInJournal: Bool = false
  ) {
    self.value = value
    self.seq = seq
    self.version = version
    self.isReplayed = isReplayed
    self.isValueInJournal = isValueInJournal
  }
}

/// Why a command was not run, or came to nothing.
package enum Refusal: Error {
  /// The service says no.
  case service(any ServiceError)

  /// A stream is not where it should be.
  case conflict(stream: String, expected: Expectation, actual: UInt64)

  /// The command's identity belonged to another command, whose event has this position; `nil` when
  /// it caused none.
  case reused(seq: UInt64?)

  /// The caller may not record events in a stream.
  case denied(stream: String)

  /// The state would be larger than it may be.
  case full(StateQuota.Scope, max: Int)

  /// The journal takes no writes.
  case journal(JournalFault)

  /// The method has run for longer than it may; what it had recorded is taken back.
  case tooLong(milliseconds: Int)

  /// The method waits for something that is worked out away from the loop: the command is to be run
  /// again; see ``ServiceError/isPending``.
  case pending

  /// The method has failed in a way that its service does not know; for the log.
  case unexpected(detail: String)
}

/// What a service answers when it says no: a closed enum of each service conforms.
package protocol ServiceError: Error, CustomStringConvertible {
  /// What kind of no it is.
  var kind: ServiceErrorKind { get }

  /// Whether it passes by itself, so that the same may go well later.
  var isPassing: Bool { get }

  /// Whether it is no answer: something is worked out away from the loop, and the same command run
  /// again after that is decided.
  var isPending: Bool { get }
}

extension ServiceError {
  package var isPending: Bool { false }
  package var isPassing: Bool { false }
}

/// The kinds of no that clients can tell apart.
package enum ServiceErrorKind: Equatable, Sendable {
  /// A parameter breaks a rule: its name, and what would be right.
  case invalid(parameter: String, expected: String)

  /// There is no such thing.
  case notFound(what: String, id: String)

  /// There is such a thing already.
  case alreadyExists(what: String, id: String)

  /// The service's own word for the rule, for example `"not_a_number"`.
  case rejected(reason: String)
}
