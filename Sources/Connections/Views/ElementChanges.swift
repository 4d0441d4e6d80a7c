internal import JSON
internal import Signals

/// Finds the changes between two versions of a list.
///
/// An element that replaces another one with the same `id` counts as an update.
enum ElementChanges {
  /// Returns the steps from one list to another: updates first, then insertions, removals and
  /// moves.
  static func steps(
    from old: [JSONText], to new: [JSONText]
  ) -> [OrderedCollectionOperation<JSONText, Int>] {
    let diff = old.diff(new)
    let changed = changes(in: diff, from: old, to: new)
    guard !changed.isEmpty else { return diff.generatePatch(to: new) }
    var middle = old
    for change in changed { middle[change.at] = change.element }
    return changed.map { .update(at: $0.at, newElement: $0.element) }
      + middle.diff(new).generatePatch(to: new)
  }

  private static func changes(
    in diff: OrderedCollectionDiff<Int>, from old: [JSONText], to new: [JSONText]
  ) -> [(at: Int, element: JSONText)] {
    guard !diff.deletes.isEmpty, !diff.inserts.isEmpty else { return [] }
    // An element's place is the number of unchanged elements before it.
    let gone = diff.deletes + diff.moves.map(\.from)
    let come = diff.inserts + diff.moves.map(\.to)
    var places: [Place: Int] = [:]
    for (place, index) in self.places(of: diff.inserts, among: come, in: new) {
      places[place] = index
    }
    var changes: [(at: Int, element: JSONText)] = []
    for (place, index) in self.places(of: diff.deletes, among: gone, in: old) {
      // Uses each place once, even if an `id` occurs twice.
      if let to = places.removeValue(forKey: place) { changes.append((index, new[to])) }
    }
    return changes
  }

  /// The number of unchanged elements before an element, and the element's `id`.
  private struct Place: Hashable {
    let before: Int
    let id: JSONText
  }

  private static func places(
    of indices: [Int], among different: [Int], in elements: [JSONText]
  ) -> [(Place, Int)] {
    let different = different.sorted()
    var count = 0
    return indices.sorted().compactMap { index in
      while count < different.count, different[count] < index { count += 1 }
      return elements[index].id.map { (Place(before: index - count, id: $0), index) }
    }
  }
}

extension JSONText {
  /// The `id` of an object; `nil` if it has none.
  fileprivate var id: JSONText? {
    guard text.utf8.first == UInt8(ascii: "{"), case .object(let object) = value else { return nil }
    return object["id"]?.text
  }
}
