/// Decodes `Decodable` values from JSON texts that a ``JSONScanner`` has accepted.
///
/// Create one decoder and reuse it: it keeps its memory between texts. Use it on one thread only.
/// It is not reentrant, so an `init(from:)` must not call the decoder it runs in.
///
/// ```swift
/// let decoder = JSONDecoder()
/// let names: [String] = try decoder.decode(from: try JSONText(parsing: #"["a","b"]"#))
/// ```
public final class JSONDecoder {
  /// The handling of members that the decoded type does not read.
  public enum UnknownMembers: Sendable {
    /// Ignores unknown members, so that texts of newer versions can be read.
    case ignored
    /// Throws an error for unknown members, so that misspelled names are found.
    case refused
  }

  private let source = DecodingSource()

  /// Creates a decoder.
  ///
  /// - Parameter maxElements: The most elements of an array that is decoded element by element.
  public init(maxElements: Int = .max) { source.maxElements = maxElements }

  /// Decodes a whole text.
  ///
  /// - Parameter text: One scanned value.
  /// - Throws: ``JSONDecodingError`` for the first mismatch.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from text: Span<UInt8>,
    unknownMembers: UnknownMembers = .refused
  ) throws(JSONDecodingError) -> Value {
    source.load(text)
    return try decode(type, unknownMembers)
  }

  /// Decodes a whole text.
  ///
  /// - Throws: ``JSONDecodingError`` for the first mismatch.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from text: JSONText,
    unknownMembers: UnknownMembers = .refused
  ) throws(JSONDecodingError) -> Value {
    try decode(type, from: text.text.utf8.span, unknownMembers: unknownMembers)
  }

  /// Decodes an object, leaving out one member that is decoded separately.
  ///
  /// - Parameter other: The name of that member; see ``decodeMember(_:)``.
  /// - Throws: ``JSONDecodingError`` for the first mismatch.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from text: Span<UInt8>, beside other: String,
    unknownMembers: UnknownMembers = .refused
  ) throws(JSONDecodingError) -> Value {
    source.load(text)
    source.otherMember = other
    return try decode(type, unknownMembers)
  }

  /// Decodes the member that the last call of `decode(_:from:beside:unknownMembers:)` left out.
  ///
  /// Ignores unknown members.
  ///
  /// - Returns: The value, or `nil` if the text has no such member.
  /// - Throws: ``JSONDecodingError`` for the first mismatch.
  public func decodeMember<Value: Decodable>(
    _ type: Value.Type = Value.self
  ) throws(JSONDecodingError) -> Value? {
    guard let name = source.otherMember, let place = source.members?.find(name) else { return nil }
    do {
      return try source.value(type, in: place, at: [Key(stringValue: name)])
    } catch let error as JSONDecodingError {
      throw error
    } catch {
      throw JSONDecodingError(path: "/" + name, expected: "\(Value.self)", got: "\(error)")
    }
  }

  /// Decodes an object from the elements of an array: element 0 is the member `names[0]`.
  ///
  /// - Throws: ``JSONDecodingError`` for the first mismatch, or if there are more elements than
  ///   names.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, fromElementsOf text: Span<UInt8>, named names: [String]
  ) throws(JSONDecodingError) -> Value {
    source.load(text)
    source.names = names
    return try decode(type, .refused)
  }

  private func decode<Value: Decodable>(
    _ type: Value.Type, _ unknownMembers: UnknownMembers
  ) throws(JSONDecodingError) -> Value {
    do {
      let value = try source.value(type, in: source.whole, at: [])
      if unknownMembers == .refused { try source.checkUnknownMembers() }
      return value
    } catch let error as JSONDecodingError {
      throw error
    } catch let error as DecodingError {
      throw JSONDecodingError(error)
    } catch {
      throw JSONDecodingError(path: "", expected: "\(Value.self)", got: "\(error)")
    }
  }
}

extension JSONDecodingError {
  /// Converts an error that a hand-written `init(from:)` throws.
  fileprivate init(_ error: DecodingError) {
    switch error {
    case .typeMismatch(_, let context), .dataCorrupted(let context):
      self.init(at: context.codingPath, expected: context.debugDescription, got: "another value")
    case .valueNotFound(_, let context):
      self.init(at: context.codingPath, expected: context.debugDescription, got: "null")
    case .keyNotFound(let key, let context):
      self.init(at: context.codingPath + [key], expected: "a value", got: "nothing")
    @unknown default:
      self.init(path: "", expected: "another value", got: "\(error)")
    }
  }
}

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
