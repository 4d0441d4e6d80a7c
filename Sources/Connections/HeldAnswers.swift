internal import JSON
internal import Wire

/// What an answer answers.
enum Addressee {
  case request(RequestID)
  /// The requests of a batch that want an answer; there is one.
  case batch([RequestID])
  /// Nobody any more.
  case nobody

  /// The first of them.
  var id: RequestID {
    switch self {
    case .request(let id): id
    case .batch(let ids): ids.first ?? .null
    case .nobody: .null
    }
  }
}

/// Answers that wait until what they say is durable, in the order of their requests.
///
/// An answer that waits for nothing waits here as well while one before it does.
struct HeldAnswers: ~Copyable {
  private struct Entry {
    /// The position that must be durable before it may be sent.
    var position: UInt64

    /// The end of its bytes in ``bytes``.
    let end: Int

    let to: Addressee

    /// Until when its client waits; `nil` for ever.
    var expiry: Expiry?
  }

  /// When the time of a call is over, and how long it was.
  struct Expiry {
    /// Milliseconds of the hub's clock.
    let at: UInt64
    let afterMilliseconds: Int
  }

  private var entries: [Entry] = []
  private var bytes = ByteBuffer()

  /// What was released already and not yet dropped.
  private var released = 0
  private var start = 0

  var isEmpty: Bool { released == entries.count }

  var count: Int { entries.count - released }

  /// Bytes of the answers.
  var byteCount: Int { bytes.count - start }

  mutating func append(
    after position: UInt64, to addressee: Addressee, expiring expiry: Expiry? = nil,
    _ write: (inout ByteBuffer) -> Void
  ) {
    write(&bytes)
    entries.append(Entry(position: position, end: bytes.count, to: addressee, expiry: expiry))
  }

  /// Whether the answer to a request waits for something that is not durable.
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

  /// When the time of the next of those that wait is over.
  var nextExpiry: UInt64? { entries[released...].compactMap { $0.expiry?.at }.min() }

  /// Takes the words out of the answers whose time is over.
  ///
  /// - Parameter now: Milliseconds of the hub's clock.
  /// - Returns: Whose they were, and how long their time was.
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

  /// Moves the answers that may be sent to a buffer.
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

  /// Drops what was released while there is always something that waits.
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

  /// Gives the answers that wait for ``undecided`` the position that was decided.
  mutating func settle(at position: UInt64) {
    for i in released..<entries.count where entries[i].position == Self.undecided {
      entries[i].position = position
    }
  }

  /// The position of what is recorded at the end of the turn.
  static let undecided = UInt64.max

  /// Turns the answers that say what was lost into errors.
  ///
  /// - Parameter position: What is durable.
  mutating func reject(after position: UInt64, _ error: WireError) {
    reject(after: position, settlingAt: position, error)
  }

  /// Turns the answers that wait for ``undecided`` into errors, which wait for a position.
  mutating func refuseUndecided(at position: UInt64, _ error: WireError) {
    reject(after: Self.undecided - 1, settlingAt: position, error)
  }

  private mutating func reject(
    after position: UInt64, settlingAt settled: UInt64, _ error: WireError
  ) {
    rewrite { entry, answer, buffer in
      guard entry.position > position else {
        buffer.append(answer)
        return entry
      }
      Self.refuse(entry, error, &buffer)
      return Entry(position: settled, end: 0, to: entry.to)
    }
  }

  /// Writes the answers that wait anew; the body appends one and says what it is from then on.
  private mutating func rewrite(
    _ body: (Entry, _ answer: Span<UInt8>, inout ByteBuffer) -> Entry
  ) {
    var from = start
    var result = HeldAnswers()
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
        buffer.truncate(to: buffer.count - 1)  // the LF
      }
      buffer.append("]\n")
    }
  }
}
