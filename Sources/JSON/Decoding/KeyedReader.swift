/// The members of one object, by key.
struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let object: ObjectIndex

  var codingPath: [any CodingKey] { object.path }

  var allKeys: [Key] {
    object.members.indices.compactMap { Key(stringValue: object.name($0)) }
  }

  func contains(_ key: Key) -> Bool { find(key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try place(key).kind == .null }

  func decode(_: Bool.Type, forKey key: Key) throws -> Bool {
    try unsafe object.source.bool(try place(key), at: codingPath + [key])
  }

  func decode(_: String.Type, forKey key: Key) throws -> String {
    try unsafe object.source.string(try place(key, "string"), at: codingPath + [key])
  }

  func decode(_: Double.Type, forKey key: Key) throws -> Double {
    try unsafe object.source.double(try place(key, "number"), at: codingPath + [key])
  }

  func decode(_: Float.Type, forKey key: Key) throws -> Float {
    Float(try decode(Double.self, forKey: key))
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try unsafe object.source.value(type, in: try place(key), at: codingPath + [key])
  }

  func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<K> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    guard let key = Key(stringValue: "super") else {
      throw JSONDecodingError(at: codingPath, expected: "a member \"super\"", got: "none")
    }
    return try decoder(key)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: Key) throws -> ValueDecoder {
    unsafe ValueDecoder(
      source: object.source, place: try place(key), codingPath: codingPath + [key])
  }

  private func integer<I: FixedWidthInteger>(_ type: I.Type, _ key: Key) throws -> I {
    try unsafe object.source.integer(type, try place(key, "integer"), at: codingPath + [key])
  }

  private func find(_ key: Key) -> DecodingSource.Place? {
    object.find(key.stringValue)
  }

  private func place(_ key: Key, _ expected: String = "a value") throws -> DecodingSource.Place {
    guard let place = find(key) else {
      throw JSONDecodingError(at: codingPath + [key], expected: expected, got: "nothing")
    }
    return place
  }
}
