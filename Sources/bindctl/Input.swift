import Console
import Glibc
import JSON
import Model

extension Context {
  /// Reads a value from the command line: with `-s` the word itself, otherwise `-` is stdin and
  /// `@FILE` a file, and the text is JSON if it is valid.
  ///
  /// - Throws: ``UsageError`` for a text that begins as JSON and is none.
  func value(_ word: String) throws -> JSONText {
    try value(word, isText: invocation.has("string"))
  }

  /// Returns an operand as JSON.
  ///
  /// - Parameter isText: Whether it is a text as it is. Foreign text is never a file name.
  func value(_ word: String, isText: Bool) throws -> JSONText {
    if isText { return JSONText(string: word) }
    let command = invocation.command
    if word == "-" {
      return try .typed(textOfStandardInput(), named: "stdin", command: command)
    }
    guard word.hasPrefix("@") else { return try .typed(word, command: command) }
    let path = String(word.dropFirst())
    return try .typed(bindctl.text(of: path), named: "'\(path)'", command: command)
  }
}

extension JSONText {
  /// Returns a typed text as JSON if it is valid, otherwise as a string.
  ///
  /// - Parameter name: The name of the text for the message; `nil` for the text itself.
  /// - Throws: ``UsageError`` for a text that begins as JSON and is none.
  static func typed(
    _ text: String, named name: String? = nil, command: String?
  ) throws(UsageError) -> JSONText {
    guard ["{", "[", "\""].contains(text.first) else { return JSONText(typed: text) }
    do throws(JSONFault) {
      return try JSONText(parsing: text, maxMembers: JSONLimits.anyMembers)
    } catch {
      let advice = name == nil ? "-s sets it as text" : "-s \"$(cat FILE)\" sets a file as text"
      throw UsageError("\(name ?? "'\(text)'") is not JSON: \(error); \(advice)", command: command)
    }
  }
}

/// Reads a text file, without one line end at its end.
func text(of path: String) throws -> String {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else {
    throw Failure("'\(path)' cannot be read: \(String(cString: strerror(errno)))", .usage)
  }
  defer { close(file) }
  return try text(of: file, path)
}

/// Reads a text file as it is.
func wholeText(of path: String) throws -> String {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else {
    throw Failure("'\(path)' cannot be read: \(String(cString: strerror(errno)))", .usage)
  }
  defer { close(file) }
  return try wholeText(of: file, path)
}

/// Reads stdin, without one line end at its end.
func textOfStandardInput() throws -> String { try text(of: STDIN_FILENO, "stdin") }

/// A limit above the size of any request, in bytes.
private let maxInputBytes = 64 << 20

/// Reads a descriptor to its end, without one line end at its end.
private func text(of descriptor: CInt, _ name: String) throws -> String {
  var text = try wholeText(of: descriptor, name)
  if text.utf8.last == UInt8(ascii: "\n") { text.unicodeScalars.removeLast() }
  return text
}

/// Reads a descriptor to its end.
///
/// - Throws: ``Failure``, also if the input exceeds the limit, as that of `/dev/zero` does.
private func wholeText(of descriptor: CInt, _ name: String) throws -> String {
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(descriptor, &chunk, chunk.count)
    if count < 0, errno == EINTR { continue }
    guard count >= 0 else {
      throw Failure("\(name) cannot be read: \(String(cString: strerror(errno)))", .usage)
    }
    guard count > 0 else { break }
    bytes += chunk[..<count]
    guard bytes.count <= maxInputBytes else {
      throw Failure("\(name) is larger than 64 MiB; a value has at most 256 KiB", .usage)
    }
  }
  guard let text = String(validating: bytes, as: UTF8.self) else {
    throw Failure("\(name) is not UTF-8 text", .usage)
  }
  return text
}

extension JSONText {
  /// The members if the value is an object; otherwise empty.
  var object: JSONObject {
    guard case .object(let object) = value else { return [:] }
    return object
  }
}

extension JSONObject {
  /// Adds an argument of the form `name=text` or `name:=json`.
  mutating func add(word: String, command: String) throws(UsageError) {
    guard let equals = word.firstIndex(of: "=") else {
      throw UsageError(
        "the argument '\(word)' is neither name=text nor name:=json", command: command)
    }
    let text = String(word[word.index(after: equals)...])
    let isJSON = word[..<equals].last == ":"
    let name = String(isJSON ? word[..<equals].dropLast() : word[..<equals])
    guard self[name] == nil else {
      throw UsageError("the argument '\(name)' is given twice", command: command)
    }
    guard isJSON else {
      self[name] = .string(text)
      return
    }
    do throws(JSONFault) {
      self[name] = try JSONValue(parsing: text)
    } catch {
      throw UsageError("'\(text)' in '\(word)' is not JSON: \(error)", command: command)
    }
  }
}
