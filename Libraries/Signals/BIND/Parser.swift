/// Parses a bind expression.
struct BindParser {
  private let scalars: [Unicode.Scalar]
  private var i = 0

  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
  }

  mutating func parse() throws(BindFault) -> BindExpression {
    let (source, column) = try source()
    var leading: [TransformerCall] = []
    skipSpace()
    while peek == "|" {
      i += 1
      leading.append(try transformer())
      skipSpace()
    }
    let sign = try bindOperator()
    if !sign.isRightOnly {
      switch source {
      case .path: break
      case .list: throw .notRight("a list of sources", sign, at: column)
      case .every: throw .notRight("'every'", sign, at: column)
      }
    }
    let right = try word("path")
    var trailing: [TransformerCall] = []
    while try isAnotherTransformer() { trailing.append(try transformer()) }
    return try BindExpression(
      source, column: column, leading: leading, sign,
      right: .init(text: right.text, column: right.column), trailing)
  }

  private mutating func source() throws(BindFault) -> (BindExpression.Source, column: Int) {
    skipSpace()
    let start = i
    if peek == "(" { return (.list(try list()), start + 1) }
    let (text, column) = try word("path")
    let end = i
    skipSpace()
    guard text == "every", peek == "(" else {
      i = end
      return (.path(.init(text: text, column: column)), column)
    }
    let arguments = try arguments()
    guard 1...2 ~= arguments.count else {
      throw BindFault(
        .argument, "'every' takes 1 to 2 arguments, not \(arguments.count)", at: column,
        found: "every", expected: ["interval", "time"])
    }
    return (.every(arguments[0], option: arguments.dropFirst().first), column)
  }

  private mutating func list() throws(BindFault) -> [BindExpression.Path] {
    var paths: [BindExpression.Path] = []
    repeat {
      i += 1
      let (text, column) = try word("path")
      var transformers: [TransformerCall] = []
      skipSpace()
      while peek == "|" {
        i += 1
        transformers.append(try transformer())
        skipSpace()
      }
      paths.append(.init(text: text, column: column, transformers: transformers))
    } while peek == ","
    try expect(")", or: ["|", ",", ")"])
    return paths
  }

  private mutating func bindOperator() throws(BindFault) -> BindOperator {
    skipSpace()
    let start = i
    let sign = run(of: isSign)
    if let known = BindOperator(rawValue: sign) { return known }
    guard sign.isEmpty else { throw .unknownOperator(sign, at: start + 1) }
    throw .syntax(
      BindOperator.allCases.map(\.rawValue), as: "an arrow such as ~>", at: start + 1,
      found: found(at: start))
  }

  private mutating func isAnotherTransformer() throws(BindFault) -> Bool {
    skipSpace()
    guard i < scalars.count else { return false }
    try expect("|", or: ["|", "end"])
    return true
  }

  private mutating func transformer() throws(BindFault) -> TransformerCall {
    skipSpace()
    let isSwapped = found(at: i) == "!"
    if isSwapped { i += 1 }
    let (name, column) = try word("transformer")
    skipSpace()
    guard peek == "(" else {
      return TransformerCall(name, [], isSwapped: isSwapped, column: column)
    }
    return TransformerCall(name, try arguments(), isSwapped: isSwapped, column: column)
  }

  private mutating func arguments() throws(BindFault) -> [BindArgument] {
    i += 1
    skipSpace()
    var arguments: [BindArgument] = []
    if peek != ")" {
      arguments.append(try argument())
      while peek == "," {
        i += 1
        arguments.append(try argument())
      }
    }
    try expect(")", or: arguments.isEmpty ? ["argument", ")"] : [",", ")"])
    return arguments
  }

  private mutating func argument() throws(BindFault) -> BindArgument {
    skipSpace()
    let start = i
    let value: BindArgument.Value?
    if peek == "\"" {
      var literal = StringLiteral(scalars, at: i)
      value = .string(try literal.read())
      i = literal.end
    } else {
      value = try literal(run(of: isWord), at: start)
    }
    guard let value else {
      throw .syntax(
        ["string", "number", "duration", "true", "false", "null", "word"], at: start + 1,
        found: found(at: start))
    }
    skipSpace()
    return BindArgument(value, column: start + 1)
  }

  private func literal(
    _ word: String, at start: Int
  ) throws(BindFault) -> BindArgument.Value? {
    switch word {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default: break
    }
    if isNumber(word) { return .number(word) }
    if isName(word) { return .word(word) }
    if word.unicodeScalars.contains("/") { return .path(word) }
    return try duration(word, at: start)
  }

  /// Returns a number with a unit, such as `5s`; `nil` for other words.
  private func duration(
    _ word: String, at start: Int
  ) throws(BindFault) -> BindArgument.Value? {
    let number = word.unicodeScalars.prefix { $0 == "." || ("0"..."9").contains($0) }
    let unit = String(word.unicodeScalars.dropFirst(number.count))
    guard isNumber(String(number)), !unit.isEmpty,
      unit.unicodeScalars.allSatisfy({ $0.properties.isAlphabetic })
    else { return nil }
    guard let known = BindUnit(rawValue: unit) else {
      throw .unknownUnit(unit, at: start + number.count + 1)
    }
    return .duration(String(number), known)
  }

  // MARK: Tokens

  private mutating func word(_ expected: String) throws(BindFault) -> (text: String, column: Int) {
    skipSpace()
    let start = i
    let word = run(of: isWord)
    guard !word.isEmpty else {
      throw .syntax([expected], at: start + 1, found: found(at: start))
    }
    return (word, start + 1)
  }

  private mutating func expect(
    _ scalar: Unicode.Scalar, or expected: [String]
  ) throws(BindFault) {
    guard peek == scalar else { throw .syntax(expected, at: i + 1, found: found(at: i)) }
    i += 1
  }

  private var peek: Unicode.Scalar? { i < scalars.count ? scalars[i] : nil }

  private mutating func skipSpace() {
    while let scalar = peek, scalar.properties.isWhitespace { i += 1 }
  }

  private mutating func run(of belongs: (Unicode.Scalar) -> Bool) -> String {
    let start = i
    while let scalar = peek, belongs(scalar) { i += 1 }
    return text(start..<i)
  }

  /// Returns the part at a position, at most 40 characters of it, for a message.
  private func found(at start: Int) -> String {
    guard start < scalars.count else { return "" }
    let belongs = isSign(scalars[start]) ? isSign : isWord
    var end = start + 1
    if belongs(scalars[start]) {
      while end < scalars.count, end < start + 40, belongs(scalars[end]) { end += 1 }
    }
    return text(start..<end)
  }

  private func text(_ range: Range<Int>) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars[range])
    return String(text)
  }
}

