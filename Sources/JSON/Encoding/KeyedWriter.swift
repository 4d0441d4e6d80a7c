/// The members of one object that is being written.
struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let target: EncodingTarget
  let level: Int
  let codingPath: [any CodingKey]

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
    try target.append(value, codingPath + [key])
  }

  func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type, forKey key: Key
  ) -> KeyedEncodingContainer<K> {
    encoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    target.separate(level, named: "super")
    return ValueEncoder(target: target, codingPath: codingPath)
  }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

  private func encoder(_ key: Key) -> ValueEncoder {
    member(key)
    return ValueEncoder(target: target, codingPath: codingPath + [key])
  }

  private func integer(_ value: some BinaryInteger, _ key: Key) {
    member(key)
    target.append(integer: value)
  }

  @inline(__always)
  private func member(_ key: Key) { target.separate(level, named: key.stringValue) }
}
