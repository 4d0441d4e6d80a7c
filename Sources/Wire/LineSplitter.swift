internal import Glibc
public import JSON

/// Splits a byte stream into lines.
///
/// Only incomplete lines are copied.
///
/// A line ends at LF (0x0A). An over-long line is reported once as `nil` and skipped up to its LF;
/// the lines after it are delivered.
public struct LineSplitter: ~Copyable {
  /// The caller's decision about a delivered line.
  public enum Verdict: Sendable {
    /// The line is consumed.
    case done
    /// The line must be delivered again by ``resume(_:)``.
    ///
    /// No other line is delivered before it.
    case later
  }

  /// Receives a line without its LF.
  ///
  /// The span is valid during the call only.
  ///
  /// `nil` reports a line over the limit.
  public typealias Taker = (Span<UInt8>?) -> Verdict

  private let limit: Int

  /// Bytes not delivered yet, starting at ``start``.
  private var kept = ByteBuffer()
  private var start = 0

  /// The offset up to which ``kept`` is known to contain no LF.
  private var searched = 0

  /// Whether a line waits for ``resume(_:)``.
  public private(set) var isParked = false

  /// The number of bytes skipped so far of a line over the limit; `nil` if there is no such line.
  public private(set) var dropped: Int?

  /// - Parameter limit: The length of the longest line in bytes, without its LF.
  public init(limit: Int) {
    self.limit = limit
  }

  /// The number of buffered bytes.
  public var keptBytes: Int { kept.count - start }

  /// Appends the buffered bytes to a buffer.
  public func appendKept(to buffer: inout ByteBuffer) {
    if keptBytes > 0 { buffer.append(kept.span.extracting(start..<kept.count)) }
  }

  /// Whether a line is incomplete.
  public var isWithinLine: Bool { dropped != nil || (keptBytes > 0 && !isParked) }

  /// Takes a chunk and delivers the lines that it completes.
  public mutating func feed(_ chunk: Span<UInt8>, _ take: Taker) {
    var from = 0
    if let dropped {
      guard let end = firstNewline(in: chunk, from: 0) else {
        self.dropped = dropped + chunk.count
        return
      }
      self.dropped = nil
      from = end + 1
    }
    guard keptBytes == 0 else {
      kept.append(chunk)
      if !isParked { handOutKept(take) }
      return
    }
    from = handOut(chunk, from: from, searched: from, take)
    keep(chunk, from: from, take)
  }

  /// Skips the incomplete line up to its LF.
  public mutating func drop() {
    guard isWithinLine, dropped == nil else { return }
    dropped = keptBytes
    kept.removeAll(keepingCapacity: 0)
    (start, searched) = (0, 0)
  }

  /// Adds bytes that were read before, and parks them for ``resume(_:)``.
  ///
  /// The splitter must be new.
  public mutating func putBack(_ bytes: Span<UInt8>) {
    kept.append(bytes)
    isParked = true
  }

  /// Delivers the parked line again, and the complete lines after it.
  public mutating func resume(_ take: Taker) {
    guard isParked else { return }
    isParked = false
    handOutKept(take)
  }

  /// Delivers the last line if the stream ended without LF.
  public mutating func finish(_ take: Taker) {
    guard isWithinLine, dropped == nil else { return }
    kept.append(UInt8(ascii: "\n"))
    handOutKept(take)
  }

  private mutating func handOutKept(_ take: Taker) {
    // Moved out because the callback may access this splitter.
    var bytes = ByteBuffer()
    swap(&bytes, &kept)
    let from = handOut(bytes.span, from: start, searched: searched, take)
    if !isParked, bytes.count - from > limit {
      dropped = bytes.count - from
      _ = take(nil)
    }
    if from == bytes.count || dropped != nil {
      bytes.removeAll(keepingCapacity: 4096)
      start = 0
    } else if from > bytes.count / 2 {
      bytes.removeFirst(from)
      start = 0
    } else {
      start = from
    }
    searched = isParked ? start : bytes.count
    swap(&bytes, &kept)
  }

  private mutating func keep(_ chunk: Span<UInt8>, from: Int, _ take: Taker) {
    let count = chunk.count - from
    guard count > 0 else { return }
    if !isParked, count > limit {
      dropped = count
      _ = take(nil)
      return
    }
    kept.append(chunk.extracting(from..<chunk.count))
    start = 0
    searched = isParked ? 0 : count
  }

  /// Delivers the lines in `bytes`.
  ///
  /// - Parameters:
  ///   - from: The offset of the first line.
  ///   - searched: The offset up to which there is no LF.
  /// - Returns: The offset of the first byte that was not delivered.
  private mutating func handOut(
    _ bytes: Span<UInt8>, from: Int, searched: Int, _ take: Taker
  ) -> Int {
    var from = from
    var search = max(from, searched)
    while let end = firstNewline(in: bytes, from: search) {
      if end - from > limit {
        _ = take(nil)
      } else if take(bytes.extracting(from..<end)) == .later {
        isParked = true
        return from
      }
      from = end + 1
      search = from
    }
    return from
  }
}

/// Returns the offset of the first LF at or after `start`, or `nil`.
@inline(__always)
private func firstNewline(in bytes: Span<UInt8>, from start: Int) -> Int? {
  guard start < bytes.count else { return nil }
  return unsafe bytes.withUnsafeBytes { bytes in
    guard let base = bytes.baseAddress,
      let found = unsafe memchr(base + start, 0x0A, bytes.count - start)
    else { return nil }
    return unsafe UnsafeRawPointer(found) - base
  }
}
