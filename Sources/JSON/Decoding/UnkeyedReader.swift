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
      while more {
        places.append(try DecodingSource.Place(passing: &scanner))
        more = try scanner.nextElement()
      }
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
