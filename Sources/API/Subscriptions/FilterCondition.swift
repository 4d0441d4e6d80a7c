internal import JSON
internal import Model
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
    do throws(Condition.Fault) {
      return try Condition(at: self.path, op, value)
    } catch {
      throw WireError(
        JSONDecodingError(
          path: "\(path)/\(error.member)", expected: error.expected, got: error.got))
    }
  }
}

extension KeyedDecodingContainer {
  /// Decodes an operand, for which `null` is a value; returns `nil` if it was omitted.
  func decodeOperand(forKey key: Key) throws -> JSONText? {
    try decodeIfPresent(JSONText.self, forKey: key) ?? (contains(key) ? .null : nil)
  }
}