/// Whether a character can be part of an operator or is `!`.
private func isSign(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar {
  case "~", "<", ">", "!": true
  default: false
  }
}

/// Whether a character can be part of a path, a name or a number.
private func isWord(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar {
  case "|", "(", ")", ",", "\"": false
  default:
    !isSign(scalar) && !scalar.properties.isWhitespace
      && scalar.properties.generalCategory != .control
  }
}

/// Whether a word is a name of lowercase letters and `_`.
private func isName(_ word: String) -> Bool {
  !word.isEmpty && word.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
}

/// Whether a word is a JSON number.
private func isNumber(_ word: String) -> Bool {
  var rest = word.utf8[...]
  func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  func consumeDigits() -> Int {
    let digits = rest.prefix(while: isDigit)
    rest = rest[digits.endIndex...]
    return digits.count
  }
  if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
  let startsWithZero = rest.first == UInt8(ascii: "0")
  let whole = consumeDigits()
  guard whole > 0, whole == 1 || !startsWithZero else { return false }
  if rest.first == UInt8(ascii: ".") {
    rest = rest.dropFirst()
    guard consumeDigits() > 0 else { return false }
  }
  if let e = rest.first, e == UInt8(ascii: "e") || e == UInt8(ascii: "E") {
    rest = rest.dropFirst()
    if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
      rest = rest.dropFirst()
    }
    guard consumeDigits() > 0 else { return false }
  }
  return rest.isEmpty
}

/// Parses a JSON string.
struct StringLiteral {
  private let scalars: [Unicode.Scalar]
  private let start: Int
  /// The current position; after the closing quote when reading is done.
  private(set) var end: Int

  /// - Parameter start: The position of the opening quote.
  init(_ scalars: [Unicode.Scalar], at start: Int) {
    self.scalars = scalars
    self.start = start
    end = start + 1
  }

  mutating func read() throws(BindFault) -> String {
    var text = String.UnicodeScalarView()
    while end < scalars.count {
      let scalar = scalars[end]
      switch scalar {
      case "\"":
        end += 1
        return String(text)
      case "\\": text.append(try escaped())
      case _ where scalar.value < 0x20:
        throw fault("a control character in a string", at: end, end: end + 1)
      default:
        text.append(scalar)
        end += 1
      }
    }
    throw .syntax(["\""], at: scalars.count + 1, found: "")
  }

  private mutating func escaped() throws(BindFault) -> Unicode.Scalar {
    let escape = end
    end += 1
    guard end < scalars.count else { throw .syntax(["escape"], at: end + 1, found: "") }
    let letter = scalars[end]
    end += 1
    switch letter {
    case "\"", "\\", "/": return letter
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u": return try unicodeScalar(from: escape)
    default: throw fault("an unknown escape", at: escape, end: end)
    }
  }

  /// Reads the scalar of one `\u` escape, or of two that form a surrogate pair.
  private mutating func unicodeScalar(from escape: Int) throws(BindFault) -> Unicode.Scalar {
    let first = try codeUnit(from: escape)
    if let scalar = Unicode.Scalar(first) { return scalar }
    if first < 0xDC00, end + 1 < scalars.count, scalars[end] == "\\", scalars[end + 1] == "u" {
      end += 2
      let second = try codeUnit(from: escape)
      if (0xDC00...0xDFFF).contains(second),
        let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
      {
        return scalar
      }
    }
    throw fault("half a surrogate pair", at: escape, end: end)
  }

