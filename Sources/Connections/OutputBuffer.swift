internal import JSON
internal import Wire

/// The output of a client that its socket has not taken yet.
struct OutputBuffer: ~Copyable {
  /// The output; the bytes before ``start`` were sent.
  var bytes = ByteBuffer()
  private(set) var start = 0

  /// The time since which the socket takes nothing; `nil` if it does.
  var stalledSince: UInt64?

  /// The number of bytes that were not sent.
  var count: Int { bytes.count - start }

  /// Appends the rest of a buffer.
  mutating func append(_ buffer: borrowing ByteBuffer, from start: Int) {
    bytes.append(buffer.span.extracting(start..<buffer.count))
  }

  /// Takes over a buffer whose first bytes were sent, and leaves an empty one.
  mutating func exchange(with buffer: inout ByteBuffer, from start: Int) {
    removeAll()
    swap(&bytes, &buffer)
    self.start = start
  }

  /// Drops bytes that were sent, and frees the memory after the last.
  mutating func drop(_ sent: Int) {
    start += sent
    if sent > 0 { stalledSince = nil }
    if count == 0 {
      removeAll()
    } else if start > bytes.count / 2 {
      bytes.removeFirst(start)
      start = 0
    }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: 0)
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
