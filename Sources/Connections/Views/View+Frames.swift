package import JSON
internal import Wire

// How a client sees a view.
extension View {
  /// Bytes of `,"more":true}}` and LF.
  private static let endBytes = 15

  /// Appends what the answer to `open` says: the view, its properties and its intents.
  ///
  /// - Parameter size: How long that may be; elements of lists that do not fit follow.
  package func writeAnswer(_ buffer: inout ByteBuffer, size: Int = .max) {
    let end = size == .max ? Int.max : buffer.count + size
    buffer.append(#"{"view":"#)
    buffer.append(handle.text.text)
    buffer.append(#","binder":"#)
    buffer.append(quoted: binder)
    buffer.append(#","seq":"#)
    buffer.append(integer: connection.hub.position)
    writeContents(&buffer, upTo: end)
    buffer.append(UInt8(ascii: "}"))
    isDirty = false
    if hasMore { markDirty() }
  }

  /// Appends that the view was opened from another.
  ///
  /// - Parameter size: How long that may be; elements of lists that do not fit follow.
  func writeOpened(_ buffer: inout ByteBuffer, size: Int) {
    let end = buffer.count + size
    begin("opened", &buffer)
    writePlace(&buffer)
    buffer.append(#","style":"#)
    buffer.append(quoted: style.rawValue)
    writeContents(&buffer, upTo: end)
    Frame.endParams(&buffer)
  }

  /// Appends that the view could not be opened from another.
  func writeUnopened(_ error: WireError, _ buffer: inout ByteBuffer) {
    begin("fail", &buffer)
    writePlace(&buffer)
    buffer.append(#","error":"#)
    error.write(to: &buffer)
    Frame.endParams(&buffer)
  }

  private func writePlace(_ buffer: inout ByteBuffer) {
    if let parent {
      buffer.append(#","parent":"#)
      buffer.append(parent.handle.text.text)
    }
    buffer.append(#","binder":"#)
    buffer.append(quoted: binder)
  }

  /// Appends what has changed: all in one frame where that fits, else as much as does.
  ///
  /// - Parameter size: How long the frame may be.
  /// - Returns: Whether something is written, or there was nothing to write.
  func writeNext(_ buffer: inout ByteBuffer, size: Int) -> Bool {
    let changed = properties.filter { $0.value.hasNews() }.sorted { $0.key < $1.key }
    guard !changed.isEmpty || hasMore else { return true }
    let start = buffer.count
    begin("next", &buffer)
    buffer.append(#","props":{"#)
    var (isFirst, hasRoom) = (true, true)
    for (name, property) in changed {
      // A comma, the quotes of a name of ASCII, a colon and braces stand around the members.
      let room = start + size - Self.endBytes - buffer.count - name.utf8.count - 7
      var members = ByteBuffer()
      guard property.writeNews(to: &members, upTo: room) else {
        hasRoom = false
        continue
      }
      guard !members.isEmpty else { continue }
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      buffer.append(quoted: name)
      buffer.append(":{")
      buffer.append(members.span.extracting(1..<members.count))  // no comma before the first
      buffer.append(UInt8(ascii: "}"))
    }
    // Who was told that more follows is told when there is no more.
    guard !isFirst || hasRoom && hasMore else {
      buffer.truncate(to: start)
      return hasRoom
    }
    hasMore = properties.values.contains { $0.content.isNew }
    buffer.append(hasMore ? #"},"more":true"# : "}")
    Frame.endParams(&buffer)
    return true
  }

  /// How long a frame would be with all that has changed.
  var newsSize: Int {
    var buffer = ByteBuffer()
    for property in properties.values where property.content.isNew {
      var content = property.content
      _ = content.writeNews(to: &buffer, upTo: .max)
    }
    return buffer.count
  }

  private func begin(_ method: StaticString, _ buffer: inout ByteBuffer) {
    Frame.beginNotification(method, &buffer)
    buffer.append(#""view":"#)
    buffer.append(handle.text.text)
    buffer.append(#","seq":"#)
    buffer.append(integer: connection.hub.position)
  }

  /// Appends all properties and intents; of lists the first elements, when not all fit.
  private func writeContents(_ buffer: inout ByteBuffer, upTo end: Int) {
    let start = buffer.count
    // More than the line has room for is never written, however long the lists are.
    var room = end == .max ? .max : max(0, end - start)
    writeContents(&buffer, room: &room)
    hasMore = properties.values.contains { $0.content.isNew }
    guard hasMore || buffer.count + Self.endBytes > end else { return }
    buffer.truncate(to: start)
    room = 0
    writeContents(&buffer, room: &room)
    let rest = end - Self.endBytes - buffer.count
    if rest > 0 {
      buffer.truncate(to: start)
      room = rest
      writeContents(&buffer, room: &room)
    }
    hasMore = properties.values.contains { $0.content.isNew }
    if hasMore { buffer.append(#","more":true"#) }
  }

  private func writeContents(_ buffer: inout ByteBuffer, room: inout Int) {
    writeObject("props", properties, &buffer) { $0.writeWhole(to: &$1, room: &room) }
    writeObject("intents", intents, &buffer) { $0.write(to: &$1) }
  }

  /// Appends `,"name":{…}`, members by name: in the order of their names, whatever that of the
  /// binder's lines.
  private func writeObject<Value>(
    _ name: StaticString, _ members: [String: Value], _ buffer: inout ByteBuffer,
    _ write: (Value, inout ByteBuffer) -> Void
  ) {
    buffer.append(#",""#)
    buffer.append(name)
    buffer.append(#"":{"#)
    for (i, (name, value)) in members.sorted(by: { $0.key < $1.key }).enumerated() {
      if i > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append(quoted: name)
      buffer.append(UInt8(ascii: ":"))
      write(value, &buffer)
    }
    buffer.append(UInt8(ascii: "}"))
  }
}

extension ViewIntent {
  /// Appends what it takes and opens, and whether it is live or destructive.
  fileprivate func write(to buffer: inout ByteBuffer) {
    buffer.append(#"{"params":{"#)
    for (i, member) in shape.members.enumerated() {
      if i > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append(quoted: member.name)
      buffer.append(UInt8(ascii: ":"))
      buffer.append(quoted: member.shape.name + (member.isOptional ? "?" : ""))
    }
    buffer.append(UInt8(ascii: "}"))
    if let opens {
      buffer.append(#","opens":"#)
      buffer.append(quoted: opens)
    }
    if isLive { buffer.append(#","live":true"#) }
    if isDestructive { buffer.append(#","destructive":true"#) }
    buffer.append(UInt8(ascii: "}"))
  }
}
