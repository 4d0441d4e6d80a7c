internal import EventSourcing

/// The events of a lock; the lock is the stream.
package enum LockEvent: ServiceEvent, Codable, Equatable {
  /// A lease asks for the lock, and has it once no earlier one has or wants it.
  case asked(lease: String, uid: UInt32, pid: Int32)

  /// A lease gives the lock back, or wants it no more.
  case left(lease: String)

  package static var kinds: Set<String> { ["asked", "left"] }
}
