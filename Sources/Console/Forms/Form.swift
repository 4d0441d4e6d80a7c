package import JSON

/// The output format of results.
package enum Form: Equatable, Sendable {
  /// For people: tables, and colours on a terminal.
  case human
  /// One JSON document per line, with the members of the protocol.
  case json
  /// The bare value.
  case raw
  case template(Template)

  /// Reads the format from the common options.
  package init(_ invocation: Invocation) throws(UsageError) {
    let chosen = ["json", "raw", "format"].filter { invocation.has($0) }
    guard chosen.count < 2 else {
      throw UsageError("--\(chosen[0]) and --\(chosen[1]) cannot be used together")
    }
    if let format = invocation.value("format") {
      self = .template(try Template(format))
    } else {
      self = invocation.has("json") ? .json : invocation.has("raw") ? .raw : .human
    }
  }

  /// The options that select the format.
  package static let options = [
    Option("json", letter: "j", "one JSON document per line, with the members of the protocol"),
    Option("raw", letter: "r", "only the value; strings without quotes"),
    Option(
      "format", letter: "F", value: "TEXT",
      "TEXT with {member} filled in, for example '{source}={value}'"),
  ]
}

/// The argument of `-F`: text with `{member}` placeholders for members of the result.
///
/// `{event.type}` is a nested member, `{{` a brace, `\n` and `\t` a line end and a tab.
/// `{value:json}` is the member as JSON; ``Quoting`` has the other forms.
package struct Template: Equatable, Sendable {
  /// The way in which the text of a member is written.
  private enum Quoting: String {
    /// On one line: control characters are written as in JSON, and so is the backslash of a text. Without
    /// a name.
    case line = ""
    /// As JSON.
    case json
    /// As a JSON string, also a number.
    case string
    /// As one word of a shell.
    case sh
    /// As it is, also with line ends.
    case raw
  }

  private enum Part: Equatable {
    case text(String)
    case member([String], Quoting)
  }

  private let parts: [Part]

  package init(_ text: String) throws(UsageError) {
    var parts: [Part] = []
    var plain = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}":
        rest.removeFirst()
        plain.append(character)
      case "{":
        guard let end = rest.firstIndex(of: "}") else {
          throw UsageError("the format '\(text)' has a '{' without its '}'; a brace is '{{'")
        }
        parts.append(.text(plain))
        plain = ""
        parts.append(Self.member(rest[..<end]))
        rest = rest[end...].dropFirst()
      case "\\":
        switch rest.popFirst() {
        case "n": plain.append("\n")
        case "t": plain.append("\t")
        case let other?: plain.append(other)
        case nil: plain.append("\\")
        }
      default: plain.append(character)
      }
    }
    self.parts = parts + [.text(plain)]
  }

  /// Parses the inside of a placeholder: a path, and a form after a colon.
  ///
  /// Names of members may contain colons, so another word belongs to the path.
  private static func member(_ text: Substring) -> Part {
    var path = text
    var quoting = Quoting.line
    if let colon = text.lastIndex(of: ":"),
      let named = Quoting(rawValue: String(text[text.index(after: colon)...])), named != .line
    {
      (path, quoting) = (text[..<colon], named)
    }
    return .member(path.split(separator: ".").map(String.init), quoting)
  }

  /// Returns the text with the members of a result; missing members are empty, and `null` as JSON.
  ///
  /// - Parameter shown: Converts the text of a member; the template's own text is not changed.
  package func render(_ object: JSONObject, _ shown: (String) -> String = { $0 }) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .member(let path, let quoting):
        shown(Self.text(of: Self.member(path, of: .object(object)), quoting))
      }
    }.joined()
  }

  private static func text(of member: JSONValue?, _ quoting: Quoting) -> String {
    let bare = member?.bare ?? ""
    return switch quoting {
    case .line:
      // JSON has its backslashes already.
      if case .string(let text)? = member {
        text.replacing("\\", with: "\\\\").onOneLine
      } else {
        bare.onOneLine
      }
    case .json: (member ?? .null).text.text
    case .string: JSONValue.string(bare).text.text
    case .sh: "'" + bare.replacing("'", with: #"'\''"#) + "'"
    case .raw: bare
    }
  }

  /// Returns the error for a member that no result has, with the available names; otherwise `nil`.
  ///
  /// Members of values and of event data are free and not checked. Optional members are known.
  package func fault(in document: JSONObject) -> String? {
    for case .member(let path, _) in parts {
      var object = document
      for (i, name) in path.enumerated() {
        guard let member = object[name] else {
          if Self.optional.contains(name) { break }
          let outer = path.prefix(i).map { $0 + "." }.joined()
          let names = object.members.map { outer + $0.name }.joined(separator: ", ")
          return "no member '\(outer)\(name)' (there are: \(names))"
        }
        guard !Self.free.contains(name), case .object(let next) = member else { break }
        object = next
      }
    }
    return nil
  }

  /// Members whose own members are arbitrary.
  private static let free: Set = ["value", "values", "data", "before", "after", "meta", "props"]

  /// Members that a result may lack.
  private static let optional: Set = [
    "after", "before", "binderd", "clock_ahead_s", "cmd", "column", "compaction", "error",
    "failure",
    "file", "gone", "kind", "line", "meta", "more", "path", "replayed", "reason", "retention",
    "role",
    "seq", "skipped", "source", "state", "time", "value", "values", "version",
  ]

  private static func member(_ path: [String], of value: JSONValue) -> JSONValue? {
    path.reduce(value) { value, name in
      guard case .object(let object)? = value else { return nil }
      return object[name]
    }
  }
}

extension JSONValue {
  /// The value as shell programs expect it: a string without its quotes.
  package var bare: String {
    if case .string(let string) = self { return string }
    return text.text
  }
}
