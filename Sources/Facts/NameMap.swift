public import JSON

/// A dictionary from names to values for large tables that change with every event.
///
/// Names are found by their bytes, without `Hasher`. The hash is seeded at random for each map, so
/// that no client can choose names that collide.
///
/// The entries are in small buckets, grouped in pages. A map grows one bucket at a time (linear
/// hashing), so no insertion takes long. A copy of a map shares its pages and buckets. A change of
/// either copy afterwards copies only the list of pages, one page and one bucket.
public struct NameMap<Value> {
  @usableFromInline
  struct Entry {
    @usableFromInline
    let name: String
    @usableFromInline
    var value: Value

    @inlinable
    init(name: String, value: Value) {
      (self.name, self.value) = (name, value)
    }
  }

  /// The names with the same low bits of their hash, unordered.
  @usableFromInline
  struct Bucket {
    /// The high bits of the hash of each entry.
    @usableFromInline
    var tags: ContiguousArray<UInt16> = []
    @usableFromInline
    var entries: ContiguousArray<Entry> = []

    @inlinable
    init() {}
  }

  /// The position of a name.
  @usableFromInline
  struct Slot {
    @usableFromInline
    let page: Int
    @usableFromInline
    let bucket: Int
    /// The index in the bucket; negative if the name is absent.
    @usableFromInline
    let index: Int
    @usableFromInline
    let tag: UInt16

    @inlinable
    init(page: Int, bucket: Int, index: Int, tag: UInt16) {
      (self.page, self.bucket, self.index, self.tag) = (page, bucket, index, tag)
    }
  }

  /// The number of names.
  @inlinable
  public var count: Int { size }
  @usableFromInline
  var size = 0

  /// The buckets, ``bucketsOfPage`` in each page but the last one.
  @usableFromInline
  var pages: ContiguousArray<ContiguousArray<Bucket>> = [[Bucket()]]
  @usableFromInline
  var bucketCount = 1
  @usableFromInline
  let seed = UInt64.random(in: .min ... .max)
  @usableFromInline
  let factor = UInt64.random(in: .min ... .max) | 1

  /// The average number of entries above which a bucket is split.
  @inlinable
  static var bucketSize: Int { 20 }

  /// The number of buckets in a page is 2 to this power.
  @inlinable
  static var pageBits: Int { 6 }

  /// Creates an empty map.
  @inlinable
  public init() {}

  /// Whether the map has no names.
  @inlinable
  public var isEmpty: Bool { size == 0 }

  // MARK: Finding

