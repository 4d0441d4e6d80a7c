/// The rule for thinning the snapshots of a service.
///
/// It keeps the newest two, and of the older ones four for each doubling of the distance. A past
/// value then needs a replay of at most a quarter of its distance.
package enum SnapshotThinning {
  package struct Kept {
    package let seq: Int64
    package let bytes: Int64

    package init(seq: Int64, bytes: Int64) {
      (self.seq, self.bytes) = (seq, bytes)
    }
  }

  /// The maximum size, in bytes, of all but the newest two.
  package static let maxBytes: Int64 = 256 << 20

  /// Returns the positions of the snapshots to remove.
  ///
  /// - Parameter snapshots: The snapshots, newest first.
  package static func surplus(of snapshots: [Kept]) -> [Int64] {
    guard snapshots.count > 2 else { return [] }
    let newest = snapshots[0].seq
    let unit = newest - snapshots[1].seq
    var surplus: [Int64] = []
    var staying: [Kept] = []
    var seen: Set<Int64> = []
    // Keep the oldest of each slot: a younger one would never get old enough for the next slot.
    for snapshot in snapshots.dropFirst(2).reversed() {
      if seen.insert(slot((newest - snapshot.seq) / unit)).inserted {
        staying.append(snapshot)
      } else {
        surplus.append(snapshot.seq)
      }
    }
    // Every retained position can be replayed from the oldest, so remove the next ones first.
    var bytes = staying.reduce(0) { $0 + $1.bytes }
    while bytes > maxBytes, staying.count > 1 {
      let snapshot = staying.remove(at: 1)
      bytes -= snapshot.bytes
      surplus.append(snapshot.seq)
    }
    return surplus
  }

  /// Returns the slot of a distance: a quarter of a doubling.
  private static func slot(_ distance: Int64) -> Int64 {
    let doublings = Int64(Int64.bitWidth - 1 - distance.leadingZeroBitCount)
    guard doublings >= 2 else { return distance }
    return doublings * 4 + (distance >> (doublings - 2)) & 3
  }
}
