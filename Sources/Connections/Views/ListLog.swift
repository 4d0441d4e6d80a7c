internal import JSON
internal import Signals

/// A list as it is, and the last steps by which it has become so.
final class ListLog {
  /// Bytes of steps that are kept for clients that do not keep up; beyond, they get the whole.
  private static let stepBytes = 64 << 10

  /// Elements of a list for which it is found out what has changed.
  private static let comparedCount = 2048

  private(set) var elements: [JSONText] = []
  private var steps = Window<ListStep>()

  /// The number of the first step that is kept.
  var start: Int { steps.firstIndex }

  /// The number after that of the last one.
  var end: Int { steps.endIndex }

  /// A step that is kept, by its number.
  subscript(index: Int) -> ListStep { steps[index] }

  /// Takes a whole of which no step is known.
  func replace(by elements: [JSONText]) {
    self.elements = elements
    // A step that is kept by nobody, so that everybody is behind.
    steps.append(.empty)
    steps.drop(before: end)
  }

  /// Takes a whole, and finds out by which steps it follows, if there are few.
  func become(_ new: [JSONText]) {
    guard new != elements else { return }
    guard max(new.count, elements.count) <= Self.comparedCount else { return replace(by: new) }
    let steps = ElementChanges.steps(from: elements, to: new)
    if steps.count > max(4, new.count) { replace(by: new) } else { apply(steps) }
  }

  /// Takes a whole and the steps by which it follows.
  func become(_ new: [JSONText], by steps: [ListStep]) {
    guard steps.count <= max(4, new.count) else { return replace(by: new) }
    elements = new
    for step in steps { append(step) }
  }

  /// Takes steps, each from what the one before has led to.
  func apply(_ steps: [OrderedCollectionOperation<JSONText, Int>]) {
    for step in steps {
      let step = ListStep(step, in: elements)
      step.apply(to: &elements)
      append(step)
    }
  }

  /// Lets steps go that nobody is to be told any more.
  func forget(before index: Int) { steps.drop(before: index) }

  private func append(_ step: ListStep) {
    steps.append(step)
    steps.trim(to: Self.stepBytes)
  }
}

/// One step by which a list has become another, as clients see it.
struct ListStep: WindowElement {
  let operation: OrderedCollectionOperation<JSONText, Int>

  /// The element that has moved; `nil` when none has.
  let moved: JSONText?

  /// `{"op":…}`.
  let text: String

  static var empty: ListStep { ListStep(operation: .delete(at: 0), moved: nil, text: "") }

  var size: Int { text.utf8.count + 1 }

  private init(
    operation: OrderedCollectionOperation<JSONText, Int>, moved: JSONText?, text: String
  ) {
    (self.operation, self.moved, self.text) = (operation, moved, text)
  }

  /// - Parameter elements: What it is a step from.
  init(_ operation: OrderedCollectionOperation<JSONText, Int>, in elements: [JSONText]) {
    self.operation = operation
    switch operation {
    case .insert(let element, let at):
      (moved, text) = (nil, Self.insertion(of: element, at: at))
    case .delete(let at): (moved, text) = (nil, Self.removal(at: at))
    case .update(let at, let element):
      moved = nil
      text = Self.update(at: at, from: elements[at], to: element)
    case .move(let from, let to):
      moved = elements[from]
      text = #"{"op":"move","from":\#(from),"to":\#(to)}"#
    }
  }

  /// The element of a place is another.
  init(at: Int, from old: JSONText, to new: JSONText) {
    operation = .update(at: at, newElement: new)
    (moved, text) = (nil, Self.update(at: at, from: old, to: new))
  }

  func apply(to elements: inout [JSONText]) { elements.apply(operation) }

  /// What it is for a client that has only the first elements; `nil` when it is about others.
  ///
  /// - Parameter count: How many; then how many it has after it.
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
        return Self.removal(at: from)
      case (false, true):
        count += 1
        return Self.insertion(of: moved ?? .null, at: to)
      }
    }
  }

  static func insertion(of element: JSONText, at: Int) -> String {
    #"{"op":"insert","at":\#(at),"value":\#(element.text)}"#
  }

  private static func removal(at: Int) -> String { #"{"op":"remove","at":\#(at)}"# }

  private static func update(at: Int, from old: JSONText, to new: JSONText) -> String {
    guard let members = old.members(thatMake: new) else {
      return #"{"op":"update","at":\#(at),"value":\#(new.text)}"#
    }
    return #"{"op":"merge","at":\#(at),"value":\#(members.text)}"#
  }
}

extension JSONText {
  /// The members with which an object becomes another; `nil` when it does not become that by
  /// members alone, or they are no shorter.
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
