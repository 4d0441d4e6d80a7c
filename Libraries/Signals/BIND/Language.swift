/// An expression that binds values: `counter/value | scale(2) ~> display/text | toString`.
///
///     expression  = source { "|" transformer } operator path { "|" transformer }
///     source      = path / "(" element { "," element } ")" / "every" "(" argument [ "," word ] ")"
///     element     = path { "|" transformer }
///     operator    = "~>" / "<~" / "<>" / "!~>" / "<~!" / "<!>"
///     transformer = [ "!" ] name [ "(" [ argument { "," argument } ] ")" ]
///     argument    = a string, a number, true, false or null, as in JSON / duration / word / path
///     duration    = a number from 0 with a unit: ms, s, m, h or d
///     word        = a name of a-z and _
///
/// A path or a name is a run of characters except white space, control characters and
/// `~ < > ! | ( ) , "`. The meaning of a path depends on the caller. White space is allowed between
/// any two parts, and inside none. A run of `~ < > !` is one part, so `a <~ !b` does not contain
/// `<~!`.
///
/// A source in parentheses is the array of the values of several paths. `every` emits at certain
/// times. Values of both go only from left to right.
///
/// An argument is a path if it contains a `/`. A test with a path compares two values, so it is a short
/// form with a list as its source: `a/b | below(c/d)` is `(a/b, c/d) | minus | below(0)`.
///
/// Columns count Unicode scalars from 1.
public struct BindExpression: Equatable, Sendable {
  /// A path and the column at which it starts.
  public struct Path: Equatable, Sendable {
    /// The text of the path.
    public let text: String
    /// The column at which it starts in the expression.
    public let column: Int
    /// The transformers of its values, within a list.
    public let transformers: [TransformerCall]

    init(text: String, column: Int, transformers: [TransformerCall] = []) {
      (self.text, self.column, self.transformers) = (text, column, transformers)
    }

    fileprivate var shown: String {
      ([text] + transformers.map(\.description)).joined(separator: " | ")
    }
  }

  /// The left end of an expression.
  public enum Source: Equatable, Sendable {
    /// One path.
    case path(Path)
    /// The array of the values of several paths.
    case list([Path])
    /// The times at which `every` emits, and a word that says more about them.
    case every(BindArgument, option: BindArgument? = nil)
  }

  /// The left end.
  public let source: Source
  /// The column of the left end.
  public let leftColumn: Int
  /// The direction of the values.
  public let `operator`: BindOperator
  /// The path of the right end.
  public let right: String
  /// The column of the right path.
  public let rightColumn: Int
  /// The transformers, from left to right: those before the operator, then those after the right
  /// path.
  public let transformers: [TransformerCall]
  /// The number of transformers before the operator.
  public let leading: Int
  /// The text before the operator, as it was written.
  private let written: String

  /// - Parameter leading: The transformers before the operator; a path among their arguments stands
  ///   for a list of sources.
  /// - Throws: ``BindFault`` for a path that cannot be compared with.
  init(
    _ source: Source, column: Int, leading: [TransformerCall] = [], _ sign: BindOperator,
    right: Path, _ trailing: [TransformerCall]
  ) throws(BindFault) {
    written = ([source.text] + leading.map(\.description)).joined(separator: " | ")
    try trailing.checkNoPath()
    let (source, leading) = try Comparison.expanded(source, leading, sign)
    self.source = source
    leftColumn = column
    self.operator = sign
    self.right = right.text
    rightColumn = right.column
    transformers = leading + trailing
    self.leading = leading.count
  }

  /// Creates an expression that only observes a path.
  init(observing path: String) {
    source = .path(Path(text: path, column: 1))
    leftColumn = 1
    self.operator = .leftToRightLater
    (right, rightColumn) = ("", 1)
    (transformers, leading) = ([], 0)
    written = path
  }

  /// The left end as text: a path, a list in parentheses, or a call of `every`.
  public var left: String { source.text }

  /// The paths of the left end, in order; empty for `every`.
  public var leftPaths: [Path] {
    switch source {
    case .path(let path): [path]
    case .list(let paths): paths
    case .every: []
    }
  }

