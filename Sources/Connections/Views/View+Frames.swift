package import JSON
internal import Wire

// How a client sees a view.
extension View {
  /// Appends what the answer to `open` says: the view, its properties and its intents.
  package func writeAnswer(_ buffer: inout ByteBuffer) {
    buffer.append(#"{"view":"#)
    buffer.append(handle.text.text)
    buffer.append(#","binder":"#)
    buffer.append(quoted: binder)
    buffer.append(#","seq":"#)
    buffer.append(integer: connection.hub.position)
    writeContents(&buffer)
    buffer.append(UInt8(ascii: "}"))
    isDirty = false
  }

  /// Appends that the view was opened from another.
  func writeOpened(_ buffer: inout ByteBuffer) {
    begin("opened", &buffer)
    if let parent {
      buffer.append(#","parent":"#)
      buffer.append(parent.handle.text.text)
    }
    buffer.append(#","binder":"#)
    buffer.append(quoted: binder)
    buffer.append(#","style":"#)
    buffer.append(quoted: style.rawValue)
    writeContents(&buffer)
    Frame.endParams(&buffer)
  }

  /// Appends what has changed, all in one frame.
  func writeNext(_ buffer: inout ByteBuffer) {
    let changed = properties.filter { $0.value.content.isNew }
    guard !changed.isEmpty else { return }
    begin("next", &buffer)
    writeObject("props", changed, &buffer) { property, buffer in
      var members = ByteBuffer()
      property.writeNews(to: &members)
      buffer.append(UInt8(ascii: "{"))
      buffer.append(members.span.extracting(1..<members.count))  // no comma before the first
      buffer.append(UInt8(ascii: "}"))
    }
    Frame.endParams(&buffer)
  }

  private func begin(_ method: StaticString, _ buffer: inout ByteBuffer) {
    Frame.beginNotification(method, &buffer)
    buffer.append(#""view":"#)
    buffer.append(handle.text.text)
    buffer.append(#","seq":"#)
    buffer.append(integer: connection.hub.position)
  }

  private func writeContents(_ buffer: inout ByteBuffer) {
    writeObject("props", properties, &buffer) { $0.writeWhole(to: &$1) }
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
  /// Appends what it takes and opens.
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
    buffer.append(UInt8(ascii: "}"))
  }
}
