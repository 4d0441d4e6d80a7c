internal import JSON

/// Recorded events as bytes, in the order of their positions.
///
/// The row of an event is what its checksum covers, in the order of ``EventColumns``: the numbers as
/// eight bytes each, little-endian; then the texts, each as its length in four bytes (0xFFFFFFFF for
/// none) and its UTF-8.
///
/// A batch is filled on one thread. From then on nobody changes it, and several threads may read it.
package final class RecordBatch: @unchecked Sendable {
  private var rows = ByteBuffer()

  /// The start of each row in ``rows``.
  private var starts: ContiguousArray<Int> = []

  /// The start of the last field of the last row.
  private var lastField = 0

  package init() {}

  /// Creates a batch of some records.
  package convenience init(_ records: some Sequence<Record>) {
    self.init()
    for record in records { append(record) }
  }

  /// Creates a batch of the bytes of some rows.
  ///
  /// - Returns: `nil` if they are not exactly so many rows.
  package convenience init?(rows bytes: Span<UInt8>, count: Int) {
    self.init()
    var start = 0
    for _ in 0..<count {
      guard let end = RecordRow.end(in: bytes, from: start) else { return nil }
      starts.append(start)
      start = end
    }
    guard start == bytes.count else { return nil }
    rows.append(bytes)
  }

  /// The number of events.
  package var count: Int { starts.count }

  package var isEmpty: Bool { starts.isEmpty }

  /// The size of all rows in bytes.
  package var byteCount: Int { rows.count }

  /// The bytes of all rows.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(rows.span, borrowing: self) }
  }

  /// The position of the first event; 0 if there is none.
  package var first: UInt64 { isEmpty ? 0 : seq(at: 0) }

  /// The position of the last event; 0 if there is none.
  package var last: UInt64 { isEmpty ? 0 : seq(at: count - 1) }

  // MARK: Filling

  /// Begins the next row with the numbers that a store has read; its texts follow in order.
  ///
  /// - Parameter number: Returns a number by its index in ``EventColumns/numbers``.
  package func begin(_ number: (_ index: Int) -> Int64) {
    starts.append(rows.count)
    for index in EventColumns.numbers.indices {
      rows.append(littleEndian: UInt64(bitPattern: number(index)), 0, count: 8)
    }
  }

  @inline(__always)
  private func begin(seq: UInt64, time: Int64, version: UInt64, previous: UInt64) {
    starts.append(rows.count)
    rows.append(littleEndian: seq, UInt64(bitPattern: time), count: 16)
    rows.append(littleEndian: version, previous, count: 16)
  }

  /// Appends a field of the last row.
  package func append(_ field: Span<UInt8>) {
    lastField = rows.count
    rows.append(field: field)
  }

  /// Appends a field of the last row; `nil` for none.
  package func append(_ field: String?) {
    if let field { append(field.utf8.span) } else { appendNone() }
  }

  /// Appends a field without a text.
  package func appendNone() {
    lastField = rows.count
    rows.appendNoField()
  }

  /// Consecutive fields of a row, as they are stored.
  struct Fields: ~Copyable {
    fileprivate private(set) var bytes = ByteBuffer()

    /// The start of the last one.
    fileprivate private(set) var last = 0

    init(_ texts: [String?]) {
      for text in texts {
        last = bytes.count
        if let text { bytes.append(field: text.utf8.span) } else { bytes.appendNoField() }
      }
    }
  }

  /// Appends the row of an event.
  package func append(
    _ appended: Appended, _ time: Int64, _ stream: Span<UInt8>, _ type: String,
    _ data: Span<UInt8>, _ origin: EventOrigin
  ) {
    begin(
      seq: appended.seq, time: time, version: appended.version, previous: appended.previous)
    rows.append(field: stream)
    rows.append(field: type.utf8.span)
    rows.append(field: data)
    lastField = rows.count &+ origin.fields.last
    rows.append(origin.fields.bytes)
  }

  /// Appends the row of another batch.
  package func append(_ row: borrowing RecordRow) {
    starts.append(rows.count)
    rows.append(row.bytes)
  }

  package func append(_ record: Record) {
    begin(
      seq: record.seq, time: record.time, version: record.version, previous: record.previous)
    append(record.stream)
    append(record.type)
    append(record.data)
    append(record.command)
    append(record.meta)
  }

  /// Replaces the last field of the last row, its `meta`.
  package func replaceMeta(_ meta: String) {
    rows.truncate(to: lastField)
    append(meta)
  }

  /// Removes the last rows.
  package func removeLast(_ count: Int) {
    guard count > 0 else { return }
    rows.truncate(to: starts[starts.count - count])
    starts.removeLast(count)
  }

  /// Removes all rows.
  ///
  /// - Parameter capacity: The most bytes of memory to keep.
  package func removeAll(keepingCapacity capacity: Int) {
    rows.removeAll(keepingCapacity: capacity)
    starts.removeAll(keepingCapacity: true)
  }

  // MARK: Reading

  /// Returns the position of an event; cheaper than its row.
  package func seq(at index: Int) -> UInt64 {
    let bytes = unsafe bytes.bytes
    return unsafe UInt64(
      littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: starts[index], as: UInt64.self))
  }

  /// The row of an event.
  package subscript(index: Int) -> RecordRow {
    @_lifetime(borrow self)
    get {
      let end = index + 1 < starts.count ? starts[index + 1] : rows.count
      let row = RecordRow(rows.span.extracting(starts[index]..<end))
      return unsafe _overrideLifetime(row, borrowing: self)
    }
  }

  /// The events as records.
  package var records: [Record] {
    var decoder = RecordDecoder()
    return (0..<count).map { decoder.record(self[$0]) }
  }
}

