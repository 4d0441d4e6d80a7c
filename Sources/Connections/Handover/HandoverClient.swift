internal import EventLoop
internal import JSON

/// A connection, as its memory for the next daemon sees it.
protocol Keepable: AnyObject {
  var id: UInt64 { get }
  var isEnded: Bool { get }

  /// `nil` if the connection ends with the daemon.
  var kept: HandoverClient? { get set }
  var connectedAt: UInt64 { get }
  var requests: UInt64 { get }
  var lastHandle: Int { get }
  var isInHand: Bool { get }

  /// The bytes of input that was read and not run.
  var inputBytes: Int { get }
  var outputBytes: Int { get }

  /// The position up to which its subscriptions are sent.
  var position: UInt64 { get }
  func appendInput(to buffer: inout ByteBuffer)
  func appendOutput(to buffer: inout ByteBuffer)
  func keepViews(in kept: HandoverClient)
  func cursors(keeping kept: HandoverClient) -> [HandoverCursor]

  /// Lets the service manager hold the socket under a name.
  func storeSocket(as name: String)
}

/// The state of one connection for the next daemon.
final class HandoverClient {
  /// The slot of the connection; `nil` while the service manager does not hold its descriptor.
  fileprivate(set) var slot: Int?

  private(set) var items: [HandoverItem] = []

  /// The items that are in the memory already, from the first on.
  private var written = 0
  private var terms = HandoverBlock()
  private var flow = HandoverBlock()

  /// The words of the slot that were stored last.
  private var state = UInt64.max
  private var shown = UInt64.max

  /// Whether cursors must be compared, because subscriptions were added.
  var hasNewSubscriptions = false

  /// Whether a subscription has sent only a part of a value.
  var isIncomplete = false

  // MARK: Items

  /// Whether something besides the names of the client and its user must survive a restart.
  var isWorthKeeping: Bool { items.contains { $0.kind != .hello && $0.kind != .acting } }

  func set(_ item: HandoverItem) {
    guard let i = items.firstIndex(where: { $0.kind == item.kind && $0.key == item.key }) else {
      items.append(item)
      return
    }
    guard items[i] != item else { return }
    items[i] = item
    written = min(written, i)
  }

  func remove(_ kind: HandoverKind, _ key: String) {
    guard let i = items.firstIndex(where: { $0.kind == kind && $0.key == key }) else { return }
    items.remove(at: i)
    written = min(written, i)
    hasLostItems = true
  }

  /// Replaces all items of a kind.
  func replace(_ kind: HandoverKind, by new: [HandoverItem]) {
    guard let first = items.firstIndex(where: { $0.kind == kind }) else {
      items += new
      return
    }
    guard items.filter({ $0.kind == kind }) != new else { return }
    items.removeAll { $0.kind == kind }
    items.insert(contentsOf: new, at: first)
    written = min(written, first)
    hasLostItems = true
  }

  private var hasLostItems = false

  // MARK: Writing

  /// Gives the connection a slot.
  ///
  /// - Returns: `false` if there is none.
  func begin(_ connection: some Keepable, in memory: HandoverMemory) -> Bool {
    guard let slot = memory.reserveSlot() else { return false }
    self.slot = slot
    memory[slot, .connectedAt] = connection.connectedAt
    return true
  }

  /// Makes a slot valid, after the first ``write(_:cursors:upTo:mostOutput:in:)``.
  func commit(_ connection: some Keepable, in memory: HandoverMemory) {
    if let slot { memory[slot, .id] = connection.id }
  }

  /// Lets the next daemon close the connection without a line.
  func markCut(in memory: HandoverMemory) {
    guard let slot else { return }
    state = memory[slot, .state] | HandoverLayout.Flag.cut
    memory[slot, .state] = state
  }

  /// Frees the slot.
  func end(in memory: HandoverMemory) {
    guard let slot else { return }
    self.slot = nil
    memory.freeSlot(slot)
    memory.free(&terms)
    memory.free(&flow)
  }

