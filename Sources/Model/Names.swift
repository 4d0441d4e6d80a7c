internal import JSON

/// A table of names, each with a number.
///
/// A name is found by its bytes with one look-up. All other tables use its number, so that nothing
/// else has to hash, compare or keep the name. The hash is seeded at random for each table, so that
/// no client can choose names that collide.
///
/// A name stays until nothing holds it any more (``Holder``); its number is then used for another
/// name.
public final class Names {
  /// The names by number.
  public private(set) var list = NameList()

  /// The reasons for which a name stays in a table.
  public struct Holder: OptionSet, Sendable {
    /// One bit for each holder.
    public let rawValue: UInt8

    /// Creates a set of holders.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// It is a stream with events.
    public static let stream = Holder(rawValue: 1)
    /// It is a source with a value.
    public static let source = Holder(rawValue: 2)
    /// Somebody observes the source of that name.
    public static let watcher = Holder(rawValue: 4)
  }

  /// The holders of each name; a free number has none.
  private var holders = NumberMap<Holder>(empty: [])

  /// The number of each name plus 1, by hash, with open addressing; 0 is free.
  ///
  /// The count is a power of two.
  private var slots: ContiguousArray<UInt32> = ContiguousArray(repeating: 0, count: 16)

  /// The slots of a smaller table, which are moved into ``slots`` a few at a time.
  private var former: ContiguousArray<UInt32> = []

  /// The index in ``former`` up to which the slots were moved.
  private var moved = 0

  /// The numbers of names that nothing holds any more.
  private var free: ContiguousArray<UInt32> = []
  private let seed = UInt64.random(in: .min ... .max)
  private let factor = UInt64.random(in: .min ... .max) | 1

  /// The count of slots that are moved with each insertion.
  private static let step = 16

  /// Creates an empty table.
  public init() {}

  /// The count of names.
  public private(set) var count = 0

