/// A mismatch between a valid JSON text and the decoded type, with its path.
public struct JSONDecodingError: Error, Equatable, Sendable {
  /// The JSON Pointer (RFC 6901) of the value; empty for the whole text.
  public let path: String

  /// The expected type or value, for example `"integer"`.
  public let expected: String

  /// The kind of value found, for example `"string"`; never the value itself.
  public let got: String

  /// Creates an error at a path.
  public init(path: String, expected: String, got: String) {
    self.path = path
    self.expected = expected
    self.got = got
  }

  /// Creates an error at a member of the object at a path.
  public init(member name: String, of path: String, expected: String, got: String) {
    self.init(path: path + "/" + pointerToken(name), expected: expected, got: got)
  }

  /// Returns this error with its path prefixed by `path`, for a text nested in another.
  public func below(_ path: String) -> JSONDecodingError {
    JSONDecodingError(path: path + self.path, expected: expected, got: got)
  }

  /// Creates an error at the end of a coding path.
  init(at codingPath: [any CodingKey], expected: String, got: String) {
    let path = codingPath.map { "/" + pointerToken($0.stringValue) }.joined()
    self.init(path: path, expected: expected, got: got)
  }
}

/// Escapes a member name as a token of a JSON Pointer.
private func pointerToken(_ name: String) -> String {
  var token = ""
  for scalar in name.unicodeScalars {
    switch scalar {
    case "~": token += "~0"
    case "/": token += "~1"
    default: token.unicodeScalars.append(scalar)
    }
  }
  return token
}

extension JSONDecodingError: CustomStringConvertible {
  /// A one-sentence message for people.
  public var description: String {
    "expected \(expected)\(path.isEmpty ? "" : " at \(path)"), got \(got)"
  }
}
