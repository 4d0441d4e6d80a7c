package import JSON

/// A declaration of the values of a source: kind, range, unit and title.
///
/// Its text is a kind and more parts between commas, in any order:
/// `number, "°C", -40…60, "Kitchen", silent 15m`. The first text is the unit of numbers, and the next
/// one the title.
package struct ValueType: Equatable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    case any, boolean, number, integer, string, list, object
  }

  package let kind: Kind

  /// The unit of numbers, for example `°C`.
  package private(set) var unit: String?

  /// The name for people, for example `Kitchen`.
  package private(set) var title: String?

  /// The least and the greatest number.
  package private(set) var low: JSONNumber?
  package private(set) var high: JSONNumber?

  /// The digits of numbers behind the point, as they are shown.
  package private(set) var digits: Int?

  /// The allowed texts; empty if all are.
  package private(set) var choices: [String] = []

  /// The seconds without a change after which the source counts as silent.
  package private(set) var silence: Int64?

  /// A mistake in the text of a type.
  package struct Fault: Error, Equatable, CustomStringConvertible {
    package let message: String

    /// The column in Unicode scalars, from 1.
    package let column: Int

    package init(message: String, column: Int) {
      (self.message, self.column) = (message, column)
    }

    package var description: String { "\(message) at column \(column)" }
  }

  /// The most bytes of a text.
  package static let maxBytes = 1024

  /// Reads a text.
  package init(_ text: String) throws(Fault) {
    guard text.utf8.count <= Self.maxBytes else {
      throw Fault(message: "a type has at most \(Self.maxBytes) bytes", column: 1)
    }
    var parser = TypeParser(text)
    let word = parser.word()
    guard let kind = Kind(rawValue: word.text) else {
      throw Fault(
        message:
          "expected one of \(Kind.allCases.map(\.rawValue).joined(separator: ", ")), found \(word.shown)",
        column: word.column)
    }
    self.kind = kind
    while try parser.comma() { try readPart(&parser) }
  }

  private var isOfNumbers: Bool { kind == .number || kind == .integer }

  private mutating func readPart(_ parser: inout TypeParser) throws(Fault) {
    let column = parser.column
    func once<Value>(_ known: Value?, _ what: String) throws(Fault) {
      if known != nil { throw Fault(message: "\(what) is given twice", column: column) }
    }
    func ofNumbers(_ what: String) throws(Fault) {
      guard isOfNumbers else {
        throw Fault(message: "only numbers have \(what), not \(kind.rawValue)", column: column)
      }
    }
    if let text = try parser.string() {
      guard text.utf8.count <= 200 else {
        throw Fault(message: "a text has at most 200 bytes", column: column)
      }
      if isOfNumbers, unit == nil { return unit = text }
      try once(title, "the title")
      return title = text
    }
    if let range = try parser.range() {
      try ofNumbers("a range")
      if low != nil || high != nil {
        throw Fault(message: "the range is given twice", column: column)
      }
      if let low = range.low, let high = range.high, low > high {
        throw Fault(
          message:
            "the range begins with its least number: write \(high.text)…\(low.text)",
          column: column)
      }
      return (low, high) = range
    }
    let word = parser.word()
    switch word.text {
    case "silent":
      try once(silence, "silent")
      silence = try parser.duration()
    case "digits":
      try ofNumbers("digits")
      try once(digits, "digits")
      let number = parser.word()
      guard let count = Int(number.text), 0...12 ~= count else {
        throw Fault(message: "digits are 0 to 12, not \(number.shown)", column: number.column)
      }
      digits = count
    case "one":
      guard kind == .string else {
        throw Fault(message: "only strings have 'one of', not \(kind.rawValue)", column: column)
      }
      choices = try parser.choices()
    case "title":
      try once(title, "the title")
      title = try parser.neededString()
    case "unit":
      try ofNumbers("a unit")
      try once(unit, "the unit")
      unit = try parser.neededString()
    default:
      throw Fault(
        message:
          #"expected a text such as "°C", a range such as 0…60, or unit, title, digits, silent or one of, found \#(word.shown)"#,
        column: column)
    }
  }

  /// Returns the rule that a value breaks; `nil` if it fits.
  package func fault(of value: JSONText) -> String? {
    let first = value.text.utf8.first ?? 0
    let isOfKind: Bool
    switch kind {
    case .any: return nil
    case .boolean: isOfKind = first == UInt8(ascii: "t") || first == UInt8(ascii: "f")
    case .string: isOfKind = first == UInt8(ascii: "\"")
    case .list: isOfKind = first == UInt8(ascii: "[")
    case .object: isOfKind = first == UInt8(ascii: "{")
    case .number, .integer: isOfKind = first == UInt8(ascii: "-") || 0x30...0x39 ~= first
    }
    guard isOfKind else { return rule }
    if isOfNumbers, low != nil || high != nil || kind == .integer {
      guard let number = value.number else { return rule }
      if kind == .integer, number.int64 == nil,
        number.double != number.double.rounded(.towardZero)
      {
        return rule
      }
      if let low, number < low { return rule }
      if let high, number > high { return rule }
    }
    if !choices.isEmpty {
      guard case .string(let text) = value.value, choices.contains(text) else { return rule }
    }
    return nil
  }

  /// The values that fit, for messages, for example `a number from -40 to 60 °C`.
  package var rule: String {
    if !choices.isEmpty { return "one of " + choices.joined(separator: ", ") }
    let noun =
      switch kind {
      case .any: "any value"
      case .boolean: "true or false"
      case .number: "a number"
      case .integer: "a whole number"
      case .string: "a text"
      case .list: "a list"
      case .object: "an object"
      }
    let range =
      switch (low, high) {
      case (nil, nil): ""
      case (let low?, nil): " from \(low.text)"
      case (nil, let high?): " up to \(high.text)"
      case (let low?, let high?): " from \(low.text) to \(high.text)"
      }
    return noun + range + (unit.map { " \($0)" } ?? "")
  }
}