  /// The bytes of a name, which exists; valid until the table changes.
  public subscript(number: Int) -> Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let name = unsafe list.memory(of: number).span
      return unsafe _overrideLifetime(name, borrowing: self)
    }
  }

  /// Returns the text of a name, which exists.
  public func text(_ number: Int) -> String { list.text(number) }

  /// Returns the length of a name in bytes; 0 if there is none.
  public func byteCount(of number: Int) -> Int { list.byteCount(of: number) }

  // MARK: Finding

  /// Returns the number of a name; `nil` if the table does not have it.
  public func number(of name: Span<UInt8>) -> Int? { number(of: name, hash(name)) }

  private func number(of name: Span<UInt8>, _ hash: UInt64) -> Int? {
    let place = find(name, hash, in: slots)
    if place >= 0 { return place }
    guard !former.isEmpty else { return nil }
    let formerPlace = find(name, hash, in: former)
    return formerPlace >= 0 ? formerPlace : nil
  }

  /// Returns the number of a name; `nil` if the table does not have it.
  public func number(of name: String) -> Int? { number(of: name.utf8.span) }

  private func hash(_ name: Span<UInt8>) -> UInt64 {
    let bytes = unsafe name.bytes
    let count = bytes.byteCount
    var hash = seed ^ UInt64(truncatingIfNeeded: count)
    guard count >= 8 else {
      var rest: UInt64 = 0
      for i in name.indices { rest = rest << 8 | UInt64(name[i]) }
      return mixed(hash, rest)
    }
    var i = 0
    while i &+ 8 < count {
      hash = mixed(
        hash, unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self))
      i &+= 8
    }
    // The last word may overlap the one before it.
    return mixed(
      hash, unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: count &- 8, as: UInt64.self))
  }

  private func hash(ofNumber number: Int) -> UInt64 {
    let list = list
    return hash(list[number])
  }

  @inline(__always)
  private func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word).multipliedFullWidth(by: factor)
    // The sum keeps a word that makes the product 0 from erasing the others.
    return (product.high ^ product.low) &+ hash.byteSwapped
  }

  /// Returns the number of a name in a table of slots; -1 if it is not there.
  @inline(__always)
  private func find(
    _ name: Span<UInt8>, _ hash: UInt64, in table: borrowing ContiguousArray<UInt32>
  ) -> Int {
    let slots = table.span
    let mask = slots.count &- 1
    var at = Int(truncatingIfNeeded: hash) & mask
    let tag = UInt8(truncatingIfNeeded: hash >> 56)
    while true {
      let slot = unsafe slots[unchecked: at]
      if slot == 0 { return -1 }
      let number = Int(slot) &- 1
      if slot != Self.gone, list.has(name, tag, at: number) { return number }
      at = (at &+ 1) & mask
    }
  }

  /// The mark of a slot of ``former`` whose name was moved or removed.
  private static let gone = UInt32.max

  // MARK: Adding

  /// Returns the number of a name, and adds the name if the table does not have it.
  ///
  /// A name that was added and that nothing holds takes memory until ``release(_:)``.
  public func add(_ name: Span<UInt8>) -> Int {
    let hash = hash(name)
    if let number = number(of: name, hash) { return number }
    if (count &+ 1) &* 3 > slots.count &* 2 { grow() }
    let number = free.popLast().map(Int.init) ?? list.count
    list.set(name, UInt8(truncatingIfNeeded: hash >> 56), at: number)
    insert(number, hash)
    count &+= 1
    if !former.isEmpty { move(Self.step) }
    return number
  }

  /// Returns the number of a name, and adds the name if the table does not have it.
  ///
  /// Names that come mostly in the order of their numbers are found without a search, which would
  /// wait for memory.
  ///
  /// - Parameter last: The number of the name before this one, which is replaced by its own; at
  ///   first -1.
  public func add(_ name: Span<UInt8>, after last: inout Int) -> Int {
    let next = last &+ 1
    last = list.has(name, at: next) ? next : add(name)
    return last
  }

  /// Returns the number of a name, and adds the name if the table does not have it.
  public func add(_ name: String) -> Int { add(name.utf8.span) }

  private func insert(_ number: Int, _ hash: UInt64) {
    let mask = slots.count &- 1
    var at = Int(truncatingIfNeeded: hash) & mask
    while slots[at] != 0 { at = (at &+ 1) & mask }
    slots[at] = UInt32(truncatingIfNeeded: number &+ 1)
  }

  /// Begins a table with twice as many slots.
  private func grow() {
    if !former.isEmpty { move(former.count) }
    (former, moved) = (slots, 0)
    slots = ContiguousArray(repeating: 0, count: former.count &* 2)
  }

  /// Moves some slots into the larger table.
  private func move(_ most: Int) {
    let end = min(moved &+ most, former.count)
    while moved < end {
      let slot = former[moved]
      if slot != 0, slot != Self.gone {
        let number = Int(slot) &- 1
        insert(number, hash(ofNumber: number))
        // Not free, because names behind it in the same run must be found.
        former[moved] = Self.gone
      }
      moved &+= 1
    }
    if moved == former.count { (former, moved) = ([], 0) }
  }

  // MARK: Holding and removing

  /// Returns the holders of a name.
  public func holders(of number: Int) -> Holder { holders[number] }

  /// Returns whether a name has a holder.
  public func isHeld(_ number: Int, by holder: Holder) -> Bool {
    holders[number].contains(holder)
  }

  /// Adds a holder of a name.
  public func hold(_ number: Int, by holder: Holder) {
    guard !holders[number].contains(holder) else { return }
    holders[number].insert(holder)
  }

  /// Removes a holder of a name, and the name if it has no other one.
  public func drop(_ number: Int, by holder: Holder) {
    guard holders[number].contains(holder) else { return }
    holders[number].remove(holder)
    release(number)
  }

  /// Removes a name, unless something holds it.
  public func release(_ number: Int) {
    guard holders[number].isEmpty, list.contains(number) else { return }
    remove(number, hash(ofNumber: number))
    list.clear(number)
    free.append(UInt32(truncatingIfNeeded: number))
    count &-= 1
    if list.isWasteful { list = list.rewritten }
  }

  private func remove(_ number: Int, _ hash: UInt64) {
    let wanted = UInt32(truncatingIfNeeded: number &+ 1)
    if !former.isEmpty {
      let mask = former.count &- 1
      var at = Int(truncatingIfNeeded: hash) & mask
      while former[at] != 0 {
        if former[at] == wanted {
          former[at] = Self.gone
          return
        }
        at = (at &+ 1) & mask
      }
    }
    let mask = slots.count &- 1
    var at = Int(truncatingIfNeeded: hash) & mask
    while slots[at] != wanted { at = (at &+ 1) & mask }
    // Closes the gap, so that names behind it in the same run are found.
    var next = (at &+ 1) & mask
    while slots[next] != 0 {
      let home = Int(truncatingIfNeeded: self.hash(ofNumber: Int(slots[next]) &- 1)) & mask
      if (next &- home) & mask >= (next &- at) & mask {
        slots[at] = slots[next]
        at = next
      }
      next = (next &+ 1) & mask
    }
    slots[at] = 0
  }
}

/// The names of a table by number.
///
/// A copy shares all names, and can be read on another thread while the table goes on.
public struct NameList: @unchecked Sendable {
  // `@unchecked`, because a page is written behind the bytes that any copy knows.

  /// The names, one after the other.
  @safe
  private final class Page {
    let bytes: UnsafeMutableRawPointer

    init(_ count: Int) {
      unsafe bytes = .allocate(byteCount: count, alignment: 1)
    }

