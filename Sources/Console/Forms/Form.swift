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
package struct Template: Equatable, Sendable {
  private enum Part: Equatable {
    case text(String)
    case member([String])
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
        parts.append(.member(rest[..<end].split(separator: ".").map(String.init)))
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

  /// Returns the text with the members of a result; missing members are empty.
  ///
  /// - Parameter shown: Converts the text of a member; the template's own text is not changed.
  package func render(_ object: JSONObject, _ shown: (String) -> String = { $0 }) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .member(let path): shown(Self.member(path, of: .object(object))?.bare ?? "")
      }
    }.joined()
  }

  /// Returns the error for a member that no result has, with the available names; otherwise `nil`.
  ///
  /// Members of values and of event data are free and not checked. Optional members are known.
  package func fault(in document: JSONObject) -> String? {
    for case .member(let path) in parts {
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
