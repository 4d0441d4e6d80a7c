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
  /// An answer.
  ///
  /// Its identifier is read from its bytes when it is needed, which is seldom.
  private struct Entry: BitwiseCopyable {
    /// The position that must be durable before the answer is sent.
    var position: UInt64

    /// The end offset of the answer in ``bytes``.
    let end: Int
  }

  /// The requests and the timeout of an answer, as far as its bytes do not have them.
  private struct Detail {
    /// The requests; `nil` for the one in the bytes.
    let to: Addressee?

    /// The timeout of the answer; `nil` for none.
    let expiry: Expiry?
  }

  /// The time at which a call times out, and the length of its timeout.
  struct Expiry {
    /// The time in milliseconds of the context's clock.
    let at: UInt64
    let afterMilliseconds: Int
  }

  private var entries: ContiguousArray<Entry> = []
  private var bytes = ByteBuffer()

  /// The highest position of the entries; an answer may wait for a lower one than those before it.
  private var highest: UInt64 = 0

  /// The details of a few answers, by the index of the entry.
  private var details: [Int: Detail] = [:]

  /// The number of entries that were released but not removed yet.
  private var released = 0
  private var start = 0

  var isEmpty: Bool { released == entries.count }

  var count: Int { entries.count - released }

  /// The bytes of the waiting answers.
  var byteCount: Int { bytes.count - start }

  /// Appends the answer to one request, which ``Frame`` writes.
  @inline(__always)
  mutating func append(after position: UInt64, _ write: (inout ByteBuffer) -> Void) {
    write(&bytes)
    entries.append(Entry(position: position, end: bytes.count))
    if position > highest { highest = position }
  }

  mutating func append(
    after position: UInt64, to addressee: Addressee, expiring expiry: Expiry? = nil,
    _ write: (inout ByteBuffer) -> Void
  ) {
    append(after: position, write)
    let detail: Detail
    if case .request = addressee {
      guard let expiry else { return }
      detail = Detail(to: nil, expiry: expiry)
    } else {
      detail = Detail(to: addressee, expiry: expiry)
    }
    details[entries.count - 1] = detail
  }

  /// Calls `body` with the index and the bytes of each waiting answer, in order, until it returns
  /// `false`.
  private func forEach(_ body: (_ index: Int, _ answer: Span<UInt8>) -> Bool) {
    var from = start
    for i in released..<entries.count {
      guard body(i, bytes.span.extracting(from..<entries[i].end)) else { return }
      from = entries[i].end
    }
  }

  /// Returns the requests of an entry.
  private func addressee(_ index: Int, _ answer: Span<UInt8>) -> Addressee {
    details[index]?.to ?? .request(Frame.id(ofAnswer: answer))
  }

  /// Returns whether the answer to a request waits for a position that is not durable.
  func isWaiting(_ id: RequestID, after position: UInt64) -> Bool {
    var isFound = false
    forEach { i, answer in
      guard entries[i].position > position else { return true }
      switch addressee(i, answer) {
      case .request(let other): isFound = other == id
      case .batch(let ids): isFound = ids.contains(id)
      case .nobody: break
      }
      return !isFound
    }
    return isFound
  }

  /// The time of the next timeout; `nil` if there is none.
  var nextExpiry: UInt64? { details.values.compactMap { $0.expiry?.at }.min() }

  /// Removes the bytes of the answers that have timed out.
  ///
  /// Their entries stay.
  ///
  /// - Parameter now: The time in milliseconds of the context's clock.
  /// - Returns: The requests that timed out, with the lengths of their timeouts.
  mutating func expire(at now: UInt64) -> [(to: Addressee, afterMilliseconds: Int)] {
    var expired: [(to: Addressee, afterMilliseconds: Int)] = []
    rewrite { entry, to, expiry, answer, result in
      guard let expiry, expiry.at <= now else {
        return result.append(after: entry, to: to, expiring: expiry) { $0.append(answer) }
      }
      expired.append((to, expiry.afterMilliseconds))
      result.append(after: entry, to: .nobody) { _ in }
    }
    return expired
  }

  /// Moves the answers whose position is durable to a buffer.
  mutating func release(upTo position: UInt64, to buffer: inout ByteBuffer) {
    let before = start
    if highest <= position {
      (released, start) = (entries.count, bytes.count)
    } else {
      while released < entries.count, entries[released].position <= position {
        start = entries[released].end
        released += 1
      }
    }
    guard start > before || isEmpty else { return }
    buffer.append(bytes.span.extracting(before..<start))
    if isEmpty { forget() } else if released > 1024, released > entries.count / 2 { compact() }
  }

  /// Removes the released entries while others still wait.
  private mutating func compact() {
    entries = ContiguousArray(
      entries[released...].map { Entry(position: $0.position, end: $0.end - start) })
    if !details.isEmpty {
      var left: [Int: Detail] = [:]
      for (i, detail) in details where i >= released { left[i - released] = detail }
      details = left
    }
    bytes.removeFirst(start)
    (released, start) = (0, 0)
  }

  private mutating func forget() {
    entries.removeAll(keepingCapacity: entries.count <= 1024)
    if !details.isEmpty { details = [:] }
    bytes.removeAll(keepingCapacity: 16 << 10)
    (released, start, highest) = (0, 0, 0)
  }

  /// Sets the position of the answers that wait for ``undecided``.
  mutating func decide(at position: UInt64) {
    highest = 0
    for i in released..<entries.count {
      if entries[i].position == Self.undecided { entries[i].position = position }
      highest = max(highest, entries[i].position)
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
    rewrite { entry, to, expiry, answer, result in
      guard entry > position else {
        return result.append(after: entry, to: to, expiring: expiry) { $0.append(answer) }
      }
      result.append(after: settled, to: to) { Self.refuse(to, error, &$0) }
      count += 1
    }
    return count
  }

  /// Rewrites the waiting answers.
  ///
  /// The body appends one answer to the result; it gets the position, the requests, the timeout and
  /// the bytes of the present one.
  private mutating func rewrite(
    _ body: (UInt64, Addressee, Expiry?, Span<UInt8>, inout PendingReplies) -> Void
  ) {
    var result = PendingReplies()
    forEach { i, answer in
      body(entries[i].position, addressee(i, answer), details[i]?.expiry, answer, &result)
      return true
    }
    self = result
  }

  private static func refuse(
    _ addressee: Addressee, _ error: WireError, _ buffer: inout ByteBuffer
  ) {
    switch addressee {
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
