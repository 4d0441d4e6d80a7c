public import JSON

/// The fixed parts of the lines that the daemon sends.
public enum Frame {
  /// Begins the answer to a request; the caller appends the result and calls ``end(_:)``.
  @inline(__always)
  public static func beginResult(_ id: RequestID, _ buffer: inout ByteBuffer) {
    buffer.append(#"{"jsonrpc":"2.0","id":"#)
    buffer.append(id.text)
    buffer.append(#","result":"#)
  }

  /// Ends an answer.
  @inline(__always)
  public static func end(_ buffer: inout ByteBuffer) {
    buffer.append("}\n")
  }

  /// Writes an error answer to a request.
  public static func error(_ error: WireError, _ id: RequestID, _ buffer: inout ByteBuffer) {
    buffer.append(#"{"jsonrpc":"2.0","id":"#)
    buffer.append(id.text)
    buffer.append(#","error":"#)
    error.write(to: &buffer)
    buffer.append("}\n")
  }

  /// Begins a notification; the caller appends the rest of `params` and calls ``endParams(_:)``.
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
