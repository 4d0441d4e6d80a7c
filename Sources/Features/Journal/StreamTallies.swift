internal import Journal
internal import Model

/// The bytes of the retained events of each stream, counted as the journal grows.
///
/// Its memory is bounded: if there are too many streams, those with the fewest bytes are counted
/// too low, by at most the bytes of the journal divided by ``maxStreams`` (the algorithm of Misra
/// and Gries).
struct StreamTallies: Sendable {
  /// The last counted position.
  private(set) var position: UInt64 = 0
  private var bytes: [String: Int] = [:]
  private let maxStreams: Int

  /// The events read at once.
  private static let chunk = 256

  init(maxStreams: Int = 20_000) { self.maxStreams = maxStreams }

  /// Counts the next events, at most ``chunk``.
  ///
  /// - Returns: Whether there may be more.
  mutating func advance(_ reader: any JournalReader) throws(JournalError) -> Bool {
    let bounds = try reader.bounds()
    position = max(position, bounds.first - min(bounds.first, 1))
    guard position < bounds.last else { return false }
    let records = try reader.records(after: position, limit: Self.chunk)
    for record in records { bytes[record.stream, default: 0] += record.size }
    guard let last = records.last else { return false }
    position = last.seq
    prune()
    return position < bounds.last
  }

  private mutating func prune() {
    guard bytes.count > 2 * maxStreams else { return }
    let least = bytes.values.sorted(by: >)[maxStreams]
    bytes = bytes.compactMapValues { $0 > least ? $0 - least : nil }
  }

  subscript(stream: String) -> Int {
    get { bytes[stream] ?? 0 }
    set { bytes[stream] = newValue > 0 ? newValue : nil }
  }

  /// Returns the streams with more bytes than a limit of their own.
  ///
  /// - Parameter limit: Returns the limit of a stream; `nil` for none.
  func streams(above limit: (_ stream: String) -> Int?) -> [String: Int] {
    bytes.filter { stream, bytes in limit(stream).map { bytes > $0 } ?? false }
  }
}
