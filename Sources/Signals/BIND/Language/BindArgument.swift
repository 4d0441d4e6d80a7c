/// An argument of a transformer: `round(2)`.
public struct BindArgument: Equatable, Sendable {
  /// A JSON value that is neither an array nor an object.
  public enum Value: Equatable, Sendable {
    case string(String)
    /// The text of a number, so that the transformer chooses the precision.
    case number(String)
    case bool(Bool)
    case null
  }

  /// The value.
  public let value: Value
  /// The column at which it starts in the expression.
  public let column: Int

  public init(_ value: Value, column: Int) {
    self.value = value
    self.column = column
  }

  /// The string; `nil` for other values.
  public var string: String? {
    if case .string(let string) = value { string } else { nil }
  }

  /// The number; `nil` for other values, and for numbers outside the range of `Double`.
  public var number: Double? {
    guard case .number(let text) = value, let number = Double(text), number.isFinite else {
      return nil
    }
    return number
  }

  /// The number as an integer; `nil` if it is not a whole number.
  public var integer: Int? {
    number.flatMap(Int.init(exactly:))
  }
}

extension BindArgument: CustomStringConvertible {
  public var description: String {
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
