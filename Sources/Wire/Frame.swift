public import JSON

/// The fixed parts of the lines that the daemon sends; what varies is written between them.
public enum Frame {
  /// Begins the answer to a request; its result follows, then ``end(_:)``.
  @inline(__always)
  public static func beginResult(_ id: RequestID, _ buffer: inout ByteBuffer) {
    buffer.append(#"{"jsonrpc":"2.0","id":"#)
    buffer.append(id.text)
    buffer.append(#","result":"#)
  }

  /// Ends what one of the others began.
  @inline(__always)
  public static func end(_ buffer: inout ByteBuffer) {
    buffer.append("}\n")
  }

  /// Writes the answer that refuses a request.
  public static func error(_ error: WireError, _ id: RequestID, _ buffer: inout ByteBuffer) {
    buffer.append(#"{"jsonrpc":"2.0","id":"#)
    buffer.append(id.text)
    buffer.append(#","error":"#)
    error.write(to: &buffer)
    buffer.append("}\n")
  }

  /// Begins a notification; the rest of its `params` follows, then ``endParams(_:)``.
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