extension ByteBuffer {
  /// Appends a field of a row.
  @inline(__always)
  fileprivate mutating func append(field: Span<UInt8>) {
    append(littleEndian: UInt64(UInt32(field.count)), 0, count: 4)
    append(field)
  }

  /// Appends a field without a text.
  fileprivate mutating func appendNoField() {
    append(littleEndian: UInt64(UInt32.max), 0, count: 4)
  }
}

/// One event of a ``RecordBatch``.
package struct RecordRow: ~Escapable {
  /// The whole row.
  package let bytes: Span<UInt8>

  /// The end of each text.
  private let ends: InlineArray<5, Int>

  /// The bytes of the numbers.
  private static let start = 32

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
    var ends = InlineArray<5, Int>(repeating: 0)
    var end = Self.start
    for index in 0..<5 {
      let count = Self.count(bytes, at: end)
      end &+= 4
      if count != UInt32.max { end &+= Int(count) }
      ends[index] = end
    }
    precondition(end == bytes.count, "a row has all texts")
    self.ends = ends
  }

  @inline(__always)
  private static func count(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
    precondition(offset &+ 4 <= bytes.count, "a row ends within a field")
    return unsafe UInt32(
      littleEndian: bytes.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: offset, as: UInt32.self))
  }

  /// Returns the end of the row that begins at an offset; `nil` if it is not within the bytes.
  static func end(in bytes: Span<UInt8>, from start: Int) -> Int? {
    var end = start + Self.start
    for _ in EventColumns.texts {
      guard end + 4 <= bytes.count else { return nil }
      let count = Self.count(bytes, at: end)
      end += 4
      if count != UInt32.max { end += Int(count) }
      guard end <= bytes.count else { return nil }
    }
    return end
  }

  /// Returns a number by its index in ``EventColumns/numbers``.
  @inline(__always)
  package func number(_ index: Int) -> Int64 {
    unsafe Int64(
      littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: 8 &* index, as: Int64.self))
  }

  package var seq: UInt64 { UInt64(bitPattern: number(0)) }
  package var time: Int64 { number(1) }
  package var version: UInt64 { UInt64(bitPattern: number(2)) }
  package var previous: UInt64 { UInt64(bitPattern: number(3)) }

  /// The offset of the length of a text.
  @inline(__always)
  private func start(_ index: Int) -> Int { index == 0 ? Self.start : ends[index &- 1] }

  /// Returns a text by its index in ``EventColumns/texts``; empty if it is missing.
  @inline(__always)
  @_lifetime(copy self)
  package func text(_ index: Int) -> Span<UInt8> {
    let start = start(index) &+ 4
    return bytes.extracting(start..<max(start, ends[index]))
  }

  /// Returns whether the event has a text.
  @inline(__always)
  package func hasText(_ index: Int) -> Bool {
    Self.count(bytes, at: start(index)) != UInt32.max
  }

  package var stream: Span<UInt8> { @_lifetime(copy self) get { text(0) } }
  package var type: Span<UInt8> { @_lifetime(copy self) get { text(1) } }
  package var data: Span<UInt8> { @_lifetime(copy self) get { text(2) } }

  /// The bytes of ``Record/command``; empty if there is none.
  package var command: Span<UInt8> { @_lifetime(copy self) get { text(3) } }

  /// The bytes of ``Record/meta``; empty if there is none.
  package var meta: Span<UInt8> { @_lifetime(copy self) get { text(4) } }

  /// Whether the event has a ``command``.
  package var hasCommand: Bool { hasText(3) }

  /// Whether the event has a ``meta``.
  package var hasMeta: Bool { hasText(4) }
}

/// Makes records of rows.
///
/// Fields that repeat from row to row share their strings.
package struct RecordDecoder {
  private var type = ""
  private var meta = ""

  package init() {}

  /// Returns the event of a row as a record.
  package mutating func record(_ row: RecordRow) -> Record {
    if !row.type.hasSameBytes(as: type.utf8.span) { type = String(validUTF8: row.type) }
    if row.hasMeta, !row.meta.hasSameBytes(as: meta.utf8.span) {
      meta = String(validUTF8: row.meta)
    }
    return Record(
      seq: row.seq, time: row.time, version: row.version, previous: row.previous,
      stream: String(validUTF8: row.stream), type: type, data: String(validUTF8: row.data),
      command: row.hasCommand ? String(validUTF8: row.command) : nil,
      meta: row.hasMeta ? meta : nil)
  }
}