  /// Whether the left end is one path.
  public var isOfOnePath: Bool { if case .path = source { true } else { false } }

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
    let calls = transformers.dropFirst(leading).map(\.description)
    return "\(written) \(self.operator.rawValue) " + ([right] + calls).joined(separator: " | ")
  }
}

extension BindExpression.Source {
  fileprivate var text: String {
    switch self {
    case .path(let path): path.text
    case .list(let paths): "(" + paths.map(\.shown).joined(separator: ", ") + ")"
    case .every(let argument, nil): "every(\(argument))"
    case .every(let argument, let option?): "every(\(argument), \(option))"
    }
  }
}

/// The direction of a binding, and whether it assigns a value at its start.
public enum BindOperator: String, CaseIterable, Sendable {
  /// The right end follows the left one.
  case leftToRight = "~>"
  /// The left end follows the right one.
  case rightToLeft = "<~"
  /// Each end follows the other.
  ///
  /// At the start, the right one takes the value of the left one.
  case both = "<>"
  /// The right end follows the left one from its next value on.
  case leftToRightLater = "!~>"
  /// The left end follows the right one from its next value on.
  case rightToLeftLater = "<~!"
  /// Each end follows the other from its next value on.
  case bothLater = "<!>"

  /// Whether values go from left to right.
  public var goesRight: Bool {
    switch self {
    case .leftToRight, .leftToRightLater, .both, .bothLater: true
    case .rightToLeft, .rightToLeftLater: false
    }
  }

  /// Whether values go from right to left.
  public var goesLeft: Bool {
    switch self {
    case .rightToLeft, .rightToLeftLater, .both, .bothLater: true
    case .leftToRight, .leftToRightLater: false
    }
  }

  /// Whether values go both ways.
  public var goesBothWays: Bool { goesRight && goesLeft }

  /// Whether the current value is assigned at the start: the value of the left end if values go
  /// right, else the value of the right end.
  public var assignsAtOnce: Bool {
    switch self {
    case .leftToRight, .rightToLeft, .both: true
    case .leftToRightLater, .rightToLeftLater, .bothLater: false
    }
  }
}

/// A call of a transformer in an expression: `| round(2)`, `| !toString`.
public struct TransformerCall: Equatable, Sendable {
  /// The name.
  public let name: String
  /// The arguments; empty if there are none.
  public let arguments: [BindArgument]
  /// Whether forward and reverse are swapped: `|!name`.
  public let isSwapped: Bool
  /// The column at which the name starts in the expression.
  public let column: Int

  /// Creates a call from its parts.
  public init(_ name: String, _ arguments: [BindArgument], isSwapped: Bool, column: Int) {
    self.name = name
    self.arguments = arguments
    self.isSwapped = isSwapped
    self.column = column
  }
}

extension TransformerCall: CustomStringConvertible {
  /// The call as it is written in an expression, without the `|`.
  public var description: String {
    let list = arguments.map(\.description).joined(separator: ", ")
    return (isSwapped ? "!" : "") + name + (arguments.isEmpty ? "" : "(\(list))")
  }
}

/// An argument of a transformer: `round(2)`.
public struct BindArgument: Equatable, Sendable {
  /// A JSON value that is neither an array nor an object, a duration or a word.
  public enum Value: Equatable, Sendable {
    case string(String)
    /// The text of a number, so that the transformer chooses the precision.
    case number(String)
    case bool(Bool)
    case null
    /// A duration: the text of its number, and its unit.
    case duration(String, BindUnit)
    /// A name, which the transformer knows.
    case word(String)
    /// The path of another source.
    case path(String)
  }

  /// The value.
  public let value: Value
  /// The column at which it starts in the expression.
  public let column: Int

  /// Creates an argument from its value and its column.
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

  /// The duration in seconds; `nil` for other values, and for numbers outside the range of `Double`.
  public var seconds: Double? {
    guard case .duration(let text, let unit) = value, let number = Double(text), number.isFinite
    else { return nil }
    return number * unit.seconds
  }

