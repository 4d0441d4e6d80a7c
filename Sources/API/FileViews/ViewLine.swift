internal import JSON
internal import Signals
internal import Wire

/// The scanner of one line of a view file, which may continue over several lines of the text.
struct ViewLine {
  private let scalars: [Unicode.Scalar]

  /// The place at which each part of the text begins, by its offset.
  private let starts: [(offset: Int, place: ViewFile.Place)]
  private(set) var i = 0

  /// Whether the line begins with white space.
  let isIndented: Bool

  /// - Parameter parts: The parts of the line with their numbers; comments are removed.
  init(_ parts: [(number: Int, text: [Unicode.Scalar])]) {
    var scalars: [Unicode.Scalar] = []
    var starts: [(Int, ViewFile.Place)] = []
    for part in parts {
      starts.append((scalars.count, .init(line: part.number, column: 1)))
      scalars += part.text
    }
    while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
    self.scalars = scalars
    self.starts = starts
    isIndented = scalars.first?.properties.isWhitespace == true
    skipSpace()
  }

  var isEmpty: Bool { scalars.isEmpty }

  /// Returns the place of an offset in the line.
  func place(_ offset: Int) -> ViewFile.Place {
    let start = starts.last { $0.offset <= offset } ?? starts[0]
    return .init(line: start.place.line, column: offset - start.offset + 1)
  }

  var here: ViewFile.Place { place(i) }
  var isAtEnd: Bool { i >= scalars.count }
  var peek: Unicode.Scalar? { i < scalars.count ? scalars[i] : nil }

  mutating func skipSpace() {
    while let scalar = peek, scalar.properties.isWhitespace { i += 1 }
  }

  mutating func go(to offset: Int) { i = offset }

