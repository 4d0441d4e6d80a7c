/// The name that may have been meant: the nearest by edits, if it is near.
public func nearest(to name: String, among names: some Sequence<String>) -> String? {
  let wanted = Array(name.utf8.prefix(200))
  let limit = max(1, min(3, wanted.count / 2))
  var best: (name: String, distance: Int)?
  for candidate in names.prefix(2000) {
    // Each edit changes the length by one at the most.
    let nearest = best.map { $0.distance - 1 } ?? limit
    guard abs(candidate.utf8.count - wanted.count) <= nearest,
      let distance = distance(wanted, Array(candidate.utf8), upTo: nearest)
    else { continue }
    best = (candidate, distance)
  }
  return best?.name
}

/// How many bytes have to be added, dropped, changed or swapped with the next one: the distance of
/// Damerau 1964, in which no byte is edited twice; `nil` when it is above a limit.
private func distance(_ a: [UInt8], _ b: [UInt8], upTo limit: Int) -> Int? {
  // What both begin with needs no edit.
  let common = zip(a, b).prefix { $0 == $1 }.count
  let (a, b) = (Array(a.dropFirst(common)), Array(b.dropFirst(common)))
  var before: [Int] = []
  var row = Array(0...b.count)
  for i in 0..<a.count {
    var next = [i + 1]
    for k in 0..<b.count {
      var edits = min(row[k] + (a[i] == b[k] ? 0 : 1), row[k + 1] + 1, next[k] + 1)
      if i > 0, k > 0, a[i] == b[k - 1], a[i - 1] == b[k] { edits = min(edits, before[k - 1] + 1) }
      next.append(edits)
    }
    before = row
    row = next
    // What was this far away twice in a row comes no nearer: a swap reaches back two rows.
    guard before.contains(where: { $0 <= limit }) || row.contains(where: { $0 <= limit }) else {
      return nil
    }
  }
  return row[b.count] <= limit ? row[b.count] : nil
}
