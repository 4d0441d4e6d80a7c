/// A standard library decoder for one value of the text.
struct ValueDecoder: Decoder {
  let source: DecodingSource
  let place: DecodingSource.Place
  let codingPath: [any CodingKey]

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
    let object = try source.object(place, at: codingPath)
    return KeyedDecodingContainer(KeyedReader(object: object))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try UnkeyedReader(source, place, codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { place.kind == .null }

  func decode(_: Bool.Type) throws -> Bool { try source.bool(place, at: codingPath) }
  func decode(_: String.Type) throws -> String { try source.string(place, at: codingPath) }
  func decode(_: Double.Type) throws -> Double { try source.double(place, at: codingPath) }
  func decode(_: Float.Type) throws -> Float { Float(try decode(Double.self)) }
  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try source.value(type, in: place, at: codingPath)
  }

  private func integer<I: FixedWidthInteger>(_ type: I.Type) throws -> I {
    try source.integer(type, place, at: codingPath)
  }
}
