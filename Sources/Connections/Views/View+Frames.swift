package import JSON
internal import Wire

// The frames about a view.
extension View {
  /// The bytes of `,"more":true}}` and LF.
  private static let endBytes = 15

  /// Appends the result of `open`: the view with its properties and its intents.
  ///
  /// - Parameter size: The most bytes to write. List elements that do not fit follow later.
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

  /// Appends the notification that the view was opened from another one.
  ///
  /// - Parameter size: The most bytes to write. List elements that do not fit follow later.
  func writeOpened(_ buffer: inout ByteBuffer, size: Int) {
    let end = buffer.count + size
    begin("opened", &buffer)
    writePlace(&buffer)
    buffer.append(#","style":"#)
    buffer.append(quoted: style.rawValue)
    writeContents(&buffer, upTo: end)
    Frame.endParams(&buffer)
  }

  /// Appends the notification that the view could not be opened from another one.
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

  /// Appends one frame with the changed properties, as many as fit.
  ///
  /// - Parameter size: The most bytes of the frame.
  /// - Returns: Whether something was written or nothing was left to write.
  func writeNext(_ buffer: inout ByteBuffer, size: Int) -> Bool {
    let changed = properties.filter { $0.value.hasNews() }.sorted { $0.key < $1.key }
    guard !changed.isEmpty || hasMore else { return true }
    let start = buffer.count
    begin("next", &buffer)
    buffer.append(#","props":{"#)
    var (isFirst, hasRoom) = (true, true)
    for (name, property) in changed {
      // Reserves the comma, the quotes of the ASCII name, the colon and the braces.
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
    // A client that was promised more gets a frame when nothing is left.
    guard !isFirst || hasRoom && hasMore else {
      buffer.truncate(to: start)
      return hasRoom
    }
    hasMore = properties.values.contains { $0.content.isNew }
    buffer.append(hasMore ? #"},"more":true"# : "}")
    Frame.endParams(&buffer)
    return true
  }

  /// The length of a frame with all changes, in bytes.
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

  /// Appends all properties and intents, with as many list elements as fit.
  private func writeContents(_ buffer: inout ByteBuffer, upTo end: Int) {
    let start = buffer.count
    // Limits the lists to the room in the line, however long they are.
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

  /// Appends `,"name":{…}` with the members sorted by name.
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
  /// Appends the parameters of the intent and its flags.
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