  /// The word; `nil` for other values.
  public var word: String? {
    if case .word(let word) = value { word } else { nil }
  }

  /// Whether it is a value of JSON.
  public var isJSON: Bool {
    switch value {
    case .string, .number, .bool, .null: true
    case .duration, .word, .path: false
    }
  }

  /// Whether it is the path of another source.
  var isPath: Bool { if case .path = value { true } else { false } }

  /// The number as an integer; `nil` if it is not a whole number.
  public var integer: Int? {
    number.flatMap(Int.init(exactly:))
  }
}

extension BindArgument: CustomStringConvertible {
  /// The argument as it is written in an expression.
  public var description: String {
    switch value {
    case .string(let string): quoted(string)
    case .number(let text): text
    case .bool(let bool): "\(bool)"
    case .null: "null"
    case .duration(let text, let unit): text + unit.rawValue
    case .word(let word): word
    case .path(let path): path
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

/// A unit of time in an expression.
public enum BindUnit: String, CaseIterable, Sendable {
  case milliseconds = "ms"
  case seconds = "s"
  case minutes = "m"
  case hours = "h"
  case days = "d"

  /// The length in seconds.
  public var seconds: Double {
    switch self {
    case .milliseconds: 0.001
    case .seconds: 1
    case .minutes: 60
    case .hours: 3600
    case .days: 86_400
    }
  }

  /// The unit that a person may mean by another name, for a suggestion.
  static func meant(by name: String) -> BindUnit? {
    switch name.lowercased() {
    case "ms", "msec", "msecs", "millis", "millisecond", "milliseconds": .milliseconds
    case "s", "sec", "secs", "second", "seconds": .seconds
    case "m", "min", "mins", "minute", "minutes": .minutes
    case "h", "hr", "hrs", "hour", "hours": .hours
    case "d", "day", "days": .days
    default: nil
    }
  }
}

/// An error in an expression, with its column, the text found there and the expected text.
public struct BindFault: Error, Equatable, Sendable {
  /// The kind of an error.
  public enum Kind: Sendable {
    /// A part is missing or misplaced.
    case syntax
    /// The expression exceeds a limit.
    case tooMuch
    /// The operator is not one of the six.
    case unknownOperator
    /// No transformer has that name.
    case unknownTransformer
    /// An argument does not fit the transformer.
    case argument
    /// The unit of a duration is unknown.
    case unknownUnit
    /// The object does not have that key.
    case unknownKey
    /// All names are known, but the binding is not possible.
    case notBindable
  }

  /// The kind of the error.
  public let kind: Kind
  /// The column, in Unicode scalars from 1.
  public let column: Int
  /// The text found there; empty at the end of the expression.
  public let found: String
  /// The texts that would be valid there.
  public let expected: [String]
  /// A short message without the column.
  public let message: String

  /// The transformer of an argument that is not valid for any; it may be unknown.
  let call: TransformerCall?

  init(
    _ kind: Kind, _ sentence: String, at column: Int, found: String, expected: [String] = [],
    of call: TransformerCall? = nil
  ) {
    self.call = call
    self.kind = kind
    message = sentence
    self.column = column
    self.found = found
    self.expected = expected
  }
}

extension BindFault {
  /// Creates the fault of an argument.
  public init(misused sentence: String, _ argument: BindArgument, expected: [String]) {
    self.init(
      .argument, sentence, at: argument.column, found: "\(argument)", expected: expected)
  }
}

extension BindFault {
  /// Creates the fault of an end that cannot be bound.
  public init(notBindable sentence: String, _ found: String, at column: Int) {
    self.init(.notBindable, sentence, at: column, found: found)
  }

  /// Returns the same fault with more text at the end of its message.
  public func adding(_ text: String) -> BindFault {
    BindFault(kind, message + text, at: column, found: found, expected: expected)
  }
}

extension BindFault: CustomStringConvertible {
  /// The message with the column.
  public var description: String { "\(message) at column \(column)" }
}

extension BindFault {
  /// Returns the fault for an unexpected part.
  ///
  /// - Parameter words: The expected parts in words, instead of their list.
  static func syntax(
    _ expected: [String], as words: String? = nil, at column: Int, found: String
  ) -> BindFault {
    let there = found.isEmpty ? "the end" : "'\(found)'"
    let listed = expected.map { $0.first?.isLetter == true ? $0 : "'\($0)'" }
      .joined(separator: " or ")
    return BindFault(
      .syntax, "expected \(words ?? listed), found \(there)", at: column, found: found,
      expected: expected)
  }

  /// Returns the fault for an unknown operator.
  static func unknownOperator(_ sign: String, at column: Int) -> BindFault {
    BindFault(
      .unknownOperator, "unknown operator '\(sign)'", at: column, found: sign,
      expected: BindOperator.allCases.map(\.rawValue))
  }

  /// Returns the fault for an unknown unit of time.
  static func unknownUnit(_ unit: String, at column: Int) -> BindFault {
    let guess = BindUnit.meant(by: unit).map { ": did you mean '\($0.rawValue)'?" } ?? ""
    return BindFault(
      .unknownUnit, "unknown unit '\(unit)'" + guess, at: column, found: unit,
      expected: BindUnit.allCases.map(\.rawValue))
  }
}

/// Limits for expressions from outside.
///
/// The language has no limits. A limit protects a caller that stores expressions and runs them
/// repeatedly.
public struct BindLimits: Equatable, Sendable {
  /// Maximum size in bytes, as given and with one space between the parts.
  public let bytes: Int
  /// Maximum number of transformers.
  public let transformers: Int
  /// Maximum number of paths in a list of sources.
  public let paths: Int

  /// Creates limits for the size, and for the numbers of transformers and of paths in a list.
  public init(bytes: Int, transformers: Int, paths: Int = 32) {
    self.bytes = bytes
    self.transformers = transformers
    self.paths = paths
  }
}

extension BindExpression {
  /// Parses an expression within limits.
  ///
  /// - Throws: ``BindFault`` for the first fault. A text that is too long is not parsed.
  public init(_ text: String, within limits: BindLimits) throws(BindFault) {
    let bytes = text.utf8.count
    guard bytes <= limits.bytes else { throw .tooLong(text, limits) }
    try self.init(text)
    let calls = leftPaths.flatMap(\.transformers) + transformers
    if calls.count > limits.transformers {
      throw BindFault(
        .tooMuch, "an expression has at most \(limits.transformers) transformers",
        at: calls[limits.transformers].column, found: "\(calls.count) transformers",
        expected: ["at most \(limits.transformers) transformers"])
    }
    if leftPaths.count > limits.paths {
      throw BindFault(
        .tooMuch, "a list has at most \(limits.paths) sources",
        at: leftPaths[limits.paths].column, found: "\(leftPaths.count) sources",
        expected: ["at most \(limits.paths) sources"])
    }
    // The canonical form takes up to three times the bytes: `|` becomes ` | `, `\b` becomes
    // `\u0008`. It is stored, so it must stay within the limit to be parsed again.
    guard bytes * 3 > limits.bytes else { return }
    let whole = description
    guard whole.utf8.count <= limits.bytes else {
      throw .tooLong(bytes: whole.utf8.count, at: 1, limits)
    }
  }
}

extension BindFault {
  /// Returns the fault for a text that is too long, at the column that exceeds the limit.
  fileprivate static func tooLong(_ text: String, _ limits: BindLimits) -> BindFault {
    var (column, bytes) = (0, 0)
    for scalar in text.unicodeScalars {
      column += 1
      bytes += UTF8.width(scalar)
      if bytes > limits.bytes { break }
    }
    return tooLong(bytes: text.utf8.count, at: column, limits)
  }

  fileprivate static func tooLong(
    bytes: Int, at column: Int, _ limits: BindLimits
  ) -> BindFault {
    BindFault(
      .tooMuch, "an expression has at most \(limits.bytes) bytes", at: column,
      found: "\(bytes) bytes", expected: ["at most \(limits.bytes) bytes"])
  }
}
