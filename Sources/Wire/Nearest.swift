/// The name that may have been meant: the nearest by edits, if it is near.
public func nearest(to name: String, among names: some Sequence<String>) -> String? {
  let wanted = Array(name.utf8.prefix(200))
  let limit = max(1, min(3, wanted.count / 2))
  var best: (name: String, distance: Int)?
  for candidate in names.prefix(2000) {
    let distance = distance(wanted, Array(candidate.utf8))
    if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.name
}

/// How many bytes have to be added, dropped or changed (Levenshtein 1966).
private func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  var row = Array(0...b.count)
  for i in 0..<a.count {
    var diagonal = row[0]
    row[0] = i + 1
    for k in 0..<b.count {
      let replaced = diagonal + (a[i] == b[k] ? 0 : 1)
      diagonal = row[k + 1]
      row[k + 1] = min(replaced, row[k] + 1, row[k + 1] + 1)
    }
  }
  return row[b.count]
}
