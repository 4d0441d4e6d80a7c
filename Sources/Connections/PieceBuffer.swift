package import JSON
internal import Signals

/// A long output in pieces: bytes of its own, and long texts that are shared instead of copied.
///
/// An answer of many long values would otherwise be copied as a whole in one step, most of whose time
/// would be page faults of fresh memory.
///
///     buffer.tail.append(#"{"value":"#)
///     buffer.append(value)  // shared if it is long
///     buffer.tail.append("}")
package struct PieceBuffer: ~Copyable {
  /// The bytes from which a text is shared.
  ///
  /// To send a piece costs about as much as to copy so many.
  static let sharedBytes = 16 << 10

  /// The bytes after which own bytes begin another piece, so that none is copied while it grows.
  private static let pieceBytes = 256 << 10

  /// The bytes from which an output is kept in pieces.
  private static let longBytes = 64 << 10

  private var pieces = Queue<OutputPiece>()

  /// The bytes of ``pieces``.
  private var pieceCount = 0

  /// The last bytes, to which callers append what is short.
  package var tail = ByteBuffer()

  package init() {}

  /// The bytes of all.
  package var count: Int { pieceCount + tail.count }

  /// Whether all bytes are in ``tail``, and none are shared.
  var isUndivided: Bool { pieces.isEmpty }

  /// Whether to copy it costs as little as to keep its pieces.
  package var isShort: Bool { pieces.isEmpty && tail.count < Self.longBytes }

  // MARK: Writing

  /// Appends a value, and shares its text if it is long.
  package mutating func append(_ value: JSONText) {
    let bytes = value.text.utf8.span
    guard Self.isLong(value) else { return tail.append(bytes) }
    cut()
    add(OutputPiece(value.text))
    // The last byte begins the tail: a member written after it sees that it needs a comma.
    tail.append(bytes[bytes.count - 1])
  }

  /// Returns whether a value is long enough to be shared.
  package static func isLong(_ value: JSONText) -> Bool { value.text.utf8.count >= sharedBytes }

  /// Appends a value as a member; nothing if it is `nil`.
  package mutating func member(_ name: StaticString, _ value: JSONText?) {
    guard let value else { return }
    tail.key(name)
    append(value)
  }

  /// Appends all of another buffer.
  package mutating func append(_ other: consuming PieceBuffer) {
    guard !other.isShort else { return tail.append(other.tail) }
    cut()
    while let piece = other.pieces.popFirst() { add(piece) }
    swap(&tail, &other.tail)
    cutIfLong()
  }

  /// Begins another piece if the last bytes are many.
  package mutating func cutIfLong() {
    guard tail.count >= Self.pieceBytes else { return }
    // The last byte stays; see ``append(_:)-(JSONText)``.
    let last = tail.span[tail.count - 1]
    tail.truncate(to: tail.count - 1)
    cut()
    tail.append(last)
  }

  /// Appends the bytes of all, without the first ones, to a buffer.
  package func write(to buffer: inout ByteBuffer, from start: Int = 0) {
    guard start < count else { return }
    buffer.reserve(count - start)
    var skipped = start
    for piece in pieces {
      let dropped = min(skipped, piece.count)
      skipped -= dropped
      piece.withBytes { buffer.append($0.extracting(dropped..<$0.count)) }
    }
    buffer.append(tail.span.extracting(skipped..<tail.count))
  }

  /// Makes the last bytes a piece.
  private mutating func cut() {
    guard !tail.isEmpty else { return }
    var bytes = ByteBuffer()
    swap(&bytes, &tail)
    add(OutputPiece(bytes))
  }

  private mutating func add(_ piece: OutputPiece) {
    pieces.append(piece)
    pieceCount += piece.count
  }

  // MARK: Sending

  /// The bytes of the first piece.
  var firstCount: Int { pieces.first?.count ?? tail.count }

  /// Calls `body` with the bytes of the first piece.
  func withFirst<Value>(_ body: (Span<UInt8>) -> Value) -> Value {
    if let piece = pieces.first { piece.withBytes(body) } else { body(tail.span) }
  }

  /// Removes the first piece.
  ///
  /// - Returns: `false` if only ``tail`` is left.
  mutating func removeFirst() -> Bool {
    guard let piece = pieces.popFirst() else { return false }
    pieceCount -= piece.count
    return true
  }

  mutating func removeAll() {
    pieces = Queue()
    pieceCount = 0
    tail.removeAll(keepingCapacity: 0)
  }
}

/// A piece of a long output.
private final class OutputPiece {
  private let bytes: ByteBuffer

  /// The text that is shared, but for its last byte; `nil` if the piece has bytes of its own.
  private let text: String?

  let count: Int

  init(_ bytes: consuming ByteBuffer) {
    count = bytes.count
    text = nil
    self.bytes = bytes
  }

  init(_ text: String) {
    count = text.utf8.count - 1
    self.text = text
    bytes = ByteBuffer()
  }

  func withBytes<Value>(_ body: (Span<UInt8>) -> Value) -> Value {
    if let text { body(text.utf8.span.extracting(0..<count)) } else { with(bytes, body) }
  }

  private func with<Value>(_ bytes: borrowing ByteBuffer, _ body: (Span<UInt8>) -> Value) -> Value {
    body(bytes.span)
  }
}
