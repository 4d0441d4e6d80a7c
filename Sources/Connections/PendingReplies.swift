internal import JSON
internal import Wire

/// The requests that an answer belongs to.
enum Addressee {
  case request(RequestID)
  /// The requests of a batch that need an answer; not empty.
  case batch([RequestID])
  /// No request, because none expects an answer any more.
  case nobody

  /// The identifier of the first request, or `null`.
  var id: RequestID {
    switch self {
    case .request(let id): id
    case .batch(let ids): ids.first ?? .null
    case .nobody: .null
    }
  }
}

/// Answers that wait for the journal, in request order.
///
/// An answer that needs no durable position also waits here while an earlier one does.
struct PendingReplies: ~Copyable {
  private struct Entry {
    /// The position that must be durable before the answer is sent.
    var position: UInt64

    /// The end offset of the answer in ``bytes``.
    let end: Int

    let to: Addressee

    /// The timeout of the answer; `nil` for none.
    var expiry: Expiry?
  }

  /// The time at which a call times out, and the length of its timeout.
  struct Expiry {
    /// The time in milliseconds of the context's clock.
    let at: UInt64
    let afterMilliseconds: Int
  }

  private var entries: [Entry] = []
  private var bytes = ByteBuffer()

  /// The number of entries that were released but not removed yet.
  private var released = 0
  private var start = 0

  var isEmpty: Bool { released == entries.count }

  var count: Int { entries.count - released }

  /// The bytes of the waiting answers.
  var byteCount: Int { bytes.count - start }

  mutating func append(
    after position: UInt64, to addressee: Addressee, expiring expiry: Expiry? = nil,
    _ write: (inout ByteBuffer) -> Void
  ) {
    write(&bytes)
    entries.append(Entry(position: position, end: bytes.count, to: addressee, expiry: expiry))
  }

  /// Returns whether the answer to a request waits for a position that is not durable.
  func isWaiting(_ id: RequestID, after position: UInt64) -> Bool {
    entries[released...].contains { entry in
      guard entry.position > position else { return false }
      return switch entry.to {
      case .request(let other): other == id
      case .batch(let ids): ids.contains(id)
      case .nobody: false
      }
    }
  }

  /// The time of the next timeout; `nil` if there is none.
  var nextExpiry: UInt64? { entries[released...].compactMap { $0.expiry?.at }.min() }

  /// Removes the bytes of the answers that have timed out.
  ///
  /// Their entries stay.
  ///
  /// - Parameter now: The time in milliseconds of the context's clock.
  /// - Returns: The requests that timed out, with the lengths of their timeouts.
  mutating func expire(at now: UInt64) -> [(to: Addressee, afterMilliseconds: Int)] {
    var expired: [(to: Addressee, afterMilliseconds: Int)] = []
    rewrite { entry, answer, buffer in
      guard let expiry = entry.expiry, expiry.at <= now else {
        buffer.append(answer)
        return entry
      }
      expired.append((entry.to, expiry.afterMilliseconds))
      return Entry(position: entry.position, end: 0, to: .nobody)
    }
    return expired
  }

  /// Moves the answers whose position is durable to a buffer.
  mutating func release(upTo position: UInt64, to buffer: inout ByteBuffer) {
    let before = start
    while released < entries.count, entries[released].position <= position {
      start = entries[released].end
      released += 1
    }
    guard start > before else { return }
    buffer.append(bytes.span.extracting(before..<start))
    if isEmpty { forget() } else if released > 1024, released > entries.count / 2 { compact() }
  }

  /// Removes the released entries while others still wait.
  private mutating func compact() {
    entries = entries[released...].map {
      Entry(position: $0.position, end: $0.end - start, to: $0.to, expiry: $0.expiry)
    }
    bytes.removeFirst(start)
    (released, start) = (0, 0)
  }

  private mutating func forget() {
    entries.removeAll(keepingCapacity: entries.count <= 256)
    bytes.removeAll(keepingCapacity: 16 << 10)
    (released, start) = (0, 0)
  }

  /// Sets the position of the answers that wait for ``undecided``.
  mutating func decide(at position: UInt64) {
    for i in released..<entries.count where entries[i].position == Self.undecided {
      entries[i].position = position
    }
  }

  /// A placeholder for the position of the events recorded at the end of the turn.
  static let undecided = UInt64.max

  /// Replaces the answers to lost events by an error.
  ///
  /// - Parameter position: The last durable position.
  /// - Returns: The number of replaced answers.
  mutating func reject(after position: UInt64, _ error: WireError) -> Int {
    reject(after: position, settlingAt: position, error)
  }

  /// Replaces the answers that wait for ``undecided`` by an error that waits for `position`.
  ///
  /// - Returns: The number of replaced answers.
  mutating func refuseUndecided(at position: UInt64, _ error: WireError) -> Int {
    reject(after: Self.undecided - 1, settlingAt: position, error)
  }

  private mutating func reject(
    after position: UInt64, settlingAt settled: UInt64, _ error: WireError
  ) -> Int {
    var count = 0
    rewrite { entry, answer, buffer in
      guard entry.position > position else {
        buffer.append(answer)
        return entry
      }
      Self.refuse(entry, error, &buffer)
      count += 1
      return Entry(position: settled, end: 0, to: entry.to)
    }
    return count
  }

  /// Rewrites the waiting answers.
  ///
  /// The body appends one answer and returns its new entry.
  private mutating func rewrite(
    _ body: (Entry, _ answer: Span<UInt8>, inout ByteBuffer) -> Entry
  ) {
    var from = start
    var result = PendingReplies()
    for entry in entries[released...] {
      let answer = bytes.span.extracting(from..<entry.end)
      let written = body(entry, answer, &result.bytes)
      from = entry.end
      result.entries.append(
        Entry(
          position: written.position, end: result.bytes.count, to: written.to,
          expiry: written.expiry))
    }
    self = result
  }

  private static func refuse(_ entry: Entry, _ error: WireError, _ buffer: inout ByteBuffer) {
    switch entry.to {
    case .nobody: break
    case .request(let id):
      Frame.error(error, id, &buffer)
    case .batch(let ids):
      buffer.append(UInt8(ascii: "["))
      for (i, id) in ids.enumerated() {
        if i > 0 { buffer.append(UInt8(ascii: ",")) }
        Frame.error(error, id, &buffer)
        buffer.truncate(to: buffer.count - 1)  // removes the LF
      }
      buffer.append("]\n")
    }
  }
}
