internal import JSON

/// The undo of a part of a list or a map that others have changed elsewhere since.
enum UndoMerge {
  /// Returns the value without what the selected events have changed; `nil` if somebody has changed
  /// the same part since, or the part is not found again.
  ///
  /// - Parameters:
  ///   - before: The value before the first selected event.
  ///   - after: The value after the last one.
  ///   - now: The present value.
  static func merge(_ before: JSONText, _ after: JSONText, _ now: JSONText) -> JSONText? {
    if let before = before.members, let after = after.members, let present = now.members {
      // The same members could be written in another order.
      return merge(before, after, present).map { $0 == present ? now : JSONText(members: $0) }
    }
    if let before = before.elements, let after = after.elements, let now = now.elements {
      return merge(before, after, now).map { JSONText(elements: $0) }
    }
    return nil
  }

  private static func merge(
    _ before: [String: JSONText], _ after: [String: JSONText], _ now: [String: JSONText]
  ) -> [String: JSONText]? {
    var merged = now
    for key in Set(before.keys).union(after.keys) where before[key] != after[key] {
      guard now[key] == after[key] else { return nil }
      merged[key] = before[key]
    }
    return merged
  }

  /// Merges lists.
  ///
  /// The changed elements are those between the common beginning and the common end of `before` and
  /// `after`. They are found again behind this beginning or before this end.
  private static func merge(
    _ before: [JSONText], _ after: [JSONText], _ now: [JSONText]
  ) -> [JSONText]? {
    let shorter = min(before.count, after.count)
    let head = zip(before, after).prefix { $0 == $1 }.count
    let tail = min(
      zip(before.reversed(), after.reversed()).prefix { $0 == $1 }.count, shorter - head)
    let old = before[head..<before.count - tail]
    let end = after.count - tail
    if now.starts(with: after[..<end]) { return Array(now[..<head]) + old + now[end...] }
    guard now.count >= after.count - head, now.suffix(after.count - head) == after[head...] else {
      return nil
    }
    return Array(now[..<(now.count - after.count + head)]) + old + now.suffix(tail)
  }
}