  @inlinable
  func hash(_ name: Span<UInt8>) -> UInt64 {
    let bytes = unsafe name.bytes
    let count = bytes.byteCount
    var hash = seed ^ UInt64(truncatingIfNeeded: count)
    var i = 0
    while i &+ 8 <= count {
      hash = mixed(
        hash, unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self))
      i &+= 8
    }
    var rest: UInt64 = 0
    while i < count {
      rest = rest << 8 | UInt64(name[i])
      i &+= 1
    }
    return mixed(hash, rest)
  }

  @inlinable
  func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word).multipliedFullWidth(by: factor)
    // The sum keeps a word that makes the product 0 from erasing the others.
    return (product.high ^ product.low) &+ hash.byteSwapped
  }

  /// Returns the number of the bucket for a hash.
  @inlinable
  func bucket(_ hash: UInt64) -> Int {
    let bits = UInt64.bitWidth &- bucketCount.leadingZeroBitCount
    let low = Int(truncatingIfNeeded: hash & (1 &<< UInt64(bits) &- 1))
    return low < bucketCount ? low : low & ~(1 &<< (bits &- 1))
  }

  @inlinable
  func find(_ name: Span<UInt8>) -> Slot {
    let hash = hash(name)
    let number = bucket(hash)
    let tag = UInt16(truncatingIfNeeded: hash >> 48)
    let (page, bucket) = (number >> Self.pageBits, number & (1 << Self.pageBits &- 1))
    // A pointer to the buckets counts no references.
    let index = unsafe pages[page].withUnsafeBufferPointer { buckets in
      var index = unsafe buckets[bucket].tags.count &- 1
      while index >= 0 {
        if unsafe buckets[bucket].tags[index] == tag,
          unsafe buckets[bucket].entries[index].name.utf8.span.hasSameBytes(as: name)
        {
          break
        }
        index &-= 1
      }
      return index
    }
    return Slot(page: page, bucket: bucket, index: index, tag: tag)
  }

  /// The value of a name; `nil` if it is absent.
  @inlinable
  public subscript(name: String) -> Value? {
    get { self[bytes: name.utf8.span] }
    set {
      let slot = find(name.utf8.span)
      guard let newValue else { return remove(slot) }
      if slot.index >= 0 {
        pages[slot.page][slot.bucket].entries[slot.index].value = newValue
      } else {
        insert(name, newValue, slot)
      }
    }
  }

  /// The value of a name by its bytes; `nil` if it is absent.
  @inlinable
  public subscript(bytes name: Span<UInt8>) -> Value? {
    let slot = find(name)
    return slot.index < 0 ? nil : pages[slot.page][slot.bucket].entries[slot.index].value
  }

  /// Returns the text and the value of a name by its bytes; `nil` if it is absent.
  @inlinable
  public func entry(_ name: Span<UInt8>) -> (name: String, value: Value)? {
    let slot = find(name)
    guard slot.index >= 0 else { return nil }
    let entry = pages[slot.page][slot.bucket].entries[slot.index]
    return (entry.name, entry.value)
  }

  /// Returns the text of a name that is present; `nil` if it is absent.
  ///
  /// All copies of that text share its storage.
  @inlinable
  public func name(_ name: Span<UInt8>) -> String? {
    let slot = find(name)
    return slot.index < 0 ? nil : pages[slot.page][slot.bucket].entries[slot.index].name
  }

  /// Returns whether a name is present.
  @inlinable
  public func contains(_ name: String) -> Bool { find(name.utf8.span).index >= 0 }

  // MARK: Changing

  /// Changes the value of a name with one look-up.
  ///
  /// - Parameter initial: The value to insert first if the name is absent; `nil` to do nothing.
  /// - Returns: The result of `body`, or `nil` if it did not run.
  @inlinable
  @discardableResult
  public mutating func change<Result>(
    _ name: String, initial: @autoclosure () -> Value? = nil, _ body: (inout Value) -> Result
  ) -> Result? {
    var slot = find(name.utf8.span)
    if slot.index < 0 {
      guard let value = initial() else { return nil }
      insert(name, value, slot)
      // A split may have moved it.
      slot = find(name.utf8.span)
    }
    return body(&pages[slot.page][slot.bucket].entries[slot.index].value)
  }

  /// Changes each value.
  @inlinable
  public mutating func changeEach(_ body: (String, inout Value) -> Void) {
    for page in pages.indices {
      for bucket in pages[page].indices {
        for index in pages[page][bucket].entries.indices {
          body(
            pages[page][bucket].entries[index].name, &pages[page][bucket].entries[index].value)
        }
      }
    }
  }

  @inlinable
  mutating func insert(_ name: String, _ value: Value, _ slot: Slot) {
    pages[slot.page][slot.bucket].append(Entry(name: name, value: value), slot.tag)
    size &+= 1
    if size > bucketCount &* Self.bucketSize { split() }
  }

  @inlinable
  mutating func remove(_ slot: Slot) {
    guard slot.index >= 0 else { return }
    size &-= 1
    pages[slot.page][slot.bucket].remove(slot.index)
  }

  /// Adds a bucket, and moves there the names of an older one that belong to it.
  @inlinable
  mutating func split() {
    let bits = Int.bitWidth &- bucketCount.leadingZeroBitCount &- 1
    let number = bucketCount & ~(1 << bits)
    let (page, bucket) = (number >> Self.pageBits, number & (1 << Self.pageBits &- 1))
    let old = pages[page][bucket]
    bucketCount += 1
    var (low, high) = (Bucket(), Bucket())
    for (entry, tag) in zip(old.entries, old.tags) {
      if self.bucket(hash(entry.name.utf8.span)) == number {
        low.append(entry, tag)
      } else {
        high.append(entry, tag)
      }
    }
    pages[page][bucket] = low
    if pages[pages.count - 1].count == 1 << Self.pageBits {
      pages.append([])
      pages[pages.count - 1].reserveCapacity(1 << Self.pageBits)
    }
    pages[pages.count - 1].append(high)
  }

  // MARK: All entries

  /// Calls `body` with each name and its value, unordered.
  @inlinable
  public func forEach(_ body: (String, Value) -> Void) {
    for page in pages {
      for bucket in page {
        // A span counts no references.
        let entries = bucket.entries.span
        for i in entries.indices { body(entries[i].name, entries[i].value) }
      }
    }
  }

  /// The names, unordered.
  public var names: some Sequence<String> { Names(map: self) }

  private struct Names: Sequence, IteratorProtocol {
    private let map: NameMap
    private var (page, bucket, index) = (0, 0, 0)
    var underestimatedCount: Int

    init(map: NameMap) {
      self.map = map
      underestimatedCount = map.count
    }

    mutating func next() -> String? {
      while page < map.pages.count {
        while bucket < map.pages[page].count {
          if index < map.pages[page][bucket].entries.count {
            index += 1
            return map.pages[page][bucket].entries[index - 1].name
          }
          (bucket, index) = (bucket + 1, 0)
        }
        (page, bucket) = (page + 1, 0)
      }
      return nil
    }
  }
}

extension NameMap.Bucket {
  /// Adds an entry; grows by a few entries at a time, because there are many buckets.
  @inlinable
  mutating func append(_ entry: NameMap.Entry, _ tag: UInt16) {
    if entries.count == entries.capacity {
      entries.reserveCapacity(entries.count &+ 4)
      tags.reserveCapacity(tags.count &+ 8)
    }
    entries.append(entry)
    tags.append(tag)
  }

  @inlinable
  mutating func remove(_ index: Int) {
    let last = entries.count &- 1
    if last == 0 {
      self = NameMap.Bucket()
      return
    }
    entries.swapAt(index, last)
    tags.swapAt(index, last)
    entries.removeLast()
    tags.removeLast()
  }
}

extension NameMap: Sendable where Value: Sendable {}
extension NameMap.Bucket: Sendable where Value: Sendable {}
extension NameMap.Entry: Sendable where Value: Sendable {}

/// Encoded as a dictionary.
extension NameMap: Codable where Value: Codable {
  /// Decodes a dictionary.
  public init(from decoder: any Decoder) throws {
    for (name, value) in try [String: Value](from: decoder) { self[name] = value }
  }

  /// Encodes a dictionary.
  public func encode(to encoder: any Encoder) throws {
    var values: [String: Value] = [:]
    forEach { values[$0] = $1 }
    try values.encode(to: encoder)
  }
}
