internal import Model

/// The changes of sources that observers of patterns have not collected yet, each kept once.
///
/// The memory is bounded: when there are many, those of each source are joined.
final class ChangeLog {
  private static let mostRuns = 4096
  private static let mostBytes = 4 << 20

  /// The changes, by their numbers.
  private(set) var runs: [ChangeRun] = []
  private var bytes = 0
  private var limit = (runs: mostRuns, bytes: mostBytes)

  /// The number of the last change.
  private(set) var last: UInt64 = 0

  /// The number of the last change that was joined with a later one, or whose value before is not
  /// kept.
  private(set) var lastJoined: UInt64 = 0

  /// The number of times that a feed has collected all changes.
  private(set) var collections: UInt64 = 0

  /// The number of feeds that have not collected all changes.
  private var feedsBehind = 0

  /// Adds a change and returns its number.
  func append(_ change: SourceChange) -> UInt64 {
    last += 1
    let run = ChangeRun(change, number: last)
    runs.append(run)
    bytes += run.size
    if runs.count > limit.runs || bytes > limit.bytes { join() }
    return last
  }

  func feedFellBehind() { feedsBehind += 1 }

  func feedCaughtUp() {
    feedsBehind -= 1
    collections += 1
    guard feedsBehind == 0 else { return }
    runs.removeAll(keepingCapacity: runs.count <= 64)
    (bytes, limit) = (0, (Self.mostRuns, Self.mostBytes))
  }

  /// Returns the index of the first changes from a number on.
  func index(from number: UInt64) -> Int {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Joins the changes of each source, so that there are no more than sources.
  private func join() {
    lastJoined = last
    var (joined, places) = ([ChangeRun](), [String: Int]())
    for run in runs.reversed() {
      if let place = places[run.newest.source] {
        joined[place].join(run)
      } else {
        places[run.newest.source] = joined.count
        joined.append(run)
      }
    }
    joined.reverse()
    if joined.reduce(0, { $0 + $1.size }) > Self.mostBytes / 2 {
      for i in joined.indices { joined[i].dropBefore() }
    }
    runs = joined
    bytes = runs.reduce(0) { $0 + $1.size }
    limit = (max(Self.mostRuns, 2 * runs.count), max(Self.mostBytes, 2 * bytes))
  }
}
