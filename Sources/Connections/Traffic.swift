package import Wire

/// Cumulative counters of all clients since the start.
package struct Traffic {
  /// The number of clients that were accepted.
  package var connections: UInt64 = 0

  /// The number of requests that were run.
  package var requests: UInt64 = 0

  /// Bytes from and to all clients.
  package var receivedBytes: UInt64 = 0
  package var sentBytes: UInt64 = 0

  /// The number of turns of the loop.
  package var turns: UInt64 = 0

  /// The number of errors sent to clients.
  package private(set) var refusals: [ErrorName: UInt64] = [:]

  /// The number of closed connections by reason; `nil` if the client has closed it.
  package private(set) var disconnects: [Closing?: UInt64] = [:]

  /// The number of clients that were not accepted, by reason.
  package private(set) var turnedAway: [Closing: UInt64] = [:]

  mutating func countRefusal(_ name: ErrorName, _ count: Int = 1) {
    refusals[name, default: 0] += UInt64(count)
  }

  mutating func countEnd(_ reason: Closing?) { disconnects[reason, default: 0] += 1 }
  mutating func countTurnedAway(_ reason: Closing) { turnedAway[reason, default: 0] += 1 }
}

/// The numbers of what all clients of a daemon have.
package struct ClientCounts {
  /// The number of open connections.
  package internal(set) var connections = 0

  package internal(set) var subscriptions = 0

  /// The number of subscriptions that read a page of a log, or have not sent all of it.
  package internal(set) var pages = 0

  /// The number of calls that are answered in a later turn.
  package internal(set) var lateCalls = 0
}
