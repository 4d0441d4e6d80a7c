/// One word, text, number or sign of a text in Lua.
struct LuaToken {
  enum Kind { case name, text, number, sign }

  let kind: Kind

  /// The name or the sign; the content of a text, empty if it has escapes.
  let text: String
  let line: Int
  let column: Int

  func isSign(_ sign: String) -> Bool { kind == .sign && text == sign }

  /// Whether it is a name or a word of the language.
  func isName(_ name: String) -> Bool { kind == .name && text == name }
}

extension LuaToken {
  /// Returns the tokens of a text that Lua has accepted.
  static func all(in text: String) -> [LuaToken] {
    var scanner = LuaScanner(bytes: Array(text.utf8))
    var tokens: [LuaToken] = []
    while let token = scanner.next() { tokens.append(token) }
    return tokens
  }
}

private struct LuaScanner {
  let bytes: [UInt8]
  private var i = 0
  private var (line, lineStart) = (1, 0)

  init(bytes: [UInt8]) { self.bytes = bytes }

  private func byte(_ offset: Int = 0) -> UInt8 {
    i + offset < bytes.count ? bytes[i + offset] : 0
  }

  private mutating func step() {
    if byte() == UInt8(ascii: "\n") { (line, lineStart) = (line + 1, i + 1) }
    i += 1
  }

  /// Passes over white space and comments.
  private mutating func skipSpace() {
    while i < bytes.count {
      if byte() == UInt8(ascii: "-"), byte(1) == UInt8(ascii: "-") {
        i += 2
        if let level = longBracket {
          skipLong(level)
        } else {
          while i < bytes.count, byte() != UInt8(ascii: "\n") { i += 1 }
        }
      } else if byte() <= UInt8(ascii: " ") {
        step()
      } else {
        return
      }
    }
  }

  /// The number of `=` in the `[==[` that begins here; `nil` if none does.
  private var longBracket: Int? {
    guard byte() == UInt8(ascii: "[") else { return nil }
    var level = 0
    while byte(level + 1) == UInt8(ascii: "=") { level += 1 }
    return byte(level + 1) == UInt8(ascii: "[") ? level : nil
  }

  /// Passes over a text in long brackets; returns its content.
  @discardableResult
  private mutating func skipLong(_ level: Int) -> Range<Int> {
    i += level + 2
    let start = i
    while i < bytes.count {
      if byte() == UInt8(ascii: "]"), byte(level + 1) == UInt8(ascii: "]"),
        (1...level + 1).dropLast().allSatisfy({ byte($0) == UInt8(ascii: "=") })
      {
        i += level + 2
        return start..<i - level - 2
      }
      step()
    }
    return start..<i
  }

  mutating func next() -> LuaToken? {
    skipSpace()
    guard i < bytes.count else { return nil }
    let (start, line) = (i, line)
    // Columns count characters, as those of other faults.
    let before = String(decoding: bytes[lineStart..<i], as: UTF8.self)
    func token(_ kind: LuaToken.Kind, _ range: Range<Int>) -> LuaToken {
      LuaToken(
        kind: kind, text: String(decoding: bytes[range], as: UTF8.self), line: line,
        column: before.count + 1)
    }
    if let level = longBracket { return token(.text, skipLong(level)) }
    let first = byte()
    if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
      let isPlain = skipQuoted(first)
      return token(.text, isPlain ? start + 1..<max(start + 1, i - 1) : start..<start)
    }
    if first.isOfLuaName, !first.isDigit {
      while byte().isOfLuaName { i += 1 }
      return token(.name, start..<i)
    }
    if first.isDigit || first == UInt8(ascii: ".") && byte(1).isDigit {
      skipNumber()
      return token(.number, start..<i)
    }
    let signs = ["...", "..", "==", "~=", "<=", ">=", "//", "::", "<<", ">>"]
    let length =
      signs.first { bytes[i...].starts(with: $0.utf8) }?.utf8.count ?? 1
    i += length
    return token(.sign, start..<i)
  }

  /// Passes over a text in quotes; returns whether it has no escapes.
  private mutating func skipQuoted(_ quote: UInt8) -> Bool {
    var isPlain = true
    i += 1
    while i < bytes.count, byte() != quote {
      if byte() == UInt8(ascii: "\\") {
        isPlain = false
        step()
      }
      step()
    }
    i += 1
    return isPlain
  }

  private mutating func skipNumber() {
    while byte().isOfLuaName || byte() == UInt8(ascii: ".") {
      let isExponent = [UInt8(ascii: "e"), UInt8(ascii: "p")].contains(byte() | 32)
      i += 1
      if isExponent, byte() == UInt8(ascii: "-") || byte() == UInt8(ascii: "+") { i += 1 }
    }
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { 0x30...0x39 ~= self }

  fileprivate var isOfLuaName: Bool {
    isDigit || self == UInt8(ascii: "_") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 32
  }
}
