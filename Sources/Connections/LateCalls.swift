internal import Wire

/// The calls of a client that are answered in a later turn.
struct LateCalls {
  private(set) var all: [Call] = []

  /// Those of them that are answered after all frames up to a position were sent.
  private(set) var syncs: [(position: UInt64, call: Call)] = []

  /// The number of calls whose answers may be as long as a line.
  var longCount: Int { all.count(where: \.isLong) }

  mutating func append(_ call: Call) { all.append(call) }

  /// - Returns: Whether the call was there.
  mutating func remove(_ ended: LateCall) -> Bool {
    guard let i = all.firstIndex(where: { $0.isLate(ended) }) else { return false }
    all.remove(at: i)
    return true
  }

  /// Removes and returns all calls.
  mutating func removeAll() -> [Call] {
    defer { (all, syncs) = ([], []) }
    return all
  }

  mutating func appendSync(_ call: Call, at position: UInt64) { syncs.append((position, call)) }

  /// Removes and returns the calls that wait for frames.
  mutating func removeSyncs() -> [(position: UInt64, call: Call)] {
    defer { syncs = [] }
    return syncs
  }
}

/// The load of the requests that another daemon runs for a client.
struct ForwardedLoad {
  /// The number of requests whose answers must come first.
  private(set) var waitedFor = 0

  /// The bytes of all requests.
  private(set) var bytes = 0

  /// Returns whether nothing is left of the client at the other daemon; `nil` if nothing ever was.
  var mayEnd: (() -> Bool)?

  mutating func add(_ bytes: Int, isWaitedFor: Bool) {
    self.bytes += bytes
    if isWaitedFor { waitedFor += 1 }
  }

  mutating func remove(_ bytes: Int, isWaitedFor: Bool) {
    self.bytes -= bytes
    if isWaitedFor { waitedFor -= 1 }
  }
}
