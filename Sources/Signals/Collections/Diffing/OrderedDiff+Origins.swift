extension OrderedCollectionDiff where Index == Int {
  /// Returns the source index of each element of the final collection; `nil` for inserted elements;
  /// O(n), plus O(k log k) in the size of the diff.
  package func origins(of sourceCount: Int, in finalCount: Int) -> [Int?] {
    let leaving = (deletes + moves.map(\.from)).sorted()
    let arriving =
      (inserts.map { (to: $0, from: Int?.none) } + moves.map { (to: $0.to, from: $0.from) })
      .sorted { $0.to < $1.to }
    var origins: [Int?] = []
    origins.reserveCapacity(finalCount)
    var (source, left, arrived) = (0, 0, 0)
    for index in 0..<finalCount {
      if arrived < arriving.count, arriving[arrived].to == index {
        origins.append(arriving[arrived].from)
        arrived += 1
        continue
      }
      while left < leaving.count, leaving[left] == source {
        (left, source) = (left + 1, source + 1)
      }
      precondition(source < sourceCount, "a diff does not fit its collection")
      origins.append(source)
      source += 1
    }
    return origins
  }
}
