/// Values by number: 0, 1, 2, ….
///
/// The values are in chunks. A copy of a map shares its chunks, and a change of either copy
/// afterwards copies the list of chunks and one chunk. A number without a value of its own has the
/// empty value; a chunk with only empty values takes no memory.
public struct NumberMap<Value> {
  @usableFromInline
  var chunks: ContiguousArray<ContiguousArray<Value>> = []
  @usableFromInline
  let empty: Value

  /// The count of values in a chunk is 2 to this power.
  @inlinable
  static var chunkBits: Int { 8 }

  @inlinable
  static var chunkSize: Int { 1 << chunkBits }

  /// Creates a map.
  ///
  /// - Parameter empty: The value of all numbers that have no other one.
  @inlinable
  public init(empty: Value) {
    self.empty = empty
  }

  /// The value of a number.
  @inlinable
  public subscript(number: Int) -> Value {
    get {
      let chunk = number &>> Self.chunkBits
      // A span counts no references.
      let chunks = chunks.span
      guard chunk < chunks.count else { return empty }
      let values = chunks[chunk].span
      return values.isEmpty ? empty : values[number & (Self.chunkSize &- 1)]
    }
    set {
      prepare(number)
      chunks[number &>> Self.chunkBits][number & (Self.chunkSize &- 1)] = newValue
    }
    _modify {
      prepare(number)
      yield &chunks[number &>> Self.chunkBits][number & (Self.chunkSize &- 1)]
    }
  }

  /// Makes the chunk of a number.
  @inlinable
  @inline(__always)
  mutating func prepare(_ number: Int) {
    let chunk = number &>> Self.chunkBits
    guard chunk >= chunks.count || chunks[chunk].isEmpty else { return }
    makeChunk(chunk)
  }

  @usableFromInline
  @inline(never)
  mutating func makeChunk(_ chunk: Int) {
    while chunk >= chunks.count { chunks.append([]) }
    chunks[chunk] = ContiguousArray(repeating: empty, count: Self.chunkSize)
  }

  /// Calls `body` with each number up to the last one that was set, and its value, in order.
  ///
  /// Chunks without values are left out.
  @inlinable
  public func forEach(_ body: (Int, Value) -> Void) {
    for (chunk, values) in chunks.enumerated() {
      let values = values.span
      for i in values.indices { body(chunk &<< Self.chunkBits &+ i, values[i]) }
    }
  }

  /// Changes each value, as ``forEach(_:)``.
  @inlinable
  public mutating func changeEach(_ body: (Int, inout Value) -> Void) {
    for chunk in chunks.indices {
      for i in chunks[chunk].indices {
        body(chunk &<< Self.chunkBits &+ i, &chunks[chunk][i])
      }
    }
  }
}

extension NumberMap: Sendable where Value: Sendable {}