extension ValueType: CustomStringConvertible {
  /// The text, in a fixed order.
  package var description: String {
    var parts = [kind.rawValue]
    if let unit { parts.append(JSONText(string: unit).text) }
    if low != nil || high != nil { parts.append("\(low?.text ?? "")…\(high?.text ?? "")") }
    if !choices.isEmpty {
      parts.append("one of " + choices.map { JSONText(string: $0).text }.joined(separator: " "))
    }
    if let title {
      parts.append((isOfNumbers && unit == nil ? "title " : "") + JSONText(string: title).text)
    }
    if let digits { parts.append("digits \(digits)") }
    if let silence { parts.append("silent \(Self.text(ofSeconds: silence))") }
    return parts.joined(separator: ", ")
  }

  /// Returns `15m` for 900.
  package static func text(ofSeconds seconds: Int64) -> String {
    for (unit, size) in [("d", 86_400), ("h", 3600), ("m", 60)] as [(String, Int64)]
    where seconds % size == 0 {
      return "\(seconds / size)\(unit)"
    }
    return "\(seconds)s"
  }
}

/// Reads the parts of a type; columns count Unicode scalars from 1.
private struct TypeParser {
  private let scalars: [Unicode.Scalar]
  private var place = 0

  struct Word {
    let text: String
    let column: Int

    var shown: String { text.isEmpty ? "the end" : "'\(text)'" }
  }

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  private mutating func skipSpace() {
    while place < scalars.count, scalars[place] == " " || scalars[place] == "\t" { place += 1 }
  }

  /// The column of the next part.
  var column: Int {
    var next = place
    while next < scalars.count, scalars[next] == " " || scalars[next] == "\t" { next += 1 }
    return next + 1
  }

  mutating func word() -> Word {
    skipSpace()
    let start = place
    while place < scalars.count, scalars[place] != " ", scalars[place] != "\t",
      scalars[place] != ","
    { place += 1 }
    return Word(text: text(start..<place), column: start + 1)
  }