  /// Stores what has changed since the last call.
  ///
  /// - Parameters:
  ///   - cursors: The cursors of subscriptions; `nil` if they have not changed.
  ///   - position: The position up to which everything was sent; `nil` if that has not changed.
  /// - Returns: `false` if there is no memory.
  func write(
    _ connection: some Keepable, cursors: [HandoverCursor]?, upTo position: UInt64?,
    mostOutput: Int, in memory: HandoverMemory
  ) -> Bool {
    guard let slot else { return true }
    guard writeTerms(in: memory) else { return false }
    if let cursors { self.cursors = cursors }
    let output = connection.outputBytes
    let isCut = output > mostOutput
    if connection.inputBytes > 0 || output > 0 || !self.cursors.isEmpty {
      guard writeFlow(of: connection, withOutput: !isCut, in: memory) else { return false }
    } else {
      flow.count = 0
    }
    let sizes = UInt64(terms.count) | UInt64(flow.count) << 32
    if sizes != self.sizes {
      (self.sizes, memory[slot, .sizes]) = (sizes, sizes)
    }
    var state = UInt64(connection.lastHandle) << HandoverLayout.Flag.handleShift
    if connection.isInHand { state |= HandoverLayout.Flag.inHand }
    if isCut { state |= HandoverLayout.Flag.cut }
    if output > 0 { state |= HandoverLayout.Flag.waiting }
    if state != self.state { (self.state, memory[slot, .state]) = (state, state) }
    if let position, position != shown {
      (shown, memory[slot, .shown]) = (position, position)
    }
    memory[slot, .requests] = connection.requests
    return true
  }

  private var sizes = UInt64.max

  /// The cursors in the flow.
  private var cursors: [HandoverCursor] = []

  private func writeTerms(in memory: HandoverMemory) -> Bool {
    guard let slot, written < items.count || hasLostItems else { return true }
    var bytes = ByteBuffer()
    if written == 0 || hasLostItems {
      for item in items { bytes.append(item) }
      guard memory.make(&terms, hold: bytes.count) else { return false }
      terms.count = 0
    } else {
      for item in items[written...] { bytes.append(item) }
      if terms.count + bytes.count > terms.capacity {
        bytes.removeAll()
        for item in items { bytes.append(item) }
        guard memory.make(&terms, hold: 2 * bytes.count) else { return false }
        terms.count = 0
      }
    }
    memory.memory.write(bytes.span, at: terms.offset + terms.count)
    terms.count += bytes.count
    memory[slot, .terms] = UInt64(terms.offset)
    (written, hasLostItems) = (items.count, false)
    return true
  }

  private func writeFlow(
    of connection: some Keepable, withOutput: Bool, in memory: HandoverMemory
  ) -> Bool {
    guard let slot else { return true }
    var bytes = ByteBuffer()
    let output = withOutput ? connection.outputBytes : 0
    bytes.append(raw: UInt64(cursors.count), bytes: 4)
    bytes.append(raw: UInt64(connection.inputBytes), bytes: 4)
    bytes.append(raw: UInt64(output), bytes: 4)
    for cursor in cursors { bytes.append(cursor) }
    connection.appendInput(to: &bytes)
    if output > 0 { connection.appendOutput(to: &bytes) }
    guard memory.make(&flow, hold: bytes.count) else { return false }
    memory.memory.write(bytes.span, at: flow.offset)
    flow.count = bytes.count
    memory[slot, .flow] = UInt64(flow.offset)
    return true
  }
}

extension ByteBuffer {
  /// Appends the low bytes of a number, the lowest first.
  fileprivate mutating func append(raw number: UInt64, bytes: Int) {
    for i in 0..<bytes { append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(i)))) }
  }

  fileprivate mutating func append(_ item: HandoverItem) {
    append(item.kind.rawValue)
    append(raw: UInt64(item.key.utf8.count), bytes: 3)
    append(raw: UInt64(item.text.text.utf8.count), bytes: 4)
    append(item.key.utf8.span)
    append(item.text.text.utf8.span)
  }

  fileprivate mutating func append(_ cursor: HandoverCursor) {
    append(cursor.isCaughtUp ? 1 : 0)
    append(raw: UInt64(cursor.handle.utf8.count), bytes: 3)
    append(raw: cursor.position, bytes: 8)
    append(cursor.handle.utf8.span)
  }
}
