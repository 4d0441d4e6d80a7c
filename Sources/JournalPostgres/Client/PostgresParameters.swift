/// The parameters of a prepared statement, in the binary format.
///
/// All of them are in one buffer, because one append has up to a megabyte of texts.
struct PostgresParameters: Sendable {
  private var bytes: [UInt8] = []

  /// The range of each parameter in ``bytes``; `nil` is NULL.
  private var ranges: [Range<Int>?] = []

  /// The object identifiers of `bigint` and `text`.
  private enum TypeID {
    static let bigint: UInt32 = 20
    static let text: UInt32 = 25
  }

  init() {}

  var count: Int { ranges.count }

  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  mutating func add(_ number: Int64) { addValue { $0.append(number) } }

  mutating func add(_ number: UInt64) { add(Int64(clamping: number)) }

  mutating func add(_ flag: Bool) { addValue { $0.bytes.append(flag ? 1 : 0) } }

  mutating func add(_ text: String?) {
    guard let text else { return ranges.append(nil) }
    addValue { $0.bytes += text.utf8 }
  }

  /// Adds bytes as a text.
  mutating func add(_ text: UnsafeRawBufferPointer) {
    addValue { $0.bytes += text }
  }

  /// Adds an array of numbers.
  mutating func add(_ numbers: some Collection<Int64>) {
    addArray(numbers, of: TypeID.bigint) { parameters, number in
      parameters.append(UInt32(8))
      parameters.append(number)
    }
  }

  /// Adds an array of texts.
  ///
  /// - Parameter append: Appends the element with an index: a text or NULL.
  mutating func addTexts(_ count: Int, _ append: (Int, inout Self) -> Void) {
    addArray(0..<count, of: TypeID.text) { append($1, &$0) }
  }

  /// Appends an element to the array that is being added.
  mutating func append(element: Span<UInt8>) {
    append(UInt32(element.count))
    element.withUnsafeBufferPointer { bytes += $0 }
  }

  /// Appends NULL to the array that is being added.
  mutating func appendNull() { append(UInt32.max) }

  /// Adds an array: dimensions, whether there may be NULL, type, length, lower bound, elements; see
  /// `array_recv` in PostgreSQL's `arrayfuncs.c`.
  private mutating func addArray<Element>(
    _ elements: some Collection<Element>, of type: UInt32,
    _ append: (inout Self, Element) -> Void
  ) {
    addValue { parameters in
      parameters.append(UInt32(elements.isEmpty ? 0 : 1))
      parameters.append(UInt32(1))
      parameters.append(type)
      guard !elements.isEmpty else { return }
      parameters.append(UInt32(elements.count))
      parameters.append(UInt32(1))
      for element in elements { append(&parameters, element) }
    }
  }

  private mutating func addValue(_ write: (inout Self) -> Void) {
    let start = bytes.count
    write(&self)
    ranges.append(start..<bytes.count)
  }

  private mutating func append(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
  }

  /// Calls `body` with the number, the values and the lengths of the parameters.
  func withPointers<Result>(
    _ body: (CInt, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<CInt>?) -> Result
  ) -> Result {
    bytes.withUnsafeBytes { buffer in
      // An empty buffer has no address, and NULL would mean another value.
      withUnsafePointer(to: 0 as CChar) { empty in
        let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self) ?? empty
        let values = ranges.map { $0.map { start + $0.lowerBound } }
        let lengths = ranges.map { CInt($0?.count ?? 0) }
        return body(CInt(ranges.count), values, lengths)
      }
    }
  }
}
