internal import JSON

/// A list or map that is rebuilt from its change steps.
struct CollectionValue {
  /// The array or object; `null` if it is not known.
  private(set) var value: JSONValue

  /// Applies the steps of a frame, in order: `[{"op":…},…]`.
  ///
  /// - Returns: Whether all steps could be applied.
  mutating func apply(_ changes: JSONText) -> Bool {
    guard case .array(let steps) = changes.value else { return false }
    for step in steps {
      guard case .object(let step) = step, apply(step) else { return false }
    }
    return true
  }

  /// Appends a further part of a value that did not fit one line.
  mutating func append(_ part: JSONValue) {
    switch (value, part) {
    case (.array(let known), .array(let more)): value = .array(known + more)
    case (.object(var known), .object(let more)):
      for member in more.members { known[member.name] = member.value }
      value = .object(known)
    default: break
    }
  }

  private mutating func apply(_ step: JSONObject) -> Bool {
    if step["op"] == .string("reset"), let whole = step["value"] {
      value = whole
      return true
    }
    switch (step["op"], value) {
    case (.string("put"), .object(var object)):
      guard case .string(let key)? = step["key"], let new = step["value"] else { return false }
      object[key] = new
      value = .object(object)
    case (.string("del"), .object(var object)):
      guard case .string(let key)? = step["key"] else { return false }
      object[key] = nil
      value = .object(object)
    case (.string(let op), .array(var elements)):
      guard apply(op, step, to: &elements) else { return false }
      value = .array(elements)
    default: return false
    }
    return true
  }

  private func apply(_ op: String, _ step: JSONObject, to elements: inout [JSONValue]) -> Bool {
    func index(_ name: String, upTo end: Int) -> Int? {
      guard case .number(let number)? = step[name], let index = number.int64, 0..<end ~= Int(index)
      else { return nil }
      return Int(index)
    }
    switch op {
    case "insert":
      guard let at = index("at", upTo: elements.count + 1), let new = step["value"] else {
        return false
      }
      elements.insert(new, at: at)
    case "update":
      guard let at = index("at", upTo: elements.count), let new = step["value"] else {
        return false
      }
      elements[at] = new
    case "merge":
      guard let at = index("at", upTo: elements.count), case .object(var object) = elements[at],
        case .object(let members)? = step["value"]
      else { return false }
      for member in members.members { object[member.name] = member.value }
      elements[at] = .object(object)
    case "remove":
      guard let at = index("at", upTo: elements.count) else { return false }
      elements.remove(at: at)
    case "move":
      guard let from = index("from", upTo: elements.count),
        let to = index("to", upTo: elements.count)
      else { return false }
      elements.insert(elements.remove(at: from), at: to)
    default: return false
    }
    return true
  }
}
