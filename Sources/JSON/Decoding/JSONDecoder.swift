/// Makes `Decodable` values from JSON texts that a ``JSONScanner`` has accepted.
///
/// A decoder keeps its memory from one text to the next, so make one and use it again. It is
/// confined to a thread and not reentrant: an `init(from:)` does not call the decoder it runs in.
public final class JSONDecoder {
  /// What becomes of members that the decoded type does not ask for.
  public enum UnknownMembers: Sendable {
    /// They are passed over: texts of a newer version read as well as they can.
    case ignored
    /// They are an error: a typing mistake must not pass.
    case refused
  }

  private let source = DecodingSource()

  /// A decoder.
  public init() {}

  /// Decodes a whole text.
  ///
  /// - Parameter text: One scanned value.
  /// - Throws: ``JSONDecodingError`` for the first thing that is not as expected.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from text: Span<UInt8>,
    unknownMembers: UnknownMembers = .refused
  ) throws(JSONDecodingError) -> Value {
    source.load(text)
    return try decode(type, unknownMembers)
  }

  /// Decodes a whole text.
  ///
  /// - Throws: ``JSONDecodingError`` for the first thing that is not as expected.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from text: JSONText,
    unknownMembers: UnknownMembers = .refused
  ) throws(JSONDecodingError) -> Value {
    try decode(type, from: text.text.utf8.span, unknownMembers: unknownMembers)
  }

  /// Decodes an object of which one member belongs to somebody else.
  ///
  /// - Parameter other: The name of that member; see ``decodeMember(_:)``.
  /// - Throws: ``JSONDecodingError`` for the first thing that is not as expected.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from text: Span<UInt8>, beside other: String,
    unknownMembers: UnknownMembers = .refused
  ) throws(JSONDecodingError) -> Value {
    source.load(text)
    source.otherMember = other
    return try decode(type, unknownMembers)
  }

  /// Decodes the member that belonged to somebody else, in the text that was decoded last.
  ///
  /// - Returns: `nil` when there is none. What the type does not ask for is passed over.
  /// - Throws: ``JSONDecodingError`` for the first thing that is not as expected.
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

  /// Decodes an object from the elements of an array: the first is the member `names[0]`.
  ///
  /// - Throws: ``JSONDecodingError``, also when there are more elements than names.
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
  /// What a hand-written `init(from:)` reports in the standard library's words.
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
