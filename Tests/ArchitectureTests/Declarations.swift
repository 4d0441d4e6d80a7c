/// The classes and functions of a file, found by their braces.
///
/// It knows the layout that `swift format` makes: a declaration begins a line.
struct Declarations {
  /// A class, and the number of its own stored properties.
  struct Class: Equatable {
    let name: String
    let properties: Int
  }

  /// A function or an initializer, with its type, and the number of its lines.
  struct Function: Equatable {
    let name: String
    let lines: Int
  }

  private(set) var classes: [Class] = []
  private(set) var functions: [Function] = []

  private struct Scope {
    var kind: Substring = ""
    var name = ""
    var firstLine = 0
    var properties = 0

    /// The parentheses that are open around a closure.
    var parentheses = 0
  }

  private static var declaration: Regex<(Substring, Substring, Substring, Substring)> {
    /\ *(?:@\w+(?:\([^)]*\))?\ +)*((?:(?:[a-z]+|private\(set\)|package\(set\)|internal\(set\)|unowned\(unsafe\)|nonisolated\(unsafe\))\ +)*?)(class|struct|enum|extension|protocol|func|init|deinit|subscript|let|var)\b[?\ ]*(.*)/
  }

  init(_ text: String) {
    let declaration = Self.declaration
    let lines = SwiftText.code(of: text).split(separator: "\n", omittingEmptySubsequences: false)
    var scopes: [Scope] = []
    var next = Scope()
    // The declarations within whose parentheses closures are open.
    var outer: [Scope] = []
    var parentheses = 0
    for (number, line) in lines.enumerated() {
      if parentheses == 0, let found = line.wholeMatch(of: declaration)?.output {
        let (kind, rest) = (found.2, found.3)
        let isOfType = found.1.split(separator: " ").contains { $0 == "static" || $0 == "class" }
        switch kind {
        case "let", "var":
          if scopes.last?.kind == "class", !isOfType {
            let isStored = kind == "let" || Self.isStored(rest, lines[number...])
            if isStored { scopes[scopes.count - 1].properties += Self.count(rest) }
          }
        // `class func`
        case "class" where rest.hasPrefix("func ") || rest.hasPrefix("var "): break
        default:
          let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
          let types = scopes.filter { !$0.name.isEmpty }.map(\.name)
          let own = ["init", "deinit", "subscript"].contains(kind) ? kind : name
          next = Scope(kind: kind, name: String(own), firstLine: number)
          if ["func", "init", "deinit", "subscript"].contains(kind) {
            next.name = (types.suffix(1) + [next.name]).joined(separator: ".")
          }
        }
      }
      for byte in line.utf8 {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
        case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
        case UInt8(ascii: "{"):
          // A closure within parentheses is an argument.
          if parentheses > 0 {
            outer.append(next)
            next = Scope(parentheses: parentheses)
            parentheses = 0
          }
          scopes.append(next)
          next = Scope()
        case UInt8(ascii: "}"):
          guard let scope = scopes.popLast() else { continue }
          next = Scope()
          if scope.parentheses > 0 {
            parentheses = scope.parentheses
            next = outer.removeLast()
          }
          switch scope.kind {
          case "class": classes.append(Class(name: scope.name, properties: scope.properties))
          case "func", "init", "deinit", "subscript":
            functions.append(Function(name: scope.name, lines: number - scope.firstLine + 1))
          default: break
          }
        default: break
        }
      }
    }
  }

  /// Returns whether a variable is stored: it has a value, observers, or nothing.
  ///
  /// - Parameters:
  ///   - rest: The declaration after `var`.
  ///   - lines: The line and those after it.
  private static func isStored(_ rest: Substring, _ lines: ArraySlice<Substring>) -> Bool {
    var rest = String(rest)
    var lines = lines.dropFirst()
    while let line = lines.first?.drop(while: { $0 == " " }),
      rest.last.map({ ":,<(&".contains($0) }) == true || rest.hasSuffix("->") || line.first == "{"
    {
      rest += " " + line
      lines = lines.dropFirst()
    }
    guard let place = rest.firstIndex(where: { $0 == "{" || $0 == "=" }), rest[place] == "{" else {
      return true
    }
    let body = (rest[place...].dropFirst() + " " + (lines.first ?? "")).drop { $0 == " " }
    return body.hasPrefix("didSet") || body.hasPrefix("willSet")
  }

  /// Returns the number of names that a declaration binds: more than one in a tuple.
  private static func count(_ rest: Substring) -> Int {
    guard rest.first == "(" else { return 1 }
    return rest.prefix { $0 != ")" }.count { $0 == "," } + 1
  }
}

/// The text of a Swift file.
enum SwiftText {
  private enum State: Equatable {
    case string(pounds: Int, quotes: Int)
    /// The parentheses that are open in an interpolation.
    case interpolation(Int)
  }

  /// Returns a text without comments and the content of strings; its lines stay.
  static func code(of text: String) -> String {
    var code = ""
    var states: [State] = []
    var isComment = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let isPlain = !line.utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "*") }
      if states.isEmpty, !isComment, isPlain {
        code += line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
      } else {
        code += Self.code(of: Array(line.utf8), &states, &isComment)
      }
      code += "\n"
    }
    return code
  }

  /// Returns a line without comments and the content of strings.
  private static func code(
    of line: [UInt8], _ states: inout [State], _ isComment: inout Bool
  ) -> String {
    var code: [UInt8] = []
    var i = 0
    func has(_ text: StaticString, at index: Int) -> Bool {
      text.withUTF8Buffer { line[min(index, line.count)...].starts(with: $0) }
    }
    func pounds(at index: Int) -> Int {
      line[min(index, line.count)...].prefix { $0 == UInt8(ascii: "#") }.count
    }
    while i < line.count {
      if isComment {
        isComment = !has("*/", at: i)
        i += isComment ? 1 : 2
      } else if case .string(let count, let quotes)? = states.last {
        if has("\\", at: i), pounds(at: i + 1) >= count {
          i += 1 + count
          if has("(", at: i) { states.append(.interpolation(0)) }
          i += 1
        } else if has(quotes == 3 ? "\"\"\"" : "\"", at: i), pounds(at: i + quotes) >= count {
          states.removeLast()
          i += quotes + count
        } else {
          i += 1
        }
      } else if has("//", at: i) {
        break
      } else if has("/*", at: i) {
        isComment = true
        i += 2
      } else if case let count = pounds(at: i), has("\"", at: i + count) {
        let quotes = has("\"\"\"", at: i + count) ? 3 : 1
        states.append(.string(pounds: count, quotes: quotes))
        i += count + quotes
      } else {
        if case .interpolation(let open)? = states.last {
          let more = has("(", at: i) ? 1 : has(")", at: i) ? -1 : 0
          states.removeLast()
          if open + more >= 0 { states.append(.interpolation(open + more)) }
        } else {
          code.append(line[i])
        }
        i += 1
      }
    }
    return String(decoding: code, as: UTF8.self)
  }
}
