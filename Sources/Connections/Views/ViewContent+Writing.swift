internal import JSON
internal import Wire

// What a client is told of a property: what fits into a line, and the rest behind it.
extension ViewContent {
  /// Appends all that is shown, as one object with its kind; nothing is new then but the elements of
  /// a list for which there is no room.
  ///
  /// - Parameter room: Bytes that there are for elements of lists; those written are taken off.
  mutating func writeWhole(to buffer: inout ByteBuffer, room: inout Int) {
    buffer.append(#"{"kind":"#)
    buffer.append(quoted: kind.rawValue)
    if let loading { Self.write(loading, &buffer) }
    forget()
    // A list, and what is loading, may have nothing to show yet.
    if shown != .nothing || kind == .state {
      let start = buffer.count
      writeShown(&buffer, upTo: room == .max ? .max : start + room + Self.listBytes)
      if room != .max, case .list = shown { room -= buffer.count - start - Self.listBytes }
    }
    buffer.append(UInt8(ascii: "}"))
  }

  /// Bytes of `,"value":[]`.
  private static let listBytes = 11

  /// Appends what is new as members, each with a comma before it, as far as it fits; that is not new
  /// then.
  ///
  /// - Parameter end: How long the buffer may become.
  /// - Returns: Whether something is written.
  mutating func writeNews(to buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    let start = buffer.count
    if isKindNew {
      buffer.append(#","kind":"#)
      buffer.append(quoted: kind.rawValue)
    }
    if isLoadingNew, let loading { Self.write(loading, &buffer) }
    guard buffer.count <= end, writeValue(&buffer, upTo: end) else {
      buffer.truncate(to: start)
      return false
    }
    (isLoadingNew, isKindNew) = (false, false)
    return true
  }

  /// - Returns: Whether something is written, or there is nothing to write.
  private mutating func writeValue(_ buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    switch news {
    case .none:
      guard let count = toldCount else { return true }
      return writeSteps([], bytes: 0, rest: count, &buffer, upTo: end)
    case .steps(let steps, let bytes):
      news = .none  // so that the texts are not copied
      return writeSteps(steps, bytes: bytes, rest: toldCount, &buffer, upTo: end)
    case .whole:
      let start = buffer.count
      writeShown(&buffer, upTo: end)
      guard buffer.count <= end, toldCount != 0 else {
        buffer.truncate(to: start)
        toldCount = nil
        return false
      }
      (news, told) = (.none, nil)
      return true
    }
  }

  /// Appends steps, and behind them the elements from `rest` on as if they were inserted now.
  private mutating func writeSteps(
    _ steps: [String], bytes: Int, rest: Int?, _ buffer: inout ByteBuffer, upTo end: Int
  ) -> Bool {
    var (written, writtenBytes) = (0, 0)
    buffer.append(#","changes":["#)
    while written < steps.count, Self.append(steps[written], isFirst: written == 0, &buffer, end) {
      writtenBytes += steps[written].utf8.count + 1
      written += 1
    }
    if written < steps.count {
      news = .steps(Array(steps[written...]), bytes: bytes - writtenBytes)
    } else if var next = rest, case .list(let elements) = shown {
      while next < elements.count,
        Self.append(
          #"{"op":"insert","at":\#(next),"value":\#(elements[next].text)}"#, isFirst: written == 0,
          &buffer, end)
      {
        next += 1
        written += 1
      }
      toldCount = next < elements.count ? next : nil
    }
    buffer.append(UInt8(ascii: "]"))
    return written > 0
  }

  /// Appends an element of an array that is closed later, when both fit.
  private static func append(
    _ text: String, isFirst: Bool, _ buffer: inout ByteBuffer, _ end: Int
  ) -> Bool {
    // Its comma, and the bracket behind it.
    guard end == .max || buffer.count + text.utf8.count + 2 <= end else { return false }
    if !isFirst { buffer.append(UInt8(ascii: ",")) }
    buffer.append(text)
    return true
  }

  /// Appends what is shown; of a list as many elements as fit.
  private mutating func writeShown(_ buffer: inout ByteBuffer, upTo end: Int) {
    switch shown {
    case .nothing: buffer.append(#","gone":true"#)
    case .value(let value):
      buffer.append(#","value":"#)
      buffer.append(value.text)
    case .list(let elements):
      buffer.append(#","value":["#)
      var count = 0
      while count < elements.count,
        Self.append(elements[count].text, isFirst: count == 0, &buffer, end)
      {
        count += 1
      }
      buffer.append(UInt8(ascii: "]"))
      toldCount = count < elements.count ? count : nil
    }
  }

  private static func write(_ loading: Loading, _ buffer: inout ByteBuffer) {
    switch loading {
    case .loading: buffer.append(#","state":"loading""#)
    case .reloading: buffer.append(#","state":"reloading""#)
    case .loaded: buffer.append(#","state":"loaded""#)
    case .failed(let error):
      buffer.append(#","state":"failed","error":"#)
      error.write(to: &buffer)
    }
  }

  private mutating func forget() {
    (news, told, toldCount) = (.none, nil, nil)
    (isLoadingNew, isKindNew) = (false, false)
  }
}
