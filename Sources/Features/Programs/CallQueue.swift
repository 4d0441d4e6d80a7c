internal import Signals

/// The queued calls of a service that wait for a provider, oldest first, by position.
struct CallQueue {
  /// The calls that were not delivered yet, in order.
  private var fresh = Queue<UInt64>()

  /// The calls whose provider has died or failed, the newest first; there are few.
  private var again: [UInt64] = []

  /// - Parameter calls: The waiting calls, oldest first.
  init(_ calls: [UInt64]) {
    for call in calls { fresh.append(call) }
  }

  /// The oldest call; `nil` if none waits.
  var first: UInt64? {
    guard let last = again.last else { return fresh.first }
    return fresh.first.map { min($0, last) } ?? last
  }

  /// Adds a new call.
  mutating func append(_ call: UInt64) { fresh.append(call) }

  /// Adds a call whose provider has died or failed.
  mutating func giveBack(_ call: UInt64) {
    let place = again.firstIndex { $0 < call } ?? again.count
    again.insert(call, at: place)
  }

  mutating func removeFirst() {
    if let last = again.last, last == first { again.removeLast() } else { _ = fresh.popFirst() }
  }
}
