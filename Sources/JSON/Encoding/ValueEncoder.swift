/// A standard library encoder that writes one value.
struct ValueEncoder: Encoder, SingleValueEncodingContainer {
  let target: EncodingTarget
  let codingPath: [any CodingKey]

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<K: CodingKey>(keyedBy type: K.Type) -> KeyedEncodingContainer<K> {
    let level = target.open(UInt8(ascii: "{"), UInt8(ascii: "}"))
    return KeyedEncodingContainer(
      KeyedWriter(target: target, level: level, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    let level = target.open(UInt8(ascii: "["), UInt8(ascii: "]"))
    return UnkeyedWriter(target: target, level: level, codingPath: codingPath)
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
  func encode<T: Encodable>(_ value: T) throws { try target.append(value, codingPath) }
}
