internal import JSON
internal import Wire

/// The output of a client that its socket has not taken yet.
struct OutputBuffer: ~Copyable {
  private var content = PieceBuffer()

  /// The bytes of the first piece that were sent.
  private var start = 0

  /// The time since which the socket takes nothing; `nil` if it does.
  var stalledSince: UInt64?

  /// The number of bytes that were not sent.
  var count: Int { content.count - start }

  /// Whether the socket has not refused the output yet.
  var isNew: Bool { stalledSince == nil && count > 0 }

  /// The end of the output, to which lines are appended.
  var tail: ByteBuffer {
    _read { yield content.tail }
    _modify { yield &content.tail }
  }

  /// Appends the rest of a buffer.
  mutating func append(_ buffer: borrowing ByteBuffer, from start: Int = 0) {
    if start < buffer.count { tail.append(buffer.span.extracting(start..<buffer.count)) }
  }

  /// Puts bytes before all others, of which none was sent.
  mutating func putBack(_ bytes: Span<UInt8>) {
    var later = ByteBuffer()
    appendUnsent(to: &later)
    removeAll()
    tail.append(bytes)
    append(later)
  }

  /// Appends a long answer without a copy of it.
  mutating func append(_ answer: consuming PieceBuffer) {
    content.append(answer)
  }

  /// Takes over a buffer whose first bytes were sent, and leaves an empty one.
  mutating func exchange(with buffer: inout ByteBuffer, from start: Int) {
    removeAll()
    swap(&tail, &buffer)
    self.start = start
  }

  /// The bytes of the first piece that were not sent.
  var firstCount: Int { content.firstCount - start }

  /// Calls `body` with the bytes of the first piece that were not sent.
  func withFirst<Value>(_ body: (Span<UInt8>) -> Value) -> Value {
    content.withFirst { body($0.extracting(start..<$0.count)) }
  }

  /// Drops bytes of the first piece that were sent, and frees the memory after the last.
  mutating func drop(_ sent: Int) {
    start += sent
    if sent > 0 { stalledSince = nil }
    if count == 0 {
      removeAll()
    } else if start == content.firstCount, content.removeFirst() {
      start = 0
    } else if content.isUndivided, start > tail.count / 2 {
      tail.removeFirst(start)
      start = 0
    }
  }

  /// Appends the output that was not sent to a buffer.
  func appendUnsent(to buffer: inout ByteBuffer) { content.write(to: &buffer, from: start) }

  mutating func removeAll() {
    content.removeAll()
    start = 0
  }
}

/// Answers and actions of a client that follow when earlier output was sent.
struct FollowUps {
  /// Answers to late calls that wait until the client has taken its output.
  var answers: [() -> Void] = []

  /// Actions to run after all current answers were sent.
  private(set) var actions: [() -> Void] = []

  var isEmpty: Bool { answers.isEmpty && actions.isEmpty }

  mutating func append(_ actions: [() -> Void]) { self.actions += actions }

  /// Removes and returns all actions.
  mutating func removeActions() -> [() -> Void] {
    defer { actions = [] }
    return actions
  }

  mutating func removeAll() { (answers, actions) = ([], []) }
}
