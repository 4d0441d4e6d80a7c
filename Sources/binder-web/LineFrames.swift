/// Cuts a stream of lines into parts of text messages: a message holds whole lines, separated by LF.
///
/// A part is sent at once, so no line has to fit into memory.
struct LineFrames {
  /// A part of a message.
  struct Part: Equatable {
    /// The range in the chunk.
    let bytes: Range<Int>

    /// Whether a message begins, and whether it ends.
    let isBegin: Bool
    let isEnd: Bool

    init(bytes: Range<Int>, isBegin: Bool, isEnd: Bool) {
      (self.bytes, self.isBegin, self.isEnd) = (bytes, isBegin, isEnd)
    }
  }

  /// Whether a message is incomplete.
  private(set) var isWithinMessage = false

  init() {}

  /// Returns the parts of a chunk: the end of its last complete line, and what follows.
  mutating func parts(of chunk: Span<UInt8>) -> (Part?, Part?) {
    var end = chunk.count
    while end > 0, chunk[end - 1] != UInt8(ascii: "\n") { end -= 1 }
    var (whole, rest): (Part?, Part?) = (nil, nil)
    if end > 0 {
      // A blank line is no message.
      if isWithinMessage || end > 1 {
        whole = Part(bytes: 0..<(end - 1), isBegin: !isWithinMessage, isEnd: true)
      }
      isWithinMessage = false
    }
    if end < chunk.count {
      rest = Part(bytes: end..<chunk.count, isBegin: !isWithinMessage, isEnd: false)
      isWithinMessage = true
    }
    return (whole, rest)
  }
}
