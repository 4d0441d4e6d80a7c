package import EventLoop
package import Signals

/// Keeps what the next daemon must know of the connections, so that they survive a restart, and also
/// the death of this process at any moment.
///
/// The service manager holds the sockets of the clients, and this memory. The memory is up to date
/// after each turn of a client: ``enter(_:)`` names the client that is being served, before anything
/// is read from its socket or sent to it, and ``leave(_:hasSent:)`` stores what has changed. If the
/// process is killed, at most the named client is half-served; the next daemon closes it with a
/// reason, and also those whose requests were not answered yet. All others go on where they were.
/// ``ConnectionPart`` lists what of a connection is kept.
///
/// It costs a few words for each turn of a client. Bytes are copied only where a client has
/// not taken its output, or has sent a part of a line.
package final class Handover {
  /// The age in seconds from which a client without subscriptions is kept.
  ///
  /// A short-lived client costs the manager nothing.
  private static let youth = 1.0

  /// The most bytes of waiting output to keep while the daemon runs.
  ///
  /// A client with more loses its connection if the daemon is killed.
  private static let mostOutput = 256 << 10

  private let memory: HandoverMemory
  private var young: [any Keepable] = []
  private let scheduler: any Scheduler
  private var sweep: (any Disposable)?

  /// Whether a client is being served.
  private var isServing = false

  /// Whether the clients have been left to the next daemon.
  private(set) var isOver = false

  /// - Parameters:
  ///   - slots: The most connections to keep.
  ///   - generation: Greater than that of the former memory.
  package init(
    slots: Int, generation: UInt64, epoch: String, scheduler: any Scheduler
  ) throws(SystemError) {
    self.scheduler = scheduler
    memory = try HandoverMemory(slots: slots, generation: generation, epoch: epoch)
  }

  /// The memory that the service manager must hold.
  package var shared: SharedMemory { memory.memory }

  /// Declares that all connections of the former daemon are in this memory.
  package func complete() { memory[.isComplete] = 1 }

  // MARK: Clients

  /// Prepares a new connection to be kept.
  func begin(_ connection: some Keepable) {
    connection.kept = HandoverClient()
    memory[.lastID] = max(memory[.lastID], connection.id)
    young.append(connection)
    guard sweep == nil else { return }
    sweep = scheduler.schedule(after: Self.youth) { [unowned self] in
      sweep = nil
      keepYoung()
    }
  }

  /// Keeps the clients that have been connected for a while.
  private func keepYoung() {
    let young = young
    self.young = []
    for connection in young where !connection.isEnded { keep(connection) }
  }

  /// Lets the manager hold the socket of a client, if it does not yet.
  func keep(_ connection: some Keepable) {
    guard let kept = connection.kept, kept.slot == nil else { return }
    guard kept.begin(connection, in: memory) else { return connection.kept = nil }
    // Nothing was kept so far, so everything is new.
    kept.hasNewSubscriptions = true
    store(connection, kept, hasSent: true, mostOutput: isOver ? .max : Self.mostOutput)
    guard connection.kept != nil else { return }
    kept.commit(connection, in: memory)
    connection.storeSocket(as: Self.name(of: connection.id))
  }

  /// The name under which the manager holds the socket of a client.
  package static func name(of id: UInt64) -> String { "client-\(id)" }

  /// Returns the number of a client from such a name; `nil` if it is another name.
  package static func id(in name: String) -> UInt64? {
    name.hasPrefix("client-") ? UInt64(name.dropFirst("client-".count)) : nil
  }

  /// Forgets a connection that has ended.
  func end(_ connection: some Keepable) {
    guard !isOver, let kept = connection.kept else { return }
    kept.end(in: memory)
    connection.kept = nil
  }

  /// Records that a client is about to get bytes while it is not being served, or its last line,
  /// perhaps only a part of it.
  ///
  /// If the process is killed before ``leave(_:hasSent:)``, the next daemon closes the connection
  /// without a line.
  func markCut(_ connection: some Keepable) {
    guard !isOver else { return }
    connection.kept?.markCut(in: memory)
  }

  // MARK: Turns

  /// Names the client that is being served.
  ///
  /// - Returns: `false` if it is served already; then ``leave(_:hasSent:)`` must not follow.
  func enter(_ connection: some Keepable) -> Bool {
    guard !isServing else { return false }
    isServing = true
    if let slot = connection.kept?.slot { memory[.current] = UInt64(slot + 1) }
    return true
  }

  /// Stores what has changed while a client was served.
  ///
  /// - Parameter hasSent: Whether the client was sent what its subscriptions had.
  func leave(_ connection: some Keepable, hasSent: Bool) {
    isServing = false
    guard !isOver, !connection.isEnded, let kept = connection.kept else {
      memory[.isCutting] = 0
      memory[.current] = 0
      return
    }
    if kept.slot != nil {
      store(connection, kept, hasSent: hasSent, mostOutput: Self.mostOutput)
    } else if kept.isWorthKeeping {
      keep(connection)
    }
    memory[.isCutting] = 0
    memory[.current] = 0
  }

  /// Ends serving a client of which nothing has changed.
  func leaveUnchanged() {
    isServing = false
    memory[.current] = 0
  }

  private func store(
    _ connection: some Keepable, _ kept: HandoverClient, hasSent: Bool, mostOutput: Int
  ) {
    connection.keepViews(in: kept)
    let cursors = hasSent || kept.hasNewSubscriptions ? connection.cursors(keeping: kept) : nil
    kept.hasNewSubscriptions = false
    let isWritten = kept.write(
      connection, cursors: cursors, upTo: hasSent ? connection.position : nil,
      mostOutput: mostOutput, in: memory)
    guard !isWritten else { return }
    // Without memory the connection ends with this process.
    kept.end(in: memory)
    connection.kept = nil
  }

  /// Notes that bytes are being sent to the client that is being served.
  func beginSending() { memory[.isCutting] = 1 }

  /// Notes that they were sent.
  ///
  /// - Parameter isWhole: Whether all were, so that the client has no part of a line.
  func endSending(isWhole: Bool) { if isWhole { memory[.isCutting] = 0 } }

  /// Records the position up to which all clients have been sent everything.
  ///
  /// Has no effect once the clients have been left to the next daemon: they are sent nothing more.
  func flushed(at position: UInt64) {
    guard !isOver else { return }
    memory[.flushed] = position
    if names.hasChanged { names.write(to: memory) }
  }

  // MARK: Live values

  private var names = HandoverNames()

  /// Records whether a source that is not journaled has a value.
  ///
  /// The value ends with this daemon. The next one sends `gone` to subscriptions to patterns.
  package func update(_ source: String, exists: Bool) {
    if exists { names.insert(source) } else { names.remove(source) }
  }

  // MARK: The end

  /// Leaves all connections to the next daemon.
  ///
  /// Their requests must have been answered.
  func leaveAll(_ connections: some Sequence<some Keepable>) {
    isOver = true
    sweep?.dispose()
    sweep = nil
    young = []
    for connection in connections {
      if let kept = connection.kept, let slot = kept.slot {
        memory[.current] = UInt64(slot + 1)
        store(connection, kept, hasSent: true, mostOutput: .max)
        memory[.current] = 0
      } else {
        keep(connection)
      }
    }
  }
}
