internal import JSON
internal import Wire

/// Entries by number, in order.
protocol LogEntries {
  subscript(index: Int) -> LogEntry { get }
}

extension LogEntries {
  /// The first of some that stands after a position; the end of them when none does.
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

/// How entries of a log stand in a line.
enum LogFrame {
  /// What stands around the entries of a frame, beside its head.
  private static let frameBytes = 48

  /// Appends a frame of one entry.
  @inline(__always)
  static func write(_ entry: LogEntry, after head: String, to buffer: inout ByteBuffer) {
    buffer.append(head)
    buffer.append(entry.tail)
  }

  /// Appends a frame of as many entries as a line takes, but one at least.
  ///
  /// - Returns: How many they are.
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
    buffer.append(#""seq":"#)
    buffer.append(integer: entries[next - 1].seq)
    buffer.append(#","items":["#)
    for i in first..<next {
      buffer.append(i > first ? ",{" : "{")
      // Of the ends of item, params and frame the first stays.
      let tail = entries[i].tail.utf8.span
      buffer.append(tail.extracting(0..<tail.count - 2))
    }
    buffer.append("]")
    Frame.endParams(&buffer)
    return next - first
  }
}
