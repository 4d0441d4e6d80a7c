/// The elements of one array that is being written.
struct UnkeyedWriter: UnkeyedEncodingContainer {
  let target: EncodingTarget
  let level: Int
  let codingPath: [any CodingKey]
  private(set) var count = 0

  init(target: EncodingTarget, level: Int, codingPath: [any CodingKey]) {
    self.target = target
    self.level = level
    self.codingPath = codingPath
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
    try target.append(value, codingPath)
  }

  mutating func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type
  ) -> KeyedEncodingContainer<K> {
    superValue().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    superValue().unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { superValue() }

  private mutating func superValue() -> ValueEncoder {
    element()
    return ValueEncoder(target: target, codingPath: codingPath)
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
