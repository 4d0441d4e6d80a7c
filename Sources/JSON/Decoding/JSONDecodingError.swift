/// A valid JSON text that is not what was expected, and where.
public struct JSONDecodingError: Error, Equatable, Sendable {
  /// The JSON Pointer (RFC 6901) of the value; empty is the whole text.
  public let path: String

  /// What should be there, for example `"integer"`.
  public let expected: String

  /// What is there, for example `"string"`; never the value itself.
  public let got: String

  /// A mismatch at a path.
  public init(path: String, expected: String, got: String) {
    self.path = path
    self.expected = expected
    self.got = got
  }

  /// The same, of a text that stands at a path of another.
  public func below(_ path: String) -> JSONDecodingError {
    JSONDecodingError(path: path + self.path, expected: expected, got: got)
  }

  /// A mismatch at the end of a coding path.
  init(at codingPath: [any CodingKey], expected: String, got: String) {
    let path = codingPath.map { "/" + pointerToken($0.stringValue) }.joined()
    self.init(path: path, expected: expected, got: got)
  }
}

/// A member name as a part of a JSON Pointer.
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
  /// One sentence for people.
  public var description: String {
    "expected \(expected)\(path.isEmpty ? "" : " at \(path)"), got \(got)"
  }
}
