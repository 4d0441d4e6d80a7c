/// Everything that a connection is, and what becomes of it when the daemon is restarted or killed.
///
/// This is the one table: items are restored in its order, and what a binder attaches to a connection
/// names its part. Tests compare it with the stored properties of ``Connection`` and ``Client``, with
/// the ways to restore of the catalogue, and with the documentation.
package enum ConnectionPart: String, CaseIterable {
  /// The connection itself: its descriptor, and the bytes that the kernel has.
  case socket
  /// The user and the process, and by them the rights.
  case peer
  /// The user for whom a gateway acts.
  case actingUser = "acting user"
  case number
  case connectedAt = "time of connecting"
  case requestCount = "number of requests"
  case handleNumber = "last handle number"
  /// The position up to which everything was sent, also of each subscription.
  case position
  /// Bytes that were read and not run: a part of a line, or parked lines.
  case input
  /// Bytes that the socket has not taken.
  case output
  /// The choices of `hello`: the name, `items` and the longest line.
  case greeting
  case login
  case leases
  case providers = "provided services"
  case queuedCalls = "queued calls in hand"
  case bindings
  case subscriptions
  case work = "events of workers"
  case views
  /// Answers that wait for the journal.
  case heldAnswers = "answers that wait for the disk"
  case lateCalls = "calls that are answered later"
  /// Answers to late calls that wait until the client has read.
  case postponedAnswers = "postponed answers"
  /// Actions that wait for earlier answers.
  case behindAnswers = "notifications behind answers"
  case batch
  /// A line over the limit whose rest is skipped.
  case skippedLine = "rest of a line that is too long"
  /// A value of which the client has only a part.
  case partOfValue = "part of a long value"
  /// Requests that another daemon runs.
  case forwardedRequests = "forwarded requests"
  /// The names of ended subscriptions, and counts of bad lines.
  case hints = "hints for error messages"
  /// Times since something waits: a part of a line, a parked request, an output that nobody reads.
  case patience = "times of waiting"
  /// The place of the client in the lists of the running daemon.
  case turn = "place in the turn"

  /// The treatment of a part.
  package enum Fate: Equatable {
    /// It is in the memory that the manager holds; see ``HandoverLayout``.
    case kept
    /// A binder keeps it as items, and restores them.
    case item(HandoverKind)
    /// The kernel has it, or it follows from other parts and the present configuration.
    case given
    /// It begins again; nothing that is promised depends on it.
    case beginsAgain
    /// It cannot be restored, so the connection is closed.
    case closes
  }

  package var fate: Fate {
    switch self {
    case .socket, .peer, .turn: .given
    case .number, .connectedAt, .requestCount, .handleNumber, .position, .input, .output: .kept
    case .actingUser: .item(.acting)
    case .greeting: .item(.hello)
    case .login: .item(.login)
    case .leases: .item(.lease)
    case .providers: .item(.provider)
    case .queuedCalls: .item(.call)
    case .bindings: .item(.binding)
    case .subscriptions: .item(.subscription)
    case .work: .item(.work)
    case .views: .item(.view)
    case .heldAnswers, .lateCalls, .postponedAnswers, .behindAnswers, .batch, .skippedLine,
      .partOfValue, .forwardedRequests:
      .closes
    case .hints, .patience: .beginsAgain
    }
  }

  /// The kinds of items, in the order in which they are restored.
  package static var items: [HandoverKind] {
    allCases.compactMap { if case .item(let kind) = $0.fate { kind } else { nil } }
  }
}
