internal import Facts
internal import JSON
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
  private var steps = Window<ListStep>()

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

  var size: Int { text.utf8.count + 1 }

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
