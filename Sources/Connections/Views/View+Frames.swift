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
    buffer.object {
      $0.member("view", handle)
      $0.member("binder", binder)
      $0.member("seq", connection.hub.position)
      writeContents(&$0, upTo: end)
    }
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
    buffer.member("style", style.rawValue)
    writeContents(&buffer, upTo: end)
    Frame.endParams(&buffer)
  }

  /// Appends the notification that the view could not be opened from another one.
  func writeUnopened(_ error: WireError, _ buffer: inout ByteBuffer) {
    begin("fail", &buffer)
    writePlace(&buffer)
    buffer.member("error", error)
    Frame.endParams(&buffer)
  }

  private func writePlace(_ buffer: inout ByteBuffer) {
    buffer.member("parent", parent?.handle)
    buffer.member("binder", binder)
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
    var (isEmpty, hasRoom) = (true, true)
    buffer.object("props") { buffer in
      for (name, property) in changed {
        // Reserves two commas, the quotes of the ASCII name, the colon and the braces.
        let room = start + size - Self.endBytes - buffer.count - name.utf8.count - 8
        var members = ByteBuffer()
        guard property.writeNews(to: &members, upTo: room) else {
          hasRoom = false
          continue
        }
        guard !members.isEmpty else { continue }
        isEmpty = false
        buffer.key(quoted: name)
        buffer.object { $0.append(members) }
      }
    }
    // A client that was promised more gets a frame when nothing is left.
    guard !isEmpty || hasRoom && hasMore else {
      buffer.truncate(to: start)
      return hasRoom
    }
    hasMore = properties.values.contains { $0.content.isNew }
    if hasMore { buffer.member("more", true) }
    Frame.endParams(&buffer)
    return true
  }

  /// The length of a frame with all changes, in bytes.
  var newsSize: Int {
    var buffer = ByteBuffer()
    buffer.append(UInt8(ascii: "{"))
    for property in properties.values where property.content.isNew {
      var content = property.content
      _ = content.writeNews(to: &buffer, upTo: .max)
    }
    return buffer.count
  }

  private func begin(_ method: StaticString, _ buffer: inout ByteBuffer) {
    Frame.beginNotification(method, &buffer)
    buffer.member("view", handle)
    buffer.member("seq", connection.hub.position)
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
    if hasMore { buffer.member("more", true) }
  }

  private func writeContents(_ buffer: inout ByteBuffer, room: inout Int) {
    writeObject("props", properties, &buffer) { $0.writeWhole(to: &$1, room: &room) }
    writeObject("intents", intents, &buffer) { $0.write(to: &$1) }
  }

  /// Appends an object as a member, with its members sorted by name.
  private func writeObject<Value>(
    _ name: StaticString, _ members: [String: Value], _ buffer: inout ByteBuffer,
    _ write: (Value, inout ByteBuffer) -> Void
  ) {
    buffer.object(name) {
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        $0.key(quoted: name)
        write(value, &$0)
      }
    }
  }
}

extension ViewIntent {
  /// Appends the parameters of the intent and its flags.
  fileprivate func write(to buffer: inout ByteBuffer) {
    buffer.object {
      $0.object("params") {
        for member in shape.members {
          $0.key(quoted: member.name)
          $0.append(quoted: member.shape.name + (member.isOptional ? "?" : ""))
        }
      }
      $0.member("opens", opens)
      $0.member("live", isLive ? true : nil)
      $0.member("destructive", isDestructive ? true : nil)
    }
  }
}
