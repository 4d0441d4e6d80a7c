package import JSON

/// A kind of items that a connection keeps over a restart; ``ConnectionPart`` says in which order they
/// are restored.
package enum HandoverKind: UInt8, CaseIterable {
  /// The user for whom the connection of a gateway acts; everything else is that user's.
  case acting = 1
  /// The parameters of `hello`.
  case hello
  /// The user who is logged in.
  case login
  /// A lease that ends with the connection; the key is its name.
  case lease
  /// A service that the connection provides; the key is its name.
  case provider
  /// A queued call that a provider works on; the key is its number.
  case call
  /// A binding of the connection; the key is its handle as JSON.
  case binding
  /// A subscription; the key is its handle as JSON.
  case subscription
  /// The events that a worker of a shared reader has; the key is the handle of its subscription.
  case work
  /// A view; the key is its handle as JSON.
  case view
}

/// A part of a connection that survives a restart.
package struct HandoverItem: Equatable {
  package let kind: HandoverKind
  package let key: String
  package let text: JSONText

  package init(_ kind: HandoverKind, _ key: String, _ text: JSONText) {
    (self.kind, self.key, self.text) = (kind, key, text)
  }
}

/// The position up to which a subscription has sent everything, if that is not the position of its
/// client.
package struct HandoverCursor: Equatable {
  /// The handle of the subscription, as JSON.
  package let handle: String
  package let position: UInt64

  /// Whether the client knows that the subscription has caught up with the journal.
  package let isCaughtUp: Bool

  package init(_ handle: String, _ position: UInt64, isCaughtUp: Bool = true) {
    (self.handle, self.position, self.isCaughtUp) = (handle, position, isCaughtUp)
  }
}

/// A connection as an earlier daemon has left it.
package struct HandoverConnection {
  /// The way to continue or to close the connection.
  package enum End {
    /// As if nothing had happened.
    case goesOn
    /// It must be closed with a reason: a request was in hand when the daemon was killed, or
    /// something of it cannot be restored.
    case closes
    /// It must be closed at once: its last line may be incomplete.
    case cut
  }

  package let id: UInt64
  package internal(set) var end: End
  package let requests: UInt64

  /// The time of connecting, in milliseconds of the monotonic clock.
  package let connectedAt: UInt64

  /// The position up to which the client has been sent everything.
  package let shown: UInt64
  package let lastHandle: Int
  package let items: [HandoverItem]

  /// The positions of the subscriptions with another position than the client.
  package let cursors: [HandoverCursor]

  /// Input that was read and not run.
  package let input: [UInt8]

  /// Output that the socket has not taken.
  package let output: [UInt8]

  /// Lets the connection be closed with a reason, unless its last line may be incomplete.
  package mutating func cannotGoOn() { if end == .goesOn { end = .closes } }

  /// The items of a kind.
  package func items(_ kind: HandoverKind) -> [HandoverItem] { items.filter { $0.kind == kind } }
}