    deinit {
      unsafe bytes.deallocate()
    }
  }

  /// The place of a name in the pages, packed into one word.
  private struct Place {
    static let none = Place(word: 0)
    let word: UInt64

    private init(word: UInt64) {
      self.word = word
    }

    init(page: Int, start: Int, count: Int, tag: UInt8) {
      precondition(count < 1 << 24 && page < 1 << 15, "too many names, or one that is too long")
      word =
        1 << 63 | UInt64(page) << 48 | UInt64(start) << 32 | UInt64(count) << 8 | UInt64(tag)
    }

    /// The lower half of the word of a place.
    static func key(_ count: Int, _ tag: UInt8) -> UInt32 {
      UInt32(truncatingIfNeeded: count &<< 8) | UInt32(tag)
    }

    var page: Int { Int(word >> 48 & 0x7FFF) }
    var start: Int { Int(word >> 32 & 0xFFFF) }
    var count: Int { Int(word >> 8 & 0xFF_FFFF) }
    var isUsed: Bool { word >> 63 != 0 }
  }

  private static let pageSize = 1 << 16
  private var pages: ContiguousArray<Page> = []

  /// The used bytes of the last page.
  private var used = 0
  private var places = NumberMap<Place>(empty: .none)

  /// The count of numbers, including those that are free.
  public private(set) var count = 0

  /// The bytes of all names, and of those that were removed.
  private var (bytes, wasted) = (0, 0)

  /// Creates an empty list.
  init() {}

  /// The bytes of memory for the texts of names.
  public var byteCount: Int { pages.count * Self.pageSize }

  /// Returns whether a number has a name.
  public func contains(_ number: Int) -> Bool { places[number].isUsed }

  /// The bytes of a name, which exists.
  public subscript(number: Int) -> Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let name = unsafe memory(of: number).span
      return unsafe _overrideLifetime(name, borrowing: self)
    }
  }

  /// The memory of a name, which exists; the pages own it.
  @unsafe
  @inline(__always)  // so that the list is not copied
  fileprivate func memory(of number: Int) -> UnsafeBufferPointer<UInt8> {
    let place = places[number]
    precondition(place.isUsed, "a number without a name")
    return unsafe memory(of: place)
  }

  @unsafe
  @inline(__always)
  private func memory(of place: Place) -> UnsafeBufferPointer<UInt8> {
    let pages = pages.span
    let start = unsafe UnsafeRawPointer(pages[place.page].bytes + place.start)
    return unsafe UnsafeRawBufferPointer(start: start, count: place.count)
      .bindMemory(to: UInt8.self)
  }

  /// Returns the length of a name in bytes; 0 if there is none.
  public func byteCount(of number: Int) -> Int { places[number].count }

  /// Returns the text of a name, which exists.
  public func text(_ number: Int) -> String { String(validUTF8: self[number]) }

  /// Returns whether a number has a name with these bytes.
  @inline(__always)
  fileprivate func has(_ name: Span<UInt8>, _ tag: UInt8, at number: Int) -> Bool {
    let place = places[number]
    guard UInt32(truncatingIfNeeded: place.word) == Place.key(name.count, tag), place.isUsed else {
      return false
    }
    return unsafe memory(of: place).span.hasSameBytes(as: name)
  }

  /// Returns whether a number has a name with these bytes.
  @inline(__always)
  fileprivate func has(_ name: Span<UInt8>, at number: Int) -> Bool {
    let place = places[number]
    guard place.count == name.count, place.isUsed else { return false }
    return self[number].hasSameBytes(as: name)
  }

  fileprivate mutating func set(_ name: Span<UInt8>, _ tag: UInt8, at number: Int) {
    let size = name.count
    if pages.isEmpty || used == Self.pageSize || used + size > Self.pageSize {
      pages.append(Page(max(size, Self.pageSize)))
      used = 0
    }
    let start = used
    unsafe name.withUnsafeBytes { name in
      guard let source = name.baseAddress else { return }
      unsafe (pages[pages.count - 1].bytes + start).copyMemory(from: source, byteCount: size)
    }
    used += size
    bytes += size
    places[number] = Place(page: pages.count - 1, start: start, count: size, tag: tag)
    count = max(count, number + 1)
  }

  fileprivate mutating func clear(_ number: Int) {
    wasted += places[number].count
    places[number] = .none
  }

  /// Whether removed names take most of the memory.
  fileprivate var isWasteful: Bool { wasted > Self.pageSize && wasted > bytes / 2 }

  /// The same names without the removed ones.
  fileprivate var rewritten: NameList {
    var list = NameList()
    list.count = count
    places.forEach { number, place in
      if place.isUsed { list.set(self[number], UInt8(truncatingIfNeeded: place.word), at: number) }
    }
    return list
  }
}
