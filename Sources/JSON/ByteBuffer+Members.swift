/// Writes objects and arrays member by member.
///
/// The buffer keeps no state for this: a member needs a comma unless it follows `{`, `[` or a comma.
///
///     buffer.object {
///       $0.member("source", name)       // a string, an integer, a Bool or a ``JSONText``
///       $0.member("time", time)         // nothing, if it is `nil`
///       $0.array("values") { … }
///     }
///
/// No function allocates memory, except to grow the buffer.
extension ByteBuffer {
  /// Appends a comma, unless the buffer is empty or ends with `{`, `[` or a comma.
  @inline(__always)
  public mutating func separate() {
    guard let last else { return }
    switch last {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ","): break
    default: append(UInt8(ascii: ","))
    }
  }

  /// Begins a member whose name needs no escapes; the caller appends the value.
  @inline(__always)
  public mutating func key(_ name: StaticString) {
    reserve(name.utf8CodeUnitCount &+ 4)
    separate()
    append(UInt8(ascii: "\""))
    append(name)
    append(UInt8(ascii: "\""))
    append(UInt8(ascii: ":"))
  }

  /// Begins a member with any name; the caller appends the value.
  public mutating func key(quoted name: String) {
    separate()
    append(quoted: name)
    append(UInt8(ascii: ":"))
  }

  /// Appends a string as a member; nothing if it is `nil`.
  @inline(__always)
  public mutating func member(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    key(name)
    append(quoted: value)
  }

  /// Appends an integer as a member; nothing if it is `nil`.
  @inline(__always)
  public mutating func member(_ name: StaticString, _ value: (some BinaryInteger)?) {
    guard let value else { return }
    key(name)
    append(integer: value)
  }

  /// Appends `true` or `false` as a member; nothing if it is `nil`.
  @inline(__always)
  public mutating func member(_ name: StaticString, _ value: Bool?) {
    guard let value else { return }
    key(name)
    append(value ? "true" as StaticString : "false")
  }

  /// Appends any value as a member; nothing if it is `nil`.
  @inline(__always)
  public mutating func member(_ name: StaticString, _ value: JSONText?) {
    guard let value else { return }
    key(name)
    append(value.text)
  }

  /// Appends all members of an object, without its braces.
  public mutating func members(of object: JSONText) {
    separate()
    append(object.text.utf8.span.extracting(1..<object.text.utf8.count - 1))
  }

  /// Appends an object as a member.
  @inline(__always)
  public mutating func object(_ name: StaticString, _ body: (inout ByteBuffer) -> Void) {
    key(name)
    object(body)
  }

  /// Appends an object as a value.
  @inline(__always)
  public mutating func object(_ body: (inout ByteBuffer) -> Void) {
    append(UInt8(ascii: "{"))
    body(&self)
    append(UInt8(ascii: "}"))
  }

  /// Appends an array as a member; its body calls ``separate()`` before each element.
  @inline(__always)
  public mutating func array(_ name: StaticString, _ body: (inout ByteBuffer) -> Void) {
    key(name)
    append(UInt8(ascii: "["))
    body(&self)
    append(UInt8(ascii: "]"))
  }
}
