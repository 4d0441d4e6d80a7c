internal import JSON
internal import Wire

/// A sequence of log entries in order, by index.
protocol LogEntries {
  subscript(index: Int) -> LogEntry { get }
}

extension LogEntries {
  /// Returns the index of the first entry after a position, or the end of the range if there is
  /// none.
  func index(after seq: UInt64, in range: Range<Int>) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].seq <= seq { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension LogFeed: LogEntries {}
extension Array: LogEntries where Element == LogEntry {}

/// Encodes log entries as frames.
enum LogFrame {
  /// The bytes around the entries of a frame, besides its head.
  private static let frameBytes = 48

  /// Appends a frame with one entry.
  @inline(__always)
  static func write(_ entry: LogEntry, after head: String, to buffer: inout ByteBuffer) {
    buffer.append(head)
    buffer.append(entry.tail)
  }

  /// Appends a frame with as many entries as fit a line, but at least one.
  ///
  /// - Returns: The number of entries in the frame.
  static func write(
    _ entries: some LogEntries, from first: Int, upTo end: Int, after head: String, limit: Int,
    to buffer: inout ByteBuffer
  ) -> Int {
    var next = first + 1
    var size = head.utf8.count + frameBytes + entries[first].size
    while next < end, size + entries[next].size < limit {
      size += entries[next].size
      next += 1
    }
    guard next - first > 1 else {
      write(entries[first], after: head, to: &buffer)
      return 1
    }
    buffer.append(head)
    buffer.member("seq", entries[next - 1].seq)
    buffer.array("items") { buffer in
      for i in first..<next {
        buffer.append(i > first ? ",{" : "{")
        // Drops the last brace and the LF of the tail, so that only the brace that ends the item
        // remains.
        let tail = entries[i].tail.utf8.span
        buffer.append(tail.extracting(0..<tail.count - 2))
      }
    }
    Frame.endParams(&buffer)
    return next - first
  }
}
