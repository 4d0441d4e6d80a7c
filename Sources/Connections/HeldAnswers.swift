internal import JSON
internal import Wire

/// What an answer answers.
enum Addressee {
  case request(RequestID)
  /// The requests of a batch that want an answer; there is one.
  case batch([RequestID])

  /// The first of them.
  var id: RequestID {
    switch self {
    case .request(let id): id
    case .batch(let ids): ids.first ?? .null
    }
  }
}

/// Answers that wait until what they say is durable, in the order of their requests.
///
/// An answer that waits for nothing waits here as well while one before it does.
struct HeldAnswers: ~Copyable {
  private struct Entry {
    /// The position that must be durable before it may be sent.
    let position: UInt64

    /// The end of its bytes in ``bytes``.
    let end: Int

    let to: Addressee
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
    after position: UInt64, to addressee: Addressee, _ write: (inout ByteBuffer) -> Void
  ) {
    write(&bytes)
    entries.append(Entry(position: position, end: bytes.count, to: addressee))
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
      Entry(position: $0.position, end: $0.end - start, to: $0.to)
    }
    bytes.removeFirst(start)
    (released, start) = (0, 0)
  }

  private mutating func forget() {
    entries.removeAll(keepingCapacity: entries.count <= 256)
    bytes.removeAll(keepingCapacity: 16 << 10)
    (released, start) = (0, 0)
  }

  /// Turns the answers that say what was lost into errors.
  ///
  /// - Parameter position: What is durable.
  mutating func reject(after position: UInt64, _ error: WireError) {
    let kept = entries[released...]
    var from = start
    var result = HeldAnswers()
    for entry in kept {
      if entry.position <= position {
        let answer = bytes.span.extracting(from..<entry.end)
        result.bytes.append(answer)
      } else {
        Self.refuse(entry, error, &result.bytes)
      }
      from = entry.end
      result.entries.append(
        Entry(
          position: min(entry.position, position), end: result.bytes.count, to: entry.to))
    }
    self = result
  }

  private static func refuse(_ entry: Entry, _ error: WireError, _ buffer: inout ByteBuffer) {
    switch entry.to {
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
