/// `Codable` conformances of this module's types.
///
/// The coders of this module copy their text unchanged; other coders throw an error.

extension JSONText: Codable {
  /// Reads the text of any value; requires ``JSONDecoder``.
  public init(from decoder: any Decoder) throws {
    self = try decoder.jsonText()
  }

  /// Writes the text unchanged; requires ``JSONEncoder``.
  public func encode(to encoder: any Encoder) throws {
    try encoder.passOn(self)
  }
}

extension JSONNumber: Codable {
  /// Reads a number with every digit; requires ``JSONDecoder``.
  public init(from decoder: any Decoder) throws {
    self = try decoder.singleValueContainer().decode(JSONNumber.self)
  }

  /// Writes the number with every digit; requires ``JSONEncoder``.
  public func encode(to encoder: any Encoder) throws {
    try encoder.passOn(self)
  }
}

extension JSONValue: Codable {
  /// Parses any value; requires ``JSONDecoder``.
  public init(from decoder: any Decoder) throws {
    self = try decoder.jsonText().value
  }

  /// Writes the value; requires ``JSONEncoder``.
  public func encode(to encoder: any Encoder) throws {
    try encoder.passOn(self)
  }
}

extension Decoder {
  fileprivate func jsonText() throws -> JSONText {
    guard let decoder = self as? ValueDecoder else { throw OtherCoder() }
    return decoder.source.text(decoder.place)
  }
}

extension Encoder {
  fileprivate func passOn(_ value: some Encodable) throws {
    guard let encoder = self as? ValueEncoder else { throw OtherCoder() }
    try encoder.target.append(value)
  }
}

private struct OtherCoder: Error, CustomStringConvertible {
  let description = "JSON texts pass through JSONDecoder and JSONEncoder only"
}
