internal import JSON

/// Cuts what arrives into lines, whatever the chunks, and copies only what has no end yet.
///
/// A line ends at LF (0x0A). A line that is longer than the limit is told of once and dropped up to
/// its LF, so that the stream goes on after it.
public struct LineSplitter: ~Copyable {
  /// What became of a line that was handed out.
  public enum Verdict: Sendable {
    /// It is done with.
    case done
    /// It is to be handed out again by ``resume(_:)``; no line follows before it.
    case later
  }

  /// Takes a line without its LF; the span is valid during the call.
  ///
  /// `nil` stands for a line over the limit.
  public typealias Taker = (Span<UInt8>?) -> Verdict

  private let limit: Int

  /// Bytes that were not handed out yet, from ``start`` on.
  private var kept = ByteBuffer()
  private var start = 0

  /// Up to where ``kept`` is known to hold no LF.
  private var searched = 0

  /// Whether a line waits for ``resume(_:)``.
  public private(set) var isParked = false

  /// How many bytes of a line over the limit were dropped so far; `nil` outside of one.
  public private(set) var dropped: Int?

  /// - Parameter limit: The longest line in bytes, without its LF.
  public init(limit: Int) {
    self.limit = limit
  }

  /// How many bytes are kept.
  public var keptBytes: Int { kept.count - start }

  /// Whether a line has begun and not ended.
  public var isWithinLine: Bool { dropped != nil || (keptBytes > 0 && !isParked) }

  /// Takes one chunk and hands out the lines that it completes.
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

  /// Drops the line that has begun, up to its LF.
  public mutating func drop() {
    guard isWithinLine, dropped == nil else { return }
    dropped = keptBytes
    kept.removeAll(keepingCapacity: 0)
    (start, searched) = (0, 0)
  }

  /// Hands out the line that was left for later, and those that have arrived behind it.
  public mutating func resume(_ take: Taker) {
    guard isParked else { return }
    isParked = false
    handOutKept(take)
  }

  /// Hands out a last line that has no LF, at the end of the stream.
  public mutating func finish(_ take: Taker) {
    guard isWithinLine, dropped == nil else { return }
    kept.append(UInt8(ascii: "\n"))
    handOutKept(take)
  }

  private mutating func handOutKept(_ take: Taker) {
    // Taken out, because the taker may look at this splitter.
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

  /// Hands out the lines of `bytes`.
  ///
  /// - Parameters:
  ///   - from: Where the first line begins.
  ///   - searched: Up to where there is no LF.
  /// - Returns: Where what was not handed out begins.
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

/// The offset of the first LF at or after `start`, eight bytes at a time.
@inline(__always)
private func firstNewline(in bytes: Span<UInt8>, from start: Int) -> Int? {
  let raw = unsafe bytes.bytes
  var i = start
  while i + 8 <= raw.byteCount {
    let word = unsafe UInt64(
      littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: i, as: UInt64.self))
    let newline = word ^ 0x0A0A_0A0A_0A0A_0A0A
    let found = (newline &- 0x0101_0101_0101_0101) & ~newline & 0x8080_8080_8080_8080
    if found != 0 { return i + found.trailingZeroBitCount >> 3 }
    i += 8
  }
  while i < bytes.count {
    if bytes[i] == UInt8(ascii: "\n") { return i }
    i += 1
  }
  return nil
}
