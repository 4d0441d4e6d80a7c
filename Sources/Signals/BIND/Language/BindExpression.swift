/// What binds two values: `counter/value ~> display/text | toString | uppercase`.
///
///     expression  = path operator path { "|" transformer }
///     operator    = "~>" / "<~" / "<>" / "!~>" / "<~!" / "<!>"
///     transformer = [ "!" ] name [ "(" [ argument { "," argument } ] ")" ]
///     argument    = a string, a number, true, false or null, as JSON writes it
///
/// A path and a name are a run of characters other than white space, control characters and
/// `~ < > ! | ( ) , "`; what a path means is for whoever binds to say. White space may stand between
/// any two parts and inside none, and a run of `~ < > !` is one part: so `a <~ !b` is no `<~!`.
///
/// Columns count Unicode scalars from 1.
package struct BindExpression: Equatable, Sendable {
  /// The path of the left end.
  package let left: String
  /// Where it starts.
  package let leftColumn: Int
  /// Which way the values go.
  package let `operator`: BindOperator
  /// The path of the right end.
  package let right: String
  /// Where it starts.
  package let rightColumn: Int
  /// What a value goes through from left to right.
  package let transformers: [TransformerCall]

  init(
    left: (text: String, column: Int), _ sign: BindOperator, right: (text: String, column: Int),
    _ transformers: [TransformerCall]
  ) {
    (self.left, leftColumn) = left
    self.operator = sign
    (self.right, rightColumn) = right
    self.transformers = transformers
  }

  /// An expression that binds a path to nothing: its values are only observed.
  init(observing path: String) {
    self.init(left: (path, 1), .leftToRightLater, right: ("", 1), [])
  }

  /// Whether the values are only observed.
  var isObservation: Bool { right.isEmpty }

  /// The expression that a text is.
  ///
  /// Any text may be given; it is read once, from left to right, without recursion.
  ///
  /// - Throws: The first fault.
  package init(_ text: String) throws(BindFault) {
    var parser = BindParser(text)
    self = try parser.parse()
  }
}

extension BindExpression: CustomStringConvertible {
  /// The expression with one space between its parts.
  package var description: String {
    ([left + " " + self.operator.rawValue + " " + right] + transformers.map(\.description))
      .joined(separator: " | ")
  }
}
