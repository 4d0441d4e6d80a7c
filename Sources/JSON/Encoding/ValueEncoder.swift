/// A standard library encoder that writes one value.
///
/// It and its containers know no path: no error names one, and a path costs more than a value.
struct ValueEncoder: Encoder, SingleValueEncodingContainer {
  let target: EncodingTarget

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<K: CodingKey>(keyedBy type: K.Type) -> KeyedEncodingContainer<K> {
    target.openObject(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    let level = target.open(UInt8(ascii: "["), UInt8(ascii: "]"))
    return UnkeyedWriter(target: target, level: level)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { target.appendNull() }
  func encode(_ value: Bool) { target.append(value) }
  func encode(_ value: String) { target.append(value) }
  func encode(_ value: Double) throws { try target.append(double: value) }
  func encode(_ value: Float) throws { try target.append(double: Double(value)) }
  func encode(_ value: Int) { target.append(integer: value) }
  func encode(_ value: Int8) { target.append(integer: value) }
  func encode(_ value: Int16) { target.append(integer: value) }
  func encode(_ value: Int32) { target.append(integer: value) }
  func encode(_ value: Int64) { target.append(integer: value) }
  func encode(_ value: UInt) { target.append(integer: value) }
  func encode(_ value: UInt8) { target.append(integer: value) }
  func encode(_ value: UInt16) { target.append(integer: value) }
  func encode(_ value: UInt32) { target.append(integer: value) }
  func encode(_ value: UInt64) { target.append(integer: value) }
  func encode<T: Encodable>(_ value: T) throws { try target.append(value) }
}

/// The members of one object that is being written.
struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let target: EncodingTarget
  let level: Int
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) {
    member(key)
    target.appendNull()
  }

  func encode(_ value: Bool, forKey key: Key) {
    member(key)
    target.append(value)
  }

  func encode(_ value: String, forKey key: Key) {
    member(key)
    target.append(value)
  }

  func encode(_ value: Double, forKey key: Key) throws {
    member(key)
    try target.append(double: value)
  }

  func encode(_ value: Float, forKey key: Key) throws { try encode(Double(value), forKey: key) }
  func encode(_ value: Int, forKey key: Key) { integer(value, key) }
  func encode(_ value: Int8, forKey key: Key) { integer(value, key) }
  func encode(_ value: Int16, forKey key: Key) { integer(value, key) }
  func encode(_ value: Int32, forKey key: Key) { integer(value, key) }
  func encode(_ value: Int64, forKey key: Key) { integer(value, key) }
  func encode(_ value: UInt, forKey key: Key) { integer(value, key) }
  func encode(_ value: UInt8, forKey key: Key) { integer(value, key) }
  func encode(_ value: UInt16, forKey key: Key) { integer(value, key) }
  func encode(_ value: UInt32, forKey key: Key) { integer(value, key) }
  func encode(_ value: UInt64, forKey key: Key) { integer(value, key) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    member(key)
    try target.append(value)
  }

  func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type, forKey key: Key
  ) -> KeyedEncodingContainer<K> {
    member(key)
    return target.openObject(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    target.separate(level, named: "super")
    return ValueEncoder(target: target)
  }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

  private func encoder(_ key: Key) -> ValueEncoder {
    member(key)
    return ValueEncoder(target: target)
  }

  private func integer(_ value: some BinaryInteger, _ key: Key) {
    member(key)
    target.append(integer: value)
  }

  @inline(__always)
  private func member(_ key: Key) { target.separate(level, named: key.stringValue) }
}

/// The elements of one array that is being written.
struct UnkeyedWriter: UnkeyedEncodingContainer {
  let target: EncodingTarget
  let level: Int
  private(set) var count = 0
  var codingPath: [any CodingKey] { [] }

  init(target: EncodingTarget, level: Int) {
    self.target = target
    self.level = level
  }

  mutating func encodeNil() {
    element()
    target.appendNull()
  }

  mutating func encode(_ value: Bool) {
    element()
    target.append(value)
  }

  mutating func encode(_ value: String) {
    element()
    target.append(value)
  }

  mutating func encode(_ value: Double) throws {
    element()
    try target.append(double: value)
  }

  mutating func encode(_ value: Float) throws { try encode(Double(value)) }
  mutating func encode(_ value: Int) { integer(value) }
  mutating func encode(_ value: Int8) { integer(value) }
  mutating func encode(_ value: Int16) { integer(value) }
  mutating func encode(_ value: Int32) { integer(value) }
  mutating func encode(_ value: Int64) { integer(value) }
  mutating func encode(_ value: UInt) { integer(value) }
  mutating func encode(_ value: UInt8) { integer(value) }
  mutating func encode(_ value: UInt16) { integer(value) }
  mutating func encode(_ value: UInt32) { integer(value) }
  mutating func encode(_ value: UInt64) { integer(value) }

  mutating func encode<T: Encodable>(_ value: T) throws {
    element()
    try target.append(value)
  }

  mutating func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type
  ) -> KeyedEncodingContainer<K> {
    element()
    return target.openObject(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    superValue().unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { superValue() }

  private mutating func superValue() -> ValueEncoder {
    element()
    return ValueEncoder(target: target)
  }

  private mutating func integer(_ value: some BinaryInteger) {
    element()
    target.append(integer: value)
  }

  private mutating func element() {
    target.separate(level)
    count += 1
  }
}
