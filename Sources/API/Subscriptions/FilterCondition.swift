internal import EventSourcing
internal import JSON
internal import Wire

/// One condition of a filter (`where`): a test of the value at a path in the event's data.
struct FilterCondition: Decodable {
  let path: String
  let op: String

  /// The operand; `nil` if it was omitted, which differs from `null`.
  let value: JSONText?

  private enum CodingKeys: CodingKey {
    case path, op, value
  }

  init(path: String, op: String, value: JSONText?) {
    self.path = path
    self.op = op
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    path = try members.decode(String.self, forKey: .path)
    op = try members.decode(String.self, forKey: .op)
    value = try members.decodeOperand(forKey: .value)
  }

  /// The operands: all elements for `in`, otherwise the single value.
  var operands: [JSONText] {
    guard let value else { return [] }
    return op == "in" ? value.elements ?? [value] : [value]
  }

  /// The cost of testing the condition: one for each operand, and one for each 64 bytes of its
  /// text.
  var cost: Int {
    let operands = operands.map(\.text)
    let texts = [path + (operands.first ?? "")] + operands.dropFirst()
    return texts.reduce(0) { $0 + 1 + $1.utf8.count / 64 }
  }

  /// Returns the condition in the form that services use.
  ///
  /// - Parameter path: The JSON Pointer of the condition within the parameters.
  /// - Throws: `invalid_params`, with the path of the invalid member.
  func condition(at path: String) throws(WireError) -> Condition {
    func fault(_ member: String, _ expected: String, _ got: String) -> WireError {
      WireError(
        JSONDecodingError(
          path: "\(path)/\(member)", expected: expected, got: got))
    }
    guard let place = JSONPointer(self.path) else {
      throw fault("path", "a JSON Pointer: empty, or a / before each part", "'\(self.path)'")
    }
    let test: Condition.Test?
    let expected: String
    switch op {
    case "==": (test, expected) = (value.map { .equals($0) }, "a value")
    case "!=": (test, expected) = (value.map { .differs($0) }, "a value")
    case "<": (test, expected) = (ordered.map { .isLess($0) }, "a number or a string")
    case "<=": (test, expected) = (ordered.map { .isAtMost($0) }, "a number or a string")
    case ">": (test, expected) = (ordered.map { .isMore($0) }, "a number or a string")
    case ">=": (test, expected) = (ordered.map { .isAtLeast($0) }, "a number or a string")
    case "in":
      let values = value?.elements.flatMap { $0.isEmpty ? nil : $0 }
      (test, expected) = (values.map { .isOneOf($0) }, "an array of one value at least")
    case "exists":
      let isWanted = value == nil ? true : value?.bool
      (test, expected) = (isWanted.map { .exists($0) }, "true, false, or nothing")
    case "prefix": (test, expected) = (value?.string.map { .begins($0) }, "a string")
    default: throw fault("op", "== != < <= > >= in exists prefix", "'\(op)'")
    }
    guard let test else {
      throw fault("value", expected, value == nil ? "nothing" : "another value")
    }
    return Condition(place, test)
  }

  /// The operand, if its type has an order; otherwise `nil`.
  private var ordered: JSONText? { value.flatMap { $0.order(to: $0) == nil ? nil : $0 } }
}

extension KeyedDecodingContainer {
  /// Decodes an operand, for which `null` is a value; returns `nil` if it was omitted.
  func decodeOperand(forKey key: Key) throws -> JSONText? {
    try decodeIfPresent(JSONText.self, forKey: key) ?? (contains(key) ? .null : nil)
  }
}
