internal import EventLoop
internal import JSON

/// The names of live values, as the next daemon finds them.
struct HandoverNames {
  private var names: Set<String> = []
  private var block = HandoverBlock()

  /// The names that are not written yet, if no others were removed.
  private var new: [String] = []
  private var hasLost = false

  var hasChanged: Bool { hasLost || !new.isEmpty }

  mutating func insert(_ name: String) {
    if names.insert(name).inserted { new.append(name) }
  }

  mutating func remove(_ name: String) {
    if names.remove(name) != nil { hasLost = true }
  }

  /// Writes the changes.
  ///
  /// Without memory, the next daemon does not know the names.
  mutating func write(to memory: HandoverMemory) {
    defer { (new, hasLost) = ([], false) }
    var bytes = ByteBuffer()
    for name in hasLost ? Array(names) : new {
      bytes.append(name)
      bytes.append(UInt8(ascii: "\n"))
    }
    if hasLost || block.count + bytes.count > block.capacity {
      // Invalid until it is whole again.
      memory[.namesSize] = 0
      if !hasLost {
        bytes.removeAll()
        for name in names {
          bytes.append(name)
          bytes.append(UInt8(ascii: "\n"))
        }
      }
      guard memory.make(&block, hold: 2 * bytes.count) else { return }
      block.count = 0
    }
    memory.memory.write(bytes.span, at: block.offset + block.count)
    block.count += bytes.count
    memory[.names] = UInt64(block.offset)
    memory[.namesSize] = UInt64(block.count)
  }
}
