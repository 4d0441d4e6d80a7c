internal import JSON
internal import Model

/// A message between two daemons that share a journal.
///
/// A daemon that follows sends requests of its clients, and that a client has gone. The active daemon
/// sends answers and notifications, and that it has dropped a client.
struct ForwardedFrame: Codable {
  /// The number of the client's connection at the daemon that follows; `nil` in a message about all
  /// clients.
  var client: UInt64?

  // A request.

  /// The process that sent the request.
  var peer: ForwardedPeer?
  var method: String?
  var params: JSONText?

  /// The number of the request, in the request and in its answer.
  var id: UInt64?

  /// The number of the client's request before this one, if that has no answer yet: it must run first.
  var after: UInt64?

  /// Whether this is the first request of this client to this active daemon.
  var isNew: Bool?

  /// The number of a request that nobody waits for any more.
  var cancelled: UInt64?

  // An answer or a notification.

  /// The position that the receiver must have applied before the client sees the line.
  var at: UInt64?
  var result: JSONText?
  var error: JSONText?

  /// A notification, as the client gets it.
  var line: JSONText?

  /// The bytes of the line.
  var size: Int?

  // The pace.

  /// The bytes of lines that the client has taken since the last message about it.
  var taken: Int?

  // An end.

  /// Whether the client has disconnected.
  var hasEnded: Bool?

  /// Whether the client has closed its sending side, and its own daemon has nothing left to send.
  var isAtEnd: Bool?

  /// Whether the active daemon has nothing left to send either: the answer to ``isAtEnd``.
  var isDone: Bool?

  /// The clients that are still there, sent when messages may have been lost.
  var living: [UInt64]?

  /// Whether the active daemon has dropped the client.
  var isDropped: Bool?

  /// Whether the active daemon may have missed requests, or has missed a request of the client.
  var hasMissed: Bool?

  /// The bytes after which a client's daemon tells that the client has taken them.
  static let takenBytes = 64 << 10

  init(of client: UInt64?) { self.client = client }

  /// Whether it is for the active daemon.
  var isForActive: Bool {
    peer != nil || hasEnded == true || isAtEnd == true || taken != nil || living != nil
      || cancelled != nil
  }
}

/// A process that talks to another daemon.
struct ForwardedPeer: Codable {
  let uid: UInt32
  let pid: Int32
  let groups: [UInt32]
  let program: String?

  init(_ peer: Peer) {
    (uid, pid, groups, program) = (peer.uid, peer.pid, peer.groups, peer.program)
  }

  var peer: Peer { Peer(uid: uid, pid: pid, groups: groups, program: program) }
}

/// A line that the daemon sends to a client.
struct SentLine: Decodable {
  let id: UInt64?
  let method: String?
  let result: JSONText?
  let error: JSONText?
}