  func text(_ range: Range<Int>) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars[range])
    return String(text)
  }

  func has(_ text: String) -> Bool { has(text, at: i) }

  func has(_ text: String, at offset: Int) -> Bool {
    let wanted = Array(text.unicodeScalars)
    return offset + wanted.count <= scalars.count
      && scalars[offset..<offset + wanted.count].elementsEqual(wanted)
  }

  /// Reads a sign, and the white space after it.
  mutating func read(_ sign: String) -> Bool {
    guard has(sign) else { return false }
    i += sign.unicodeScalars.count
    skipSpace()
    return true
  }

  /// Returns the word at the current place: up to white space, a parenthesis, a comma or a quote.
  func word(at start: Int) -> Range<Int> {
    var end = start
    while end < scalars.count, scalars[end].isOfWord { end += 1 }
    return start..<end
  }

  /// Returns the beginning of the word at a place, for a message.
  func shownWord(at start: Int) -> String {
    let range = word(at: start)
    return text(range.prefix(40))
  }

  /// Reads a word, and the white space after it.
  mutating func word(_ expected: String) throws(ViewFault) -> ViewFile.Name {
    let range = word(at: i)
    guard !range.isEmpty else { throw expects(expected) }
    let name = ViewFile.Name(text: text(range), place: here)
    i = range.upperBound
    skipSpace()
    return name
  }

  /// Reads a name of a property, an intent or an argument, and the white space after it.
  mutating func name(_ expected: String) throws(ViewFault) -> ViewFile.Name {
    let start = i
    while let scalar = peek, String(scalar).utf8.allSatisfy(\.isOfViewName) { i += 1 }
    guard i > start else { throw expects(expected) }
    let name = ViewFile.Name(text: text(start..<i), place: place(start))
    guard name.text.isViewName else {
      throw ViewFault(
        name.place, "a name is 1 to 64 of A-Z a-z 0-9 _ and begins with no digit")
    }
    skipSpace()
    return name
  }

  /// Reads a name if one is there, and the white space after it.
  mutating func nameIfAny() -> ViewFile.Name? {
    let before = i
    guard let name = try? name("a name") else {
      i = before
      return nil
    }
    return name
  }

  /// Reads a name and the dot behind it, if both are there.
  mutating func nameBeforeDot() -> ViewFile.Name? {
    let before = i
    while let scalar = peek, String(scalar).utf8.allSatisfy(\.isOfViewName) { i += 1 }
    let name = ViewFile.Name(text: text(before..<i), place: place(before))
    guard peek == ".", name.text.isViewName else {
      i = before
      return nil
    }
    i += 1
    return name
  }

  /// Returns the fault for something else than expected.
  func expects(_ expected: String) -> ViewFault {
    guard !isAtEnd else {
      return ViewFault(here, "expected \(expected), found the end of the line")
    }
    let word = shownWord(at: i)
    return ViewFault(
      here, "expected \(expected), found '\(word.isEmpty ? text(i..<i + 1) : word)'")
  }

  /// Returns the place of the last parenthesis that is not closed; `nil` if there is none.
  func openParenthesis(from start: Int) -> ViewFile.Place? {
    var open: [Int] = []
    var i = start
    while i < scalars.count {
      switch scalars[i] {
      case "\"": i = (endOfQuotes(from: i) ?? scalars.count) - 1
      case "(": open.append(i)
      case ")": _ = open.popLast()
      default: break
      }
      i += 1
    }
    return open.last.map { place($0) }
  }

  /// Returns the offset after a text in quotes; `nil` if the second quote is missing.
  private func endOfQuotes(from start: Int) -> Int? {
    var end = start + 1
    while end < scalars.count {
      if scalars[end] == "\\" { end += 1 } else if scalars[end] == "\"" { return end + 1 }
      end += 1
    }
    return nil
  }

  /// Returns the offset after a value that begins at an offset: white space ends it outside of
  /// quotes and brackets.
  private func endOfValue(from start: Int) -> Int {
    var (end, depth, isQuoted) = (start, 0, false)
    while end < scalars.count {
      let scalar = scalars[end]
      if isQuoted {
        if scalar == "\\" { end += 1 } else if scalar == "\"" { isQuoted = false }
      } else if scalar == "\"" {
        isQuoted = true
      } else if scalar == "[" || scalar == "{" {
        depth += 1
      } else if scalar == "]" || scalar == "}" {
        depth -= 1
      } else if depth <= 0, scalar.properties.isWhitespace {
        break
      }
      end += 1
    }
    return min(end, scalars.count)
  }

  /// Reads a JSON value, and the white space after it.
  mutating func json() throws(ViewFault) -> JSONValue {
    let start = here
    let range = i..<endOfValue(from: i)
    guard !range.isEmpty else { throw expects("a value") }
    let text = text(range)
    guard let value = try? JSONValue(parsing: text) else {
      throw ViewFault(start, "'\(text.prefix(40))' is not JSON; a text needs quotes")
    }
    i = range.upperBound
    skipSpace()
    return value
  }

  /// Reads a text in quotes, and the white space after it.
  mutating func quoted(_ expected: String) throws(ViewFault) -> ViewFile.Name {
    guard peek == "\"" else { throw expects(expected) }
    let start = here
    guard let end = endOfQuotes(from: i), let value = try? JSONValue(parsing: text(i..<end)),
      case .string(let string) = value
    else { throw ViewFault(start, "the text has no end, or an unknown escape") }
    i = end
    skipSpace()
    return ViewFile.Name(text: string, place: start)
  }

  /// Returns the offset of the first arrow of a binding outside of quotes and parentheses.
  func arrow() -> Int? {
    var (depth, offset) = (0, i)
    while offset < scalars.count {
      switch scalars[offset] {
      case "\"":
        guard let end = endOfQuotes(from: offset) else { return nil }
        offset = end
        continue
      case "(": depth += 1
      case ")": depth -= 1
      case "~", "<", ">": if depth == 0 { return offset }
      // `|!name` swaps a transformer.
      case "!":
        if depth == 0, has("~", at: offset + 1) || has("<", at: offset + 1) { return offset }
      default: break
      }
      offset += 1
    }
    return nil
  }

  /// Returns the offset after the run of signs of an arrow.
  func endOfArrow(from start: Int) -> Int {
    var end = start
    while end < scalars.count, "~<>!".unicodeScalars.contains(scalars[end]) { end += 1 }
    return end
  }

  /// Moves after the transformers `| name(…)` that follow.
  mutating func skipTransformers() throws(ViewFault) {
    skipSpace()
    while peek == "|" {
      i += 1
      skipSpace()
      if peek == "!" { i += 1 }
      _ = try word("a transformer")
      if peek == "(" { try skipParentheses() }
      skipSpace()
    }
  }

  private mutating func skipParentheses() throws(ViewFault) {
    let start = here
    while let scalar = peek {
      if scalar == "\"" {
        guard let end = endOfQuotes(from: i) else { break }
        i = end
        continue
      }
      i += 1
      if scalar == ")" { return }
    }
    throw ViewFault(start, "'(' has no ')'")
  }

  /// Returns the offset of a place within an expression that begins at an offset.
  func place(column: Int, from start: Int) -> ViewFile.Place { place(start + column - 1) }
}

extension String {
  /// Whether it can name a property, an intent or an argument of a view.
  var isViewName: Bool {
    let isDigit = utf8.first.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ?? true
    return 1...64 ~= utf8.count && !isDigit && utf8.allSatisfy(\.isOfViewName)
  }
}

extension Unicode.Scalar {
  /// Whether it can be part of a word.
  fileprivate var isOfWord: Bool {
    switch self {
    case "(", ")", ",", "\"", "|", "=": false
    default: !properties.isWhitespace
    }
  }
}

extension UInt8 {
  fileprivate var isOfViewName: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension [Unicode.Scalar] {
  /// The scalars before a comment: a `#` outside of quotes, at the beginning or after white space.
  var withoutComment: [Unicode.Scalar] {
    var (isQuoted, isAfterSpace, offset) = (false, true, 0)
    while offset < count {
      let scalar = self[offset]
      if isQuoted {
        if scalar == "\\" { offset += 1 } else if scalar == "\"" { isQuoted = false }
      } else if scalar == "\"" {
        isQuoted = true
      } else if scalar == "#", isAfterSpace {
        return Array(self[..<offset])
      }
      isAfterSpace = scalar.properties.isWhitespace
      offset += 1
    }
    return self
  }
}
