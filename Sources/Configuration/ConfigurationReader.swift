internal import JSON
internal import Model
internal import Wire

/// Reads values of a configuration file and collects all errors.
///
/// An invalid value is recorded and reads as `nil`, so that parsing continues.
final class ConfigurationReader {
  private let file: String
  private let text: ConfigurationText
  private(set) var faults: [ConfigurationFault] = []

  /// Possible mistakes that are not errors.
  private(set) var warnings: [ConfigurationFault] = []

  init(_ text: ConfigurationText, file: String) {
    self.text = text
    self.file = file
  }

  /// Returns the line of a value, counted from 1.
  func line(of node: ConfigurationValue) -> Int { text.place(of: node.offset).line }

  func fault(at offset: Int, _ message: String) -> ConfigurationFault {
    let place = text.place(of: offset)
    return ConfigurationFault(
      file: file, line: place.line, column: place.column, message: message)
  }

  func addFault(at offset: Int, _ message: String) {
    faults.append(fault(at: offset, message))
  }

  func warn(at offset: Int, _ message: String) {
    warnings.append(fault(at: offset, message))
  }

  /// Records an error for a value of the wrong type.
  private func addFault(_ node: ConfigurationValue, _ name: String, is expected: String) {
    addFault(at: node.offset, "\(name) is \(expected), not \(node.kind)")
  }

  // MARK: Objects and lists

  /// Returns the members of an object by name, and records unknown and duplicate names.
  func members(of node: ConfigurationValue, _ name: String, known: [String]) -> [String:
    ConfigurationValue]?
  {
    guard case .object(let members) = node.value else {
      addFault(node, name, is: "an object")
      return nil
    }
    var byName: [String: ConfigurationValue] = [:]
    for member in members {
      if !known.contains(member.name) {
        let guess = nearest(to: member.name, among: known)
        let rest =
          guess.map { "did you mean '\($0)'?" } ?? "it has \(known.joined(separator: ", "))"
        addFault(at: member.offset, "\(name) has no member '\(member.name.prefix(40))'; \(rest)")
      } else if byName[member.name] != nil {
        addFault(at: member.offset, "'\(member.name)' occurs twice in \(name)")
      } else {
        byName[member.name] = member.value
      }
    }
    return byName
  }

  func elements(of node: ConfigurationValue, _ name: String) -> [ConfigurationValue]? {
    guard case .array(let elements) = node.value else {
      addFault(node, name, is: "a list")
      return nil
    }
    return elements
  }

  // MARK: Values

  func string(_ node: ConfigurationValue, _ name: String) -> String? {
    guard case .string(let string) = node.value else {
      addFault(node, name, is: "a string")
      return nil
    }
    guard !string.isEmpty, !string.utf8.contains(0) else {
      addFault(at: node.offset, "\(name) must not be empty or contain NUL")
      return nil
    }
    return string
  }

  func path(_ node: ConfigurationValue, _ name: String, maxBytes: Int = .max) -> String? {
    guard let path = string(node, name) else { return nil }
    guard path.hasPrefix("/") else {
      addFault(node, name, is: "a path from the root, beginning with /")
      return nil
    }
    let bytes = path.utf8.count
    guard bytes <= maxBytes else {
      addFault(at: node.offset, "\(name) has at most \(maxBytes) bytes, this has \(bytes)")
      return nil
    }
    return path
  }

  func integer(_ node: ConfigurationValue, _ name: String, in range: ClosedRange<Int>) -> Int? {
    guard case .number(let integer?) = node.value, let value = Int(exactly: integer),
      range.contains(value)
    else {
      addFault(node, name, is: "an integer from \(range.lowerBound) to \(range.upperBound)")
      return nil
    }
    return value
  }

  func bool(_ node: ConfigurationValue, _ name: String) -> Bool? {
    guard case .bool(let bool) = node.value else {
      addFault(node, name, is: "true or false")
      return nil
    }
    return bool
  }

  /// Returns the meaning of a string, or records an error if it has none.
  func word<Meaning>(
    _ node: ConfigurationValue, _ name: String, _ expected: String, _ meaning: (String) -> Meaning?
  ) -> Meaning? {
    guard case .string(let text) = node.value, let meaning = meaning(text) else {
      addFault(node, name, is: expected)
      return nil
    }
    return meaning
  }

  func pattern(_ node: ConfigurationValue, _ name: String, separator: Unicode.Scalar) -> Pattern? {
    word(
      node, name,
      "a name or a pattern (* is one part between '\(separator)', ** at the end the rest)"
    ) { Pattern($0, separator: separator) }
  }
}
