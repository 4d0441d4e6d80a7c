internal import EventLoop
internal import JSON

/// The layout of the memory that a daemon leaves to the next one.
///
/// A page with words about the whole is followed by a slot for each connection, and by blocks of
/// bytes that the slots refer to. Numbers are in the machine's byte order: only a process of the
/// same machine reads them.
///
/// A reader sees the state at the moment when the writer was killed. The words are stored in the
/// order of the program, and ``Word/current`` names the one slot that may be half-written.
enum HandoverLayout {
  /// The first word of a valid memory: "binder" and the version of the layout.
  static let magic: UInt64 = 0x6269_6E64_6572_0002

  static let pageSize = 4_096
  static let slotSize = 64
  static let slotsStart = pageSize

  /// The words about the whole, by offset.
  enum Word: Int {
    case magic = 0
    /// 1 once all connections of the former memory are in this one.
    case isComplete = 8
    /// Counts the memories; the one with the highest complete generation is valid.
    case generation = 16
    /// The number of the last connection.
    case lastID = 24
    /// The position up to which every connection without cursors has been sent everything.
    case flushed = 32
    /// 1 + the slot of the connection that is being served; 0 if none is.
    case current = 40
    /// 1 if the connection being served may have been sent a part of a line.
    case isCutting = 48
    /// The number of slots.
    case slots = 56
    /// The number of slots that were ever used.
    case usedSlots = 64
    /// The offset of the names of live values, each followed by LF.
    case names = 72
    /// The bytes of these names.
    case namesSize = 80
    /// The bytes of the journal's epoch, at most 32, after this word with their number.
    case epoch = 88
  }

  static let maxEpochBytes = 32

  /// The words of a slot, by offset.
  enum SlotWord: Int {
    /// The number of the connection; 0 if the slot is free.
    case id = 0
    case shown = 8
    case requests = 16
    case connectedAt = 24
    /// The offset of the items.
    case terms = 32
    /// The offset of cursors, input and output; the size is 0 if there are none.
    case flow = 40
    /// The sizes in bytes of the items, in the low half, and of the flow.
    case sizes = 48
    /// ``Flag``, and the last handle number from bit 8 on.
    case state = 56
  }

  /// The bits of a slot's state.
  enum Flag {
    /// A request is not answered yet.
    static let inHand: UInt64 = 1
    /// More output waits than is kept.
    static let cut: UInt64 = 2
    /// Output waits, so that the client may have a part of a line.
    static let waiting: UInt64 = 4
    static let handleShift: UInt64 = 8
  }

  static func offset(ofSlot slot: Int) -> Int { slotsStart + slot * slotSize }

  static func heapStart(slots: Int) -> Int {
    let end = slotsStart + slots * slotSize
    return (end + pageSize - 1) / pageSize * pageSize
  }
}

/// A block of bytes in the memory; its capacity is a power of two.
struct HandoverBlock {
  var offset = 0
  var capacity = 0
  var count = 0
}

/// The memory that this daemon leaves to the next one, as its writer.
final class HandoverMemory {
  let memory: SharedMemory
  private let slots: Int
  private var usedSlots = 0
  private var freeSlots: [Int] = []
  private var heapEnd: Int

  /// The offsets of free blocks by capacity.
  private var freeBlocks: [Int: [Int]] = [:]

  private static let smallestBlock = 256

  /// - Parameters:
  ///   - slots: The most connections.
  ///   - generation: Greater than that of the former memory.
  init(slots: Int, generation: UInt64, epoch: String) throws(SystemError) {
    let heap = HandoverLayout.heapStart(slots: slots)
    memory = try SharedMemory(named: "binderd clients", size: heap + 64 * HandoverLayout.pageSize)
    self.slots = slots
    heapEnd = heap
    self[.generation] = generation
    self[.slots] = UInt64(slots)
    let bytes = Array(epoch.utf8.prefix(HandoverLayout.maxEpochBytes))
    self[.epoch] = UInt64(bytes.count)
    memory.write(bytes.span, at: HandoverLayout.Word.epoch.rawValue + 8)
    self[.magic] = HandoverLayout.magic
  }

  subscript(word: HandoverLayout.Word) -> UInt64 {
    get { memory.word(at: word.rawValue) }
    set { memory.store(newValue, at: word.rawValue) }
  }

  subscript(slot: Int, word: HandoverLayout.SlotWord) -> UInt64 {
    get { memory.word(at: HandoverLayout.offset(ofSlot: slot) + word.rawValue) }
    set { memory.store(newValue, at: HandoverLayout.offset(ofSlot: slot) + word.rawValue) }
  }

  // MARK: Slots

  /// Returns a free slot; `nil` if all are used.
  func reserveSlot() -> Int? {
    if let slot = freeSlots.popLast() { return slot }
    guard usedSlots < slots else { return nil }
    usedSlots += 1
    self[.usedSlots] = UInt64(usedSlots)
    return usedSlots - 1
  }

  func freeSlot(_ slot: Int) {
    self[slot, .id] = 0
    self[slot, .sizes] = 0
    freeSlots.append(slot)
  }

  // MARK: Blocks

  /// Makes a block large enough; what is in it is lost.
  ///
  /// - Returns: Whether there is memory for it.
  func make(_ block: inout HandoverBlock, hold count: Int) -> Bool {
    guard block.capacity < count else { return true }
    var capacity = max(Self.smallestBlock, block.capacity)
    while capacity < count { capacity *= 2 }
    let offset: Int
    if let free = freeBlocks[capacity]?.popLast() {
      offset = free
    } else {
      if heapEnd + capacity > memory.size {
        let size = max(memory.size + memory.size / 2, heapEnd + capacity)
        guard (try? memory.grow(to: size)) != nil else { return false }
      }
      offset = heapEnd
      heapEnd += capacity
    }
    free(&block)
    block = HandoverBlock(offset: offset, capacity: capacity)
    return true
  }

  func free(_ block: inout HandoverBlock) {
    if block.capacity > 0 { freeBlocks[block.capacity, default: []].append(block.offset) }
    block = HandoverBlock()
  }
}
