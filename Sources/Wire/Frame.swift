public import JSON

/// The lines that the daemon sends.
public enum Frame {
  /// Appends the answer to a request; the body appends the result.
  @inlinable
  @inline(__always)
  public static func result(
    _ id: RequestID, _ buffer: inout ByteBuffer, _ write: (inout ByteBuffer) -> Void
  ) {
    begin(id, &buffer)
    buffer.append(#","result":"#)
    write(&buffer)
    end(&buffer)
  }

  /// Appends an error answer to a request.
  public static func error(_ error: WireError, _ id: RequestID, _ buffer: inout ByteBuffer) {
    begin(id, &buffer)
    buffer.member("error", error)
    end(&buffer)
  }

  /// Appends an error answer of another daemon to a request.
  public static func error(_ error: JSONText, _ id: RequestID, _ buffer: inout ByteBuffer) {
    begin(id, &buffer)
    buffer.append(#","error":"#)
    buffer.append(error.text)
    end(&buffer)
  }

  /// Begins an answer to a request; the caller appends the member `result` and calls ``end(_:)``.
  @usableFromInline
  package static func begin(_ id: RequestID, _ buffer: inout ByteBuffer) {
    buffer.append(#"{"jsonrpc":"2.0","id":"#)
    id.write(to: &buffer)
  }

  /// Returns the identifier of an answer that ``begin(_:_:)`` began.
  package static func id(ofAnswer line: Span<UInt8>) -> RequestID {
    let start = #"{"jsonrpc":"2.0","id":"#.utf8.count
    var scanner = JSONScanner(line, at: start)
    guard (try? scanner.value()) != nil else { return .null }
    return RequestID(scanned: start..<scanner.position, of: line)
  }

  /// Ends an answer.
  @usableFromInline
  package static func end(_ buffer: inout ByteBuffer) {
    buffer.append("}\n")
  }

  /// Appends a notification; the body appends the members of `params`.
  @inlinable
  @inline(__always)
  public static func notification(
    _ method: StaticString, _ buffer: inout ByteBuffer, _ params: (inout ByteBuffer) -> Void
  ) {
    beginNotification(method, &buffer)
    params(&buffer)
    endParams(&buffer)
  }

  /// Begins a notification; the caller appends the members of `params` and calls
  /// ``endParams(_:)``.
  public static func beginNotification(_ method: StaticString, _ buffer: inout ByteBuffer) {
    buffer.append(#"{"jsonrpc":"2.0","method":""#)
    buffer.append(method)
    buffer.append(#"","params":{"#)
  }

  /// Ends a notification.
  @inline(__always)
  public static func endParams(_ buffer: inout ByteBuffer) {
    buffer.append("}}\n")
  }
}

// Members with types of the protocol.
extension ByteBuffer {
  /// Appends a handle as a member; nothing if it is `nil`.
  public mutating func member(_ name: StaticString, _ handle: Handle?) {
    switch handle {
    case .name(let text)?: member(name, text)
    case .number(let number)?: member(name, number)
    case nil: break
    }
  }

  /// Appends a time as a member; nothing if it is `nil`.
  public mutating func member(_ name: StaticString, _ time: Timestamp?) {
    guard let time else { return }
    key(name)
    append(UInt8(ascii: "\""))
    time.write(to: &self)
    append(UInt8(ascii: "\""))
  }

  /// Appends an error as a member; nothing if it is `nil`.
  public mutating func member(_ name: StaticString, _ error: WireError?) {
    guard let error else { return }
    key(name)
    error.write(to: &self)
  }
}