  private func text(_ range: Range<Int>) -> String {
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars[range])
    return text
  }

  /// Reads a comma; returns `false` at the end.
  mutating func comma() throws(ValueType.Fault) -> Bool {
    skipSpace()
    guard place < scalars.count else { return false }
    guard scalars[place] == "," else {
      let column = column
      throw .init(message: "expected ',' or the end, found \(word().shown)", column: column)
    }
    place += 1
    return true
  }

  /// Reads a text in quotes, as in JSON; `nil` if there is none.
  mutating func string() throws(ValueType.Fault) -> String? {
    skipSpace()
    guard place < scalars.count, scalars[place] == "\"" else { return nil }
    let start = place
    place += 1
    while place < scalars.count, scalars[place] != "\"" {
      place += scalars[place] == "\\" ? 2 : 1
    }
    guard place < scalars.count else {
      throw .init(message: "a text has no closing quote", column: start + 1)
    }
    place += 1
    guard case .string(let text)? = try? JSONValue(parsing: text(start..<place)),
      !text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
    else {
      throw .init(
        message: "a text is written as in JSON, without control characters", column: start + 1)
    }
    return text
  }

  mutating func neededString() throws(ValueType.Fault) -> String {
    let column = column
    guard let text = try string() else {
      throw .init(message: #"expected a text in quotes such as "Kitchen""#, column: column)
    }
    return text
  }

  /// Reads `-40…60`, `-40..60`, `-40...60`, `0…` or `…60`; `nil` if it is no range.
  mutating func range() throws(ValueType.Fault) -> (low: JSONNumber?, high: JSONNumber?)? {
    let start = place
    let word = word()
    guard let dots = ["…", "...", ".."].lazy.compactMap({ word.text.firstRange(of: $0) }).first
    else {
      place = start
      return nil
    }
    let (low, high) = (word.text[..<dots.lowerBound], word.text[dots.upperBound...])
    func number(_ text: Substring) throws(ValueType.Fault) -> JSONNumber? {
      if text.isEmpty { return nil }
      guard let number = JSONNumber(String(text)) else {
        throw .init(message: "a range has two numbers, not '\(text)'", column: word.column)
      }
      return number
    }
    guard !low.isEmpty || !high.isEmpty else {
      throw .init(message: "a range has a number at least at one end", column: word.column)
    }
    return (try number(low), try number(high))
  }

  /// Reads a duration of whole seconds, such as `15m`.
  mutating func duration() throws(ValueType.Fault) -> Int64 {
    let word = word()
    let sizes: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    guard let unit = word.text.last, let size = sizes[unit],
      let count = Int64(word.text.dropLast()), 1...31_536_000 / size ~= count
    else {
      throw .init(
        message: "expected a duration from 1s to 365d such as 15m, found \(word.shown)",
        column: word.column)
    }
    return count * size
  }

  /// Reads `of day night`, with or without quotes.
  mutating func choices() throws(ValueType.Fault) -> [String] {
    let of = word()
    guard of.text == "of" else {
      throw .init(message: "expected 'of' behind 'one', found \(of.shown)", column: of.column)
    }
    var choices: [String] = []
    while true {
      skipSpace()
      guard place < scalars.count, scalars[place] != "," else { break }
      let column = column
      let choice = try string() ?? word().text
      guard !choices.contains(choice) else {
        throw .init(message: "'\(choice)' is given twice", column: column)
      }
      choices.append(choice)
    }
    guard !choices.isEmpty else {
      throw .init(message: "expected the allowed texts, as in: one of day night", column: column)
    }
    return choices
  }
}

extension ValueType {
  /// The shape of the values.
  package var shape: Shape {
    switch kind {
    case .any: .any
    case .boolean: .bool
    case .number: .number
    case .integer: .integer
    case .string: choices.isEmpty ? .string : .words(choices)
    case .list: .array(.any)
    case .object: .map(.any)
    }
  }
}