  private mutating func codeUnit(from escape: Int) throws(BindFault) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard end < scalars.count else {
        throw .syntax(["hexadecimal digit"], at: end + 1, found: "")
      }
      guard scalars[end].isASCII, let digit = Character(scalars[end]).hexDigitValue else {
        throw fault("no four hexadecimal digits", at: escape, end: end + 1)
      }
      unit = unit << 4 | UInt32(digit)
      end += 1
    }
    return unit
  }

  private func fault(_ sentence: String, at start: Int, end: Int) -> BindFault {
    var found = String.UnicodeScalarView()
    found.append(contentsOf: scalars[start..<end])
    return BindFault(.syntax, sentence, at: start + 1, found: String(found))
  }
}

extension BindOperator {
  /// Whether values go only from left to right.
  public var isRightOnly: Bool { goesRight && !goesLeft }
}

extension BindFault {
  /// Returns the fault for an operator whose values do not only go from left to right.
  static func notRight(_ what: String, _ sign: BindOperator, at column: Int) -> BindFault {
    BindFault(
      .notBindable, "\(what) goes only from left to right: use ~> instead of \(sign.rawValue)",
      at: column, found: sign.rawValue, expected: ["~>", "!~>"])
  }
}

// MARK: Short forms

/// The tests that compare the values of two sources.
///
/// They are short forms: `a/b | round(1) | below(c/d, 0.5)` is
/// `(a/b | round(1), c/d) | minus | where(differs, null) | hysteresis(-0.5, 0.5) | not`.
enum Comparison {
  /// Returns a source and its transformers, without paths as arguments.
  ///
  /// - Throws: ``BindFault`` for a path that cannot be compared with.
  static func expanded(
    _ source: BindExpression.Source, _ calls: [TransformerCall], _ sign: BindOperator
  ) throws(BindFault) -> (BindExpression.Source, [TransformerCall]) {
    if case .list(let paths) = source {
      for path in paths { try path.transformers.checkNoPath() }
    }
    guard let place = calls.firstIndex(where: { $0.arguments.contains(where: \.isPath) }) else {
      return (source, calls)
    }
    let call = calls[place]
    guard let steps = try steps(for: call), case .path(let other)? = call.arguments.first?.value
    else { throw .path(in: call) }
    guard case .path(let path) = source else {
      throw BindFault(
        .notBindable, "'\(call)' compares one source with another, not a list or 'every'",
        at: call.column, found: "\(call)")
    }
    guard sign.isRightOnly else { throw .notRight("'\(call)'", sign, at: call.column) }
    try calls[(place + 1)...].checkNoPath()
    let left = BindExpression.Path(
      text: path.text, column: path.column, transformers: Array(calls[..<place]))
    let right = BindExpression.Path(text: other, column: call.arguments[0].column)
    return (.list([left, right]), steps + calls[(place + 1)...])
  }

  /// Returns what a test does with the array of both values; `nil` if the transformer is no such test.
  private static func steps(
    for call: TransformerCall
  ) throws(BindFault) -> [TransformerCall]? {
    func step(_ name: String, _ arguments: BindArgument.Value...) -> TransformerCall {
      TransformerCall(
        name, arguments.map { BindArgument($0, column: call.column) }, isSwapped: false,
        column: call.column)
    }
    guard !call.isSwapped, 1...2 ~= call.arguments.count else { return nil }
    let difference = [step("minus"), step("where", .word("differs"), .null)]
    switch (call.name, call.arguments.dropFirst().first) {
    case ("minus", nil): return [step("minus")]
    case ("equals", nil): return [step("same")]
    case ("differs", nil): return [step("same"), step("not")]
    case ("above", nil), ("below", nil): return difference + [step(call.name, .number("0"))]
    case ("above", let margin?), ("below", let margin?):
      guard case .number(let text) = margin.value, text.first != "-" else {
        throw BindFault(
          misused: "the second argument of '\(call.name)' is a number from 0, not \(margin)",
          margin,
          expected: ["number from 0"])
      }
      let band = step("hysteresis", .number("-\(text)"), .number(text))
      return difference + [band] + (call.name == "below" ? [step("not")] : [])
    default: return nil
    }
  }
}

extension Sequence<TransformerCall> {
  /// - Throws: ``BindFault`` for a path among the arguments.
  func checkNoPath() throws(BindFault) {
    for call in self where call.arguments.contains(where: \.isPath) {
      throw .path(in: call)
    }
  }
}

extension BindFault {
  /// Returns the fault for a path as an argument that is a value.
  fileprivate static func path(in call: TransformerCall) -> BindFault {
    let null = BindArgument(.null, column: call.column)
    let argument = call.arguments.first(where: \.isPath) ?? null
    return BindFault(
      .syntax,
      "'\(call.name)' takes a value here, not the path '\(argument)'; combine paths: (a, b) | …",
      at: argument.column, found: "\(argument)", of: call)
  }
}
