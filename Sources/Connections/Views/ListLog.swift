internal import JSON
internal import Model
internal import Signals

/// A list with its most recent change steps.
final class ListLog {
  /// The most bytes of steps to keep.
  ///
  /// Clients further behind get the whole list.
  private static let stepBytes = 64 << 10

  /// The most elements of a list to compare in order to find its changes.
  private static let comparedCount = 2048

  private(set) var elements: [JSONText] = []

  /// Whether elements are still added at the end, which clients get without steps.
  private(set) var isGrowing = false
  private var steps = SlidingWindow<ListStep>()

  /// The index of the first kept step.
  var start: Int { steps.firstIndex }

  /// The index after the last step.
  var end: Int { steps.endIndex }

  /// A kept step, by its index.
  subscript(index: Int) -> ListStep { steps[index] }

  /// Replaces the list without known steps, so that all clients get the whole list.
  func replace(by elements: [JSONText]) {
    self.elements = elements
    // Adds and drops a step, so that every client is behind.
    steps.append(.empty)
    steps.drop(before: end)
  }

  /// Replaces the list by its beginning; ``grow(by:)`` adds the rest.
  func begin(with elements: [JSONText]) {
    replace(by: elements)
    isGrowing = true
  }

  /// Returns all elements, and forgets them, because nobody reads the list any more.
  func removeAll() -> [JSONText] {
    defer { elements = [] }
    return elements
  }

  /// Adds an element at the end of a list that is growing.
  func grow(by element: JSONText) { elements.append(element) }

  /// Ends the growth: all elements are there.
  func endGrowth() { isGrowing = false }

  /// Replaces the list and computes the steps, unless there are too many.
  func become(_ new: [JSONText]) {
    guard new != elements else { return }
    guard max(new.count, elements.count) <= Self.comparedCount else { return replace(by: new) }
    let steps = ElementChanges.steps(from: elements, to: new)
    if steps.count > max(4, new.count) { replace(by: new) } else { apply(steps) }
  }

  /// Replaces the list, with the steps that lead to it.
  func become(_ new: [JSONText], by steps: [ListStep]) {
    guard steps.count <= max(4, new.count) else { return replace(by: new) }
    elements = new
    for step in steps { append(step) }
  }

  /// Applies steps in order.
  func apply(_ steps: [OrderedCollectionOperation<JSONText, Int>]) {
    for step in steps {
      let step = ListStep(step, in: elements)
      step.apply(to: &elements)
      append(step)
    }
  }

  /// Drops steps that no client needs any more.
  func forget(before index: Int) { steps.drop(before: index) }

  private func append(_ step: ListStep) {
    steps.append(step)
    steps.trim(to: Self.stepBytes)
  }
}

/// One change step of a list, in the form that clients get.
struct ListStep: WindowElement {
  let operation: OrderedCollectionOperation<JSONText, Int>

  /// The moved element; `nil` if the step is not a move.
  let moved: JSONText?

  /// The step in the protocol's form: `{"op":…}`.
  let text: String

  static var empty: ListStep { ListStep(operation: .delete(at: 0), moved: nil, text: "") }

  var size: Int { text.size }

  private init(
    operation: OrderedCollectionOperation<JSONText, Int>, moved: JSONText?, text: String
  ) {
    (self.operation, self.moved, self.text) = (operation, moved, text)
  }

  /// - Parameter elements: The list before the step.
  init(_ operation: OrderedCollectionOperation<JSONText, Int>, in elements: [JSONText]) {
    self.operation = operation
    switch operation {
    case .insert(let element, let at):
      (moved, text) = (nil, CollectionChange.insert(at: at, element).text)
    case .delete(let at): (moved, text) = (nil, CollectionChange.remove(at: at).text)
    case .update(let at, let element):
      moved = nil
      text = Self.update(at: at, from: elements[at], to: element)
    case .move(let from, let to):
      moved = elements[from]
      text = CollectionChange.move(from: from, to: to).text
    }
  }

  /// Creates an update of one element.
  init(at: Int, from old: JSONText, to new: JSONText) {
    operation = .update(at: at, newElement: new)
    (moved, text) = (nil, Self.update(at: at, from: old, to: new))
  }

  func apply(to elements: inout [JSONText]) { elements.apply(operation) }

  /// Returns the step for a client that has only the first elements, or `nil` if it does not affect
  /// them.
  ///
  /// - Parameter count: The number of elements that the client has. Updated to the number after the
  ///   step.
  func text(forFirst count: inout Int) -> String? {
    switch operation {
    case .insert(_, let at):
      guard at < count else { return nil }
      count += 1
      return text
    case .delete(let at):
      guard at < count else { return nil }
      count -= 1
      return text
    case .update(let at, _): return at < count ? text : nil
    case .move(let from, let to):
      switch (from < count, to < count) {
      case (true, true): return text
      case (false, false): return nil
      case (true, false):
        count -= 1
        return CollectionChange.remove(at: from).text
      case (false, true):
        count += 1
        return CollectionChange.insert(at: to, moved ?? .null).text
      }
    }
  }

  private static func update(at: Int, from old: JSONText, to new: JSONText) -> String {
    let members = old.members(thatMake: new)
    let change: CollectionChange =
      members.map { .merge(at: at, $0) } ?? .update(at: at, new)
    return change.text
  }
}

extension JSONText {
  /// Returns the members that turn this object into another one.
  ///
  /// Returns `nil` if members must be removed, or if the result is not shorter than the other
  /// object.
  fileprivate func members(thatMake other: JSONText) -> JSONText? {
    guard text.utf8.first == UInt8(ascii: "{"), other.text.utf8.first == UInt8(ascii: "{"),
      case .object(let old) = value, case .object(let new) = other.value,
      old.members.allSatisfy({ new[$0.name] != nil })
    else { return nil }
    var different = JSONObject()
    for member in new.members where old[member.name] != member.value {
      different[member.name] = member.value
    }
    let text = JSONValue.object(different).text
    return text.text.utf8.count < other.text.utf8.count ? text : nil
  }
}

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
