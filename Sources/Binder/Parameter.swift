internal import API
internal import JSON

/// A parameter of a method or of a view.
///
/// Its type comes from the function that gets it. An optional type, or a default, makes a parameter
/// that may be left out.
public struct Parameter<Value: Decodable> {
  /// The name of the member in `params`.
  public let name: String

  /// A line for people; empty if the name says it all.
  public let doc: String
  private let fallback: Value?

  /// The reasons with which a method that has the parameter may reject; see ``user(_:_:rejects:)``.
  private(set) var reasons: [String] = []

  /// Whether the parameter names the user in whose name a method acts.
  private(set) var isUser = false
  private let read: (JSONText, JSONDecoder) throws(JSONDecodingError) -> Value

  /// Creates a parameter.
  ///
  /// - Parameters:
  ///   - name: The name of the member in `params`.
  ///   - doc: A line for people, which `describe` and forms show.
  ///   - fallback: The value if the parameter is left out; without it, only parameters of an optional
  ///     type may be left out.
  public init(_ name: String, _ doc: String = "", default fallback: Value? = nil) {
    (self.name, self.doc) = (name, doc)
    self.fallback = fallback ?? (Value.self as? any OptionalValue.Type)?.absent as? Value
    if Value.self == String.self {
      read = { text, decoder throws(JSONDecodingError) in
        if case .string(let string) = text.value, let value = string as? Value { return value }
        return try decoder.decode(from: text)
      }
    } else if Value.self == Int.self {
      read = { text, decoder throws(JSONDecodingError) in
        if let value = Int(text.text) as? Value { return value }
        return try decoder.decode(from: text)
      }
    } else {
      read = { text, decoder throws(JSONDecodingError) in try decoder.decode(from: text) }
    }
  }

  /// Returns a parameter that names the user in whose name a method acts; left out: the one who is
  /// logged in.
  ///
  /// The same `_meta.cmd` of a client that is logged in as another user is another call.
  ///
  ///     let user = Parameter.user("as", "One of your names.", rejects: "not_logged_in")
  ///
  /// - Parameter reasons: The reasons with which each method with the parameter may reject, besides its
  ///   own.
  public static func user(
    _ name: String, _ doc: String = "", rejects reasons: String...
  ) -> Parameter where Value == String? {
    var parameter = Parameter(name, doc)
    (parameter.reasons, parameter.isUser) = (reasons, true)
    return parameter
  }

  /// The parameter as the catalogue describes it.
  var described: API.Method.Parameter {
    let wrapped = (Value.self as? any OptionalValue.Type)?.wrapped ?? Value.self
    return API.Method.Parameter(
      name: name, shape: shape(of: wrapped), isOptional: fallback != nil,
      doc: doc.isEmpty ? nil : doc)
  }

  /// Returns the value of the member of an object.
  func value(in object: JSONText, _ decoder: JSONDecoder) throws(JSONDecodingError) -> Value {
    try value(of: object.members?[name], decoder)
  }

  /// Returns the value of a text; `nil` is a parameter that was left out.
  func value(of text: JSONText?, _ decoder: JSONDecoder) throws(JSONDecodingError) -> Value {
    if let text {
      guard text.text != "null" || fallback == nil else { return try absent }
      do throws(JSONDecodingError) {
        return try read(text, decoder)
      } catch {
        throw error.below("/" + name)
      }
    }
    return try absent
  }

  private var absent: Value {
    get throws(JSONDecodingError) {
      guard let fallback else {
        throw JSONDecodingError(
          member: name, of: "", expected: shape(of: Value.self).name, got: "nothing")
      }
      return fallback
    }
  }
}

/// An optional type of a parameter.
fileprivate protocol OptionalValue {
  static var wrapped: any Decodable.Type { get }
  static var absent: Any { get }
}

extension Optional: OptionalValue where Wrapped: Decodable {
  fileprivate static var wrapped: any Decodable.Type { Wrapped.self }
  fileprivate static var absent: Any { Self.none as Any }
}

private func shape<Value: Decodable>(of type: Value.Type) -> Shape { Shape(of: type) }
