/// An expression that binds two values: `counter/value ~> display/text | toString | uppercase`.
///
///     expression  = path operator path { "|" transformer }
///     operator    = "~>" / "<~" / "<>" / "!~>" / "<~!" / "<!>"
///     transformer = [ "!" ] name [ "(" [ argument { "," argument } ] ")" ]
///     argument    = a string, a number, true, false or null, as in JSON
///
/// A path or a name is a run of characters except white space, control characters and
/// `~ < > ! | ( ) , "`. The meaning of a path depends on the caller. White space is allowed between
/// any two parts, and inside none. A run of `~ < > !` is one part, so `a <~ !b` does not contain
/// `<~!`.
///
/// Columns count Unicode scalars from 1.
public struct BindExpression: Equatable, Sendable {
  /// The path of the left end.
  public let left: String
  /// The column of the left path.
  public let leftColumn: Int
  /// The direction of the values.
  public let `operator`: BindOperator
  /// The path of the right end.
  public let right: String
  /// The column of the right path.
  public let rightColumn: Int
  /// The transformers, from left to right.
  public let transformers: [TransformerCall]

  init(
    left: (text: String, column: Int), _ sign: BindOperator, right: (text: String, column: Int),
    _ transformers: [TransformerCall]
  ) {
    (self.left, leftColumn) = left
    self.operator = sign
    (self.right, rightColumn) = right
    self.transformers = transformers
  }

  /// Creates an expression that only observes a path.
  init(observing path: String) {
    self.init(left: (path, 1), .leftToRightLater, right: ("", 1), [])
  }

  /// Whether the values are only observed.
  var isObservation: Bool { right.isEmpty }

  /// Parses an expression.
  ///
  /// Any text is safe: it is read once, from left to right, without recursion.
  ///
  /// - Throws: ``BindFault`` for the first fault.
  public init(_ text: String) throws(BindFault) {
    var parser = BindParser(text)
    self = try parser.parse()
  }
}

extension BindExpression: CustomStringConvertible {
  /// The expression with one space between its parts.
  public var description: String {
    ([left + " " + self.operator.rawValue + " " + right] + transformers.map(\.description))
      .joined(separator: " | ")
  }
}
