package import EventLoop
internal import JSON

/// The connections that an earlier daemon has left in its memory.
package final class HandoverConnections {
  /// A reason why the memory cannot be read.
  package struct Unreadable: Error {
    package let reason: String
  }

  package let generation: UInt64
  package let isComplete: Bool
  package let epoch: String
  package let lastID: UInt64

  /// The number of connections.
  package let count: Int

  private let memory: SharedMemory
  private let flushed: UInt64
  private let current: UInt64
  private let isCutting: Bool

  /// The slot of each connection, by number.
  private let slots: [UInt64: Int]

  /// - Throws: ``Unreadable`` if the memory is not one of this version.
  package init(in memory: SharedMemory) throws(Unreadable) {
    guard memory.size >= HandoverLayout.pageSize, memory[.magic] == HandoverLayout.magic else {
      throw Unreadable(reason: "it is of another version")
    }
    let (slots, used) = (Int(clamping: memory[.slots]), Int(clamping: memory[.usedSlots]))
    let epochBytes = Int(clamping: memory[.epoch])
    guard used <= slots, epochBytes <= HandoverLayout.maxEpochBytes,
      slots <= memory.size / HandoverLayout.slotSize,
      HandoverLayout.heapStart(slots: slots) <= memory.size
    else { throw Unreadable(reason: "its head is damaged") }
    self.memory = memory
    generation = memory[.generation]
    isComplete = memory[.isComplete] == 1
    lastID = memory[.lastID]
    flushed = memory[.flushed]
    current = memory[.current]
    isCutting = memory[.isCutting] == 1
    epoch = String(
      decoding: memory.bytes(at: HandoverLayout.Word.epoch.rawValue + 8, count: epochBytes),
      as: UTF8.self)
    var found: [UInt64: Int] = [:]
    for slot in 0..<used {
      let id = memory[slot, .id]
      if id > 0 { found[id] = slot }
    }
    self.slots = found
    count = found.count
  }

  /// Marks a connection as the cause if this process dies now, so that the next one drops it.
  ///
  /// - Parameters:
  ///   - id: `nil` if none is being restored.
  ///   - isSending: Whether it may be sent a part of a line.
  package func blame(_ id: UInt64?, isSending: Bool = false) {
    memory.store(isSending ? 1 : 0, at: HandoverLayout.Word.isCutting.rawValue)
    memory.store(
      id.flatMap { slots[$0] }.map { UInt64($0 + 1) } ?? 0,
      at: HandoverLayout.Word.current.rawValue)
  }

  /// Makes the memory invalid, because all its connections are in a later one.
  ///
  /// From the first request on, what it says is no longer true.
  package func retire() { memory.store(0, at: HandoverLayout.Word.isComplete.rawValue) }

  /// The names of the sources that had values and were not journaled.
  package var names: [String] {
    guard let bytes = bytes(at: memory[.names], count: memory[.namesSize]) else { return [] }
    return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns a connection; `nil` if the memory has none with this number, or it is damaged.
  package func connection(_ id: UInt64) -> HandoverConnection? {
    guard let slot = slots[id] else { return nil }
    let state = memory[slot, .state]
    let sizes = memory[slot, .sizes]
    let isCurrent = current == UInt64(slot + 1)
    let isCut =
      state & HandoverLayout.Flag.cut != 0
      || isCurrent && (isCutting || state & HandoverLayout.Flag.waiting != 0)
    let isInHand = state & HandoverLayout.Flag.inHand != 0 || isCurrent
    // The blocks of the connection that was being served may be half-written.
    let terms = isCurrent ? [] : bytes(at: memory[slot, .terms], count: sizes & 0xFFFF_FFFF)
    let flow = isCurrent ? [] : bytes(at: memory[slot, .flow], count: sizes >> 32)
    guard let terms, let flow, let items = items(in: terms), let parts = FlowParts(flow) else {
      return nil
    }
    let goesOn = !isInHand && items.isWhole
    return HandoverConnection(
      id: id, end: isCut ? .cut : goesOn ? .goesOn : .closes,
      requests: memory[slot, .requests], connectedAt: memory[slot, .connectedAt],
      shown: max(memory[slot, .shown], flushed),
      lastHandle: Int(clamping: state >> HandoverLayout.Flag.handleShift), items: items.known,
      cursors: parts.cursors, input: parts.input, output: parts.output)
  }

  private func bytes(at offset: UInt64, count: UInt64) -> [UInt8]? {
    guard count > 0 else { return [] }
    let (offset, count) = (Int(clamping: offset), Int(clamping: count))
    guard offset >= 0, count <= memory.size, offset <= memory.size - count else { return nil }
    return memory.bytes(at: offset, count: count)
  }

  /// Returns the items whose kinds this version knows, and whether these are all of them; `nil` if
  /// the bytes are damaged.
  ///
  /// An item that was replaced is there several times; the last one counts.
  private func items(in bytes: [UInt8]) -> (known: [HandoverItem], isWhole: Bool)? {
    var reader = RawReader(bytes: bytes[...])
    var (items, isWhole): ([HandoverItem?], Bool) = ([], true)
    var places: [ItemName: Int] = [:]
    while !reader.isAtEnd {
      guard let kind = reader.number(1), let keyCount = reader.number(3),
        let textCount = reader.number(4), let key = reader.text(keyCount),
        let text = reader.text(textCount)
      else { return nil }
      if let kind = HandoverKind(rawValue: UInt8(clamping: kind)) {
        let place = places.updateValue(items.count, forKey: ItemName(kind: kind, key: key))
        if let place { items[place] = nil }
        items.append(HandoverItem(kind, key, JSONText(trusted: text)))
      } else {
        // Another version has kept more: without it, the connection would not be the same.
        isWhole = false
      }
    }
    return (items.compactMap(\.self), isWhole)
  }
}

/// The kind and the key of an item, which tell those of a connection apart.
private struct ItemName: Hashable {
  let kind: HandoverKind
  let key: String
}

/// The parts of a connection's flow.
private struct FlowParts {
  var cursors: [HandoverCursor] = []
  var input: [UInt8] = []
  var output: [UInt8] = []

  init?(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    var reader = RawReader(bytes: bytes[...])
    guard let cursorCount = reader.number(4), let inputCount = reader.number(4),
      let outputCount = reader.number(4)
    else { return nil }
    for _ in 0..<cursorCount {
      guard let isCaughtUp = reader.number(1), let count = reader.number(3),
        let position = reader.number(8), let handle = reader.text(count)
      else { return nil }
      cursors.append(HandoverCursor(handle, position, isCaughtUp: isCaughtUp == 1))
    }
    guard let input = reader.bytes(inputCount), let output = reader.bytes(outputCount) else {
      return nil
    }
    (self.input, self.output) = (Array(input), Array(output))
  }
}

/// Reads numbers and texts from bytes.
private struct RawReader {
  var bytes: ArraySlice<UInt8>

  var isAtEnd: Bool { bytes.isEmpty }

  mutating func bytes(_ count: UInt64) -> ArraySlice<UInt8>? {
    guard count <= UInt64(bytes.count) else { return nil }
    defer { bytes = bytes.dropFirst(Int(count)) }
    return bytes.prefix(Int(count))
  }

  /// Returns a number whose lowest byte is first.
  mutating func number(_ count: UInt64) -> UInt64? {
    bytes(count)?.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func text(_ count: UInt64) -> String? {
    bytes(count).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension SharedMemory {
  fileprivate subscript(word: HandoverLayout.Word) -> UInt64 { self.word(at: word.rawValue) }

  fileprivate subscript(slot: Int, word: HandoverLayout.SlotWord) -> UInt64 {
    self.word(at: HandoverLayout.offset(ofSlot: slot) + word.rawValue)
  }
}
