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
  func decode(_: Float.Type) throws -> Float { try source.float(place, at: codingPath) }
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
    try unsafe object.source.float(try place(key, "number"), at: codingPath + [key])
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

/// The elements of one array, in order.
struct UnkeyedReader: UnkeyedDecodingContainer {
  let source: DecodingSource
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  private let places: [DecodingSource.Place]

  init(
    _ source: DecodingSource, _ place: DecodingSource.Place, _ codingPath: [any CodingKey]
  ) throws {
    guard place.kind == .array else { throw source.mismatch("array", place, codingPath) }
    var places: [DecodingSource.Place] = []
    try source.bytes.scanned(from: place.start) { scanner throws(JSONFault) in
      var more = try scanner.enterArray()
      while more, places.count <= source.maxElements {
        places.append(try DecodingSource.Place(passing: &scanner))
        more = try scanner.nextElement()
      }
    }
    guard places.count <= source.maxElements else {
      throw JSONDecodingError(
        at: codingPath, expected: "at most \(source.maxElements) elements", got: "more")
    }
    self.source = source
    self.codingPath = codingPath
    self.places = places
  }

  var count: Int? { places.count }
  var isAtEnd: Bool { currentIndex == places.count }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, places[currentIndex].kind == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode(_: Bool.Type) throws -> Bool { try next { try $0.decode(Bool.self) } }
  mutating func decode(_: String.Type) throws -> String { try next { try $0.decode(String.self) } }
  mutating func decode(_: Double.Type) throws -> Double { try next { try $0.decode(Double.self) } }
  mutating func decode(_: Float.Type) throws -> Float { try next { try $0.decode(Float.self) } }
  mutating func decode(_ type: Int.Type) throws -> Int { try next { try $0.decode(type) } }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try next { try $0.decode(type) } }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try next { try $0.decode(type) } }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try next { try $0.decode(type) } }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try next { try $0.decode(type) } }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try next { try $0.decode(type) } }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next { try $0.decode(type) } }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next { try $0.decode(type) } }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next { try $0.decode(type) } }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next { try $0.decode(type) } }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try next { try $0.decode(type) }
  }

  mutating func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type
  ) throws -> KeyedDecodingContainer<K> {
    try next { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next { $0 } }

  /// Decodes the next element.
  ///
  /// Advances only on success, as the standard library requires.
  private mutating func next<T>(_ body: (ValueDecoder) throws -> T) throws -> T {
    let path = codingPath + [JSON.Key(intValue: currentIndex)]
    guard !isAtEnd else {
      throw JSONDecodingError(at: path, expected: "another element", got: "the end")
    }
    let value = try body(
      ValueDecoder(source: source, place: places[currentIndex], codingPath: path))
    currentIndex += 1
    return value
  }
}
