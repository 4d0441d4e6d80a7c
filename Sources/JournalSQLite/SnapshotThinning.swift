/// Which snapshots of a service are kept: the newest two, and of the older ones four for each
/// doubling of the distance, so that a value of the past is a fold of a quarter of its distance away.
enum SnapshotThinning {
  struct Kept {
    let seq: Int64
    let bytes: Int64
  }

  /// Bytes of all but the newest two.
  static let maxBytes: Int64 = 256 << 20

  /// The positions of those that are to go.
  ///
  /// - Parameter snapshots: The newest first.
  static func surplus(of snapshots: [Kept]) -> [Int64] {
    guard snapshots.count > 2 else { return [] }
    let newest = snapshots[0].seq
    let unit = newest - snapshots[1].seq
    var surplus: [Int64] = []
    var staying: [Kept] = []
    var seen: Set<Int64> = []
    // The oldest of each slot stays: a younger one would never get old enough for the next.
    for snapshot in snapshots.dropFirst(2).reversed() {
      if seen.insert(slot((newest - snapshot.seq) / unit)).inserted {
        staying.append(snapshot)
      } else {
        surplus.append(snapshot.seq)
      }
    }
    // From the oldest no kept position is too far: the next ones go first.
    var bytes = staying.reduce(0) { $0 + $1.bytes }
    while bytes > maxBytes, staying.count > 1 {
      let snapshot = staying.remove(at: 1)
      bytes -= snapshot.bytes
      surplus.append(snapshot.seq)
    }
    return surplus
  }

  /// The quarter of a doubling in which a distance is.
  private static func slot(_ distance: Int64) -> Int64 {
    let doublings = Int64(Int64.bitWidth - 1 - distance.leadingZeroBitCount)
    guard doublings >= 2 else { return distance }
    return doublings * 4 + (distance >> (doublings - 2)) & 3
  }
}
