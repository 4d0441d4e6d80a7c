/// What a transformer is given in parentheses: `round(2)`.
package struct BindArgument: Equatable, Sendable {
  /// A value as JSON writes it.
  package enum Value: Equatable, Sendable {
    case string(String)
    /// The text of a number, so that whoever takes it decides about its precision.
    case number(String)
    case bool(Bool)
    case null
  }

  /// The value.
  package let value: Value
  /// Where it starts in the expression.
  package let column: Int

  package init(_ value: Value, column: Int) {
    self.value = value
    self.column = column
  }

  /// The string, when it is one.
  package var string: String? {
    if case .string(let string) = value { string } else { nil }
  }

  /// The number, when it is one and can be counted with.
  package var number: Double? {
    guard case .number(let text) = value, let number = Double(text), number.isFinite else {
      return nil
    }
    return number
  }

  /// The number, when it is a whole one.
  package var integer: Int? {
    number.flatMap(Int.init(exactly:))
  }
}

extension BindArgument: CustomStringConvertible {
  package var description: String {
    switch value {
    case .string(let string): quoted(string)
    case .number(let text): text
    case .bool(let bool): "\(bool)"
    case .null: "null"
    }
  }

  private func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"", "\\": text += "\\\(scalar)"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
