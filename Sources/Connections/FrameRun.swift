internal import JSON
internal import Wire

/// Consecutive frames of a log, encoded once and copied to every subscriber that has reached them.
///
/// The frames have the head of one subscriber. Subscribers with the same handle get them in one
/// copy, others get them frame by frame with their own head.
struct FrameRun: ~Copyable {
  /// The frames that a subscriber can share.
  struct Form: Equatable {
    /// The longest frame with several entries, in bytes; `nil` if each frame has one entry.
    let itemLimit: Int?

    /// The length of the head, on which the number of entries in a frame depends.
    let headCount: Int
  }

  private struct Line {
    /// The offset after the head.
    let body: Int
    let end: Int

    /// The index after the last entry, and the position of that entry.
    let next: Int
    let seq: UInt64
  }

  /// The part of the run that one subscriber got.
  struct Copied {
    /// The index after the last entry, and the position of that entry.
    let next: Int
    let seq: UInt64

    /// The offset in the buffer of the last frame, which alone may be too long for the client.
    let line: Int
  }

  private var bytes = ByteBuffer()

  /// The bytes of all frames.
  var byteCount: Int { bytes.count }

  private var lines: [Line] = []
  private var longestBody = 0
  private var handle = Handle.number(0)
  private var form = Form(itemLimit: nil, headCount: 0)
  private var first = 0

  /// The index up to which frames were requested.
  private var end = 0

  /// Encodes the frames from an entry on, until they have about `capacity` bytes.
  ///
  /// - Parameter end: The index after the last entry to encode.
  mutating func encode(
    _ entries: some LogEntries, from first: Int, upTo end: Int, as form: Form, capacity: Int,
    _ subscription: Subscription
  ) {
    removeAll()
    (self.first, self.end, self.form, handle) = (first, end, form, subscription.handle)
    var next = first
    while next < end, bytes.count < capacity {
      let body = bytes.count + subscription.head.count
      if let limit = form.itemLimit {
        next += LogFrame.write(
          entries, from: next, upTo: end, after: subscription.head, limit: limit, to: &bytes)
      } else {
        LogFrame.write(entries[next], after: subscription.head, to: &bytes)
        next += 1
      }
      longestBody = max(longestBody, bytes.count - body)
      lines.append(Line(body: body, end: bytes.count, next: next, seq: entries[next - 1].seq))
    }
  }

  /// Returns whether the run has the frame that begins with an entry.
  ///
  /// - Parameter end: The index after the last entry that the subscriber may get.
  func has(_ index: Int, upTo end: Int, as form: Form) -> Bool {
    guard let last = lines.last, index >= first, index < last.next else { return false }
    guard form.itemLimit != nil else { return self.form.itemLimit == nil }
    return form == self.form && index == first && end == self.end
  }

  /// Appends frames until the buffer has `capacity` bytes, or a frame is too long for the client.
  ///
  /// Appends at least one frame. The run must have the first one.
  func copy(
    from index: Int, upTo end: Int, to subscription: Subscription, lineOut: Int, capacity: Int,
    _ buffer: inout ByteBuffer
  ) -> Copied {
    // With several entries in a frame, subscribers begin at the first frame.
    let begin = form.itemLimit == nil ? index - first : 0
    let last = form.itemLimit == nil ? min(lines.count, end - first) - 1 : lines.count - 1
    let head = subscription.head
    let start = lines[begin].body - form.headCount
    if subscription.handle == handle, head.count + longestBody <= lineOut,
      buffer.count + lines[last].end - start <= capacity
    {
      buffer.append(bytes.span.extracting(start..<lines[last].end))
      return Copied(next: lines[last].next, seq: lines[last].seq, line: buffer.count)
    }
    var i = begin
    while true {
      let line = buffer.count
      subscription.appendHead(to: &buffer)
      buffer.append(bytes.span.extracting(lines[i].body..<lines[i].end))
      if i == last || buffer.count >= capacity || buffer.count - line > lineOut {
        return Copied(next: lines[i].next, seq: lines[i].seq, line: line)
      }
      i += 1
    }
  }

  /// Removes all frames and frees their memory.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: 0)
    lines = []
    longestBody = 0
  }
}
