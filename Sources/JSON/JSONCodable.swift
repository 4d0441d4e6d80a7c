/// The types of this module within `Codable` ones: the coders of this module know them and pass
/// their text on as it is; other coders are refused.

extension JSONText: Codable {
  /// Taken over whole by ``JSONDecoder``.
  public init(from decoder: any Decoder) throws {
    self = try decoder.jsonText()
  }

  /// Passed on whole by ``JSONEncoder``.
  public func encode(to encoder: any Encoder) throws {
    try encoder.passOn(self)
  }
}

extension JSONNumber: Codable {
  /// Taken over with every digit by ``JSONDecoder``.
  public init(from decoder: any Decoder) throws {
    self = try decoder.singleValueContainer().decode(JSONNumber.self)
  }

  /// Passed on with every digit by ``JSONEncoder``.
  public func encode(to encoder: any Encoder) throws {
    try encoder.passOn(self)
  }
}

extension JSONValue: Codable {
  /// Taken apart by ``JSONDecoder``.
  public init(from decoder: any Decoder) throws {
    self = try decoder.jsonText().value
  }

  /// Written by ``JSONEncoder``.
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
    try encoder.target.append(value, codingPath)
  }
}

private struct OtherCoder: Error, CustomStringConvertible {
  let description = "JSON texts pass through JSONDecoder and JSONEncoder only"
}
