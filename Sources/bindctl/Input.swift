import Console
import Facts
import Glibc
import JSON

extension Context {
  /// Reads a value from the command line: `-` is stdin, `@FILE` a file.
  ///
  /// The text is parsed as JSON if it is valid, and otherwise taken as a string; `-s` always takes
  /// it as a string.
  func value(_ word: String) throws -> JSONText {
    var text = word
    if word == "-" {
      text = try textOfStandardInput()
    } else if word.hasPrefix("@") {
      text = try bindctl.text(of: String(word.dropFirst()))
    }
    return invocation.has("string") ? JSONText(string: text) : JSONText(typed: text)
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

/// Reads stdin, without one line end at its end.
func textOfStandardInput() throws -> String { try text(of: STDIN_FILENO, "stdin") }

/// A limit above the size of any request, in bytes.
private let maxInputBytes = 64 << 20

/// Reads a descriptor to its end, without one line end at its end.
///
/// - Throws: ``Failure``, also if the input exceeds the limit, as that of `/dev/zero` does.
private func text(of descriptor: CInt, _ name: String) throws -> String {
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
  if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
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
    guard word[..<equals].last == ":" else {
      self[String(word[..<equals])] = .string(text)
      return
    }
    do throws(JSONFault) {
      self[String(word[..<equals].dropLast())] = try JSONValue(parsing: text)
    } catch {
      throw UsageError("'\(text)' in '\(word)' is not JSON: \(error)", command: command)
    }
  }
}
