internal import EventLoop
internal import Glibc
internal import Journal
internal import Model

/// The tail of a journal: the newest events, durable in two files before they are in the database.
///
/// A commit appends one block to one of the files. The database's thread moves the events into the
/// database. When a file is full, the other one begins again, once the database has all its events
/// on the disk. A start finds the events that were not moved.
///
/// The loop, the writer thread and the database's thread use it. It never waits for the disk while
/// it is locked.
final class Tail: Sendable {
  private let state: Lock<State>
  private let journal: String
  private let salt: UInt64
  private let crc = CRC32C()

  /// The size of the pending events, in bytes, at which they are moved.
  private static let moveBytes = 128 << 10

  /// The next work of the database's thread.
  enum Wish {
    case nothing
    /// Move the pending events.
    case move
    /// Move them, and flush the database, so that a file can begin again.
    case free
  }

  enum Outcome {
    /// The events are durable.
    case done(Wish)
    /// The block does not fit in the current file.
    case noRoom
    case failed(SQLiteError)
    /// The batch is of an older generation, or the journal has failed.
    case dropped
  }

  private struct State {
    var files: [TailFile]
    var current = 0

    /// The last position in the files.
    var last: UInt64

    /// The last position that the disk has.
    var flushed: UInt64

    /// The last position in the database.
    var moved: UInt64

    /// The last position that the disk has in the database.
    var inDatabase: UInt64

    /// The durable events that are not in the database yet.
    var pending: [RecordBatch] = []
    var pendingBytes = 0
    var wish = Wish.nothing

    /// Batches that are not used any more, to save allocations.
    var spare: [RecordBatch] = []

    /// Batches of an older generation are dropped, because an earlier batch has failed.
    var generation = 0
    var hasFailed = false

    /// Notes that the database's thread has not tried to write yet; later events follow them.
    var untriedNotes = 0

    /// Whether a note was tried and could not be written.
    var hasFailedNotes = false

    /// The reason why events cannot be moved at present.
    var obstacle: SQLiteError?
    let lock: Borrowed<JournalLock>

    var room: TailFile { files[current] }
    var other: TailFile { files[1 - current] }
    var isOtherFree: Bool { other.last <= inDatabase }
  }

  /// Opens the files of a journal, whose database has all events on the disk.
  ///
  /// - Parameters:
  ///   - salt: A number that no block in the files has.
  ///   - last: The last position.
  init(
    of journal: String, salt: UInt64, last: UInt64, _ lock: JournalLock
  ) throws(SQLiteError) {
    (self.journal, self.salt) = (journal, salt)
    var files: [TailFile] = []
    for end in TailFile.ends { files.append(try TailFile(end, of: journal)) }
    files[0].begin(capacity: try files[0].growth(for: 0).perform())
    // The names of the files must be on the disk before an event is.
    try Self.flushDirectory(of: journal)
    state = Lock(
      State(
        files: files, last: last, flushed: last, moved: last, inDatabase: last,
        lock: Borrowed(lock)))
  }

  private static func flushDirectory(of journal: String) throws(SQLiteError) {
    let path = journal.lastIndex(of: "/").map { String(journal[...$0]) } ?? "."
    let directory = open(path, O_RDONLY | O_CLOEXEC)
    guard directory >= 0 else { throw SQLiteError(call: "open", path) }
    defer { _ = close(directory) }
    // Some file systems cannot flush a directory, and need not.
    guard fsync(directory) == 0 || errno == EINVAL else {
      throw SQLiteError(call: "fsync", path, isFlush: true)
    }
  }

  // MARK: Committing

  /// Appends a batch without waiting for anything; they are durable as far as the kernel is.
  ///
  /// Call it on the loop, with no other batch on its way.
  func commitAtOnce(_ events: RecordBatch, generation: Int) -> Outcome {
    state.withLock { state in
      // The thread waits for the note.
      guard state.untriedNotes == 0 else { return .noRoom }
      let outcome = append([events], generation, to: &state)
      if case .done = outcome { return Outcome.done(finish([events], in: &state)) }
      return outcome
    }
  }

  /// Appends batches as one block, on the writer thread.
  ///
  /// - Parameter isForDisk: Whether they are durable only once the disk has them.
  func commit(_ batches: [RecordBatch], generation: Int, isForDisk: Bool) -> Outcome {
    let outcome = state.waitWithLock(until: { $0.untriedNotes == 0 || $0.hasFailed }) { state in
      let outcome = append(batches, generation, to: &state)
      if !isForDisk, case .done = outcome { return Outcome.done(finish(batches, in: &state)) }
      return outcome
    }
    guard isForDisk, case .done = outcome else { return outcome }
    if let failure = flush() { return .failed(failure) }
    return .done(state.withLock { finish(batches, in: &$0) })
  }

  private func append(
    _ batches: [RecordBatch], _ generation: Int, to state: inout State
  ) -> Outcome {
    guard generation == state.generation, !state.hasFailed else { return .dropped }
    let size = TailBlock.size(of: batches.reduce(0) { $0 + $1.byteCount })
    guard state.room.hasRoom(for: size) else { return .noRoom }
    let head = TailBlock(batches, salt: salt, flushed: state.flushed, crc)
    do throws(SQLiteError) {
      try state.room.write(head, batches)
    } catch {
      fail(error, &state)
      return .failed(error)
    }
    state.last = head.last
    return .done(.nothing)
  }

  /// Makes appended batches durable events, and returns what should be done now.
  private func finish(_ batches: [RecordBatch], in state: inout State) -> Wish {
    state.lock.value.mark = state.last
    state.pending += batches
    for batch in batches { state.pendingBytes += batch.byteCount }
    let isHalfFull = state.room.offset > state.room.capacity / 2
    switch state.wish {
    case .free: return .nothing
    case _ where isHalfFull && !state.isOtherFree: state.wish = .free
    case .move: return .nothing
    case .nothing:
      guard state.pendingBytes >= Self.moveBytes else { return .nothing }
      state.wish = .move
    }
    return state.wish
  }

  /// Begins the other file, with room for a block of some batches.
  ///
  /// Call it on the writer thread, which has asked the database's thread to free the file.
  ///
  /// - Returns: The reason why there is no room; `nil` on success.
  func makeRoom(for batches: [RecordBatch]) -> SQLiteError? {
    let size = TailBlock.size(of: batches.reduce(0) { $0 + $1.byteCount })
    let isReady = { (state: State) in
      state.isOtherFree || state.obstacle != nil || state.hasFailed
    }
    let (growth, failure) = state.waitWithLock(until: isReady) {
      state -> (TailFile.Growth?, SQLiteError?) in
      if state.hasFailed { return (nil, nil) }
      if state.isOtherFree { return (state.other.growth(for: size), nil) }
      if let obstacle = state.obstacle { fail(obstacle, &state) }
      return (nil, state.obstacle)
    }
    guard let growth else { return failure }
    // Without the lock, which the loop takes, too: this thread alone changes a file that is free.
    do throws(SQLiteError) {
      let capacity = try growth.perform()
      state.withLock { state in
        state.other.begin(capacity: capacity)
        state.current = 1 - state.current
      }
      return nil
    } catch {
      fail(error)
      return error
    }
  }

  /// Forgets why events could not be moved, before they are moved again.
  func beginFreeing() { state.withLock { $0.obstacle = nil } }

  /// Flushes the files to the disk.
  func flush() -> SQLiteError? {
    let (last, files) = state.withLock { state in
      var files: [(CInt, String)] = []
      for file in state.files where file.isDirty {
        file.isDirty = false
        files.append((file.descriptor, file.path))
      }
      return (state.last, files)
    }
    for (descriptor, path) in files where fdatasync(descriptor) != 0 {
      let error = SQLiteError(call: "fdatasync", path, isFlush: true)
      fail(error)
      return error
    }
    state.withLock { $0.flushed = max($0.flushed, last) }
    return nil
  }

  // MARK: Failures

  /// Notes a failed write: the batches on their way are dropped, and all later ones too if it is not
  /// certain that nothing was written.
  private func fail(_ error: SQLiteError, _ state: inout State) {
    state.generation += 1
    if !error.hasNoOutcome { state.hasFailed = true }
  }

  /// Notes that later writes are unreliable.
  func fail(_ error: SQLiteError) {
    state.withLock { fail(error, &$0) }
    state.signal()
  }

  /// Notes that the database cannot be written at all.
  func abandon() {
    state.withLock { state in
      state.generation += 1
      state.hasFailed = true
    }
    state.signal()
  }

  var hasFailed: Bool { state.withLock { $0.hasFailed } }

  // MARK: Notes

  /// Makes later events wait for a note.
  func beginNote() { state.withLock { $0.untriedNotes += 1 } }

  /// Lets later events go on after some notes.
  ///
  /// - Parameter areKept: Whether all notes so far are written; if not, they are tried again.
  func endNotes(_ count: Int, areKept: Bool) {
    state.withLock { state in
      state.untriedNotes -= count
      state.hasFailedNotes = !areKept
    }
    if count > 0 { state.signal() }
  }

  // MARK: Moving

  /// The durable events that may not be in the database yet, in order.
  var pending: [RecordBatch] { state.withLock { $0.pending } }

  /// Whether the database's thread has something to write.
  var hasPending: Bool { state.withLock { !$0.pending.isEmpty || $0.hasFailedNotes } }

  /// The last durable position that can be moved.
  var lastPending: UInt64 { state.withLock { $0.pending.last?.last ?? $0.moved } }

  /// Returns the first pending events, about as many bytes as a limit.
  func firstPending(bytes limit: Int) -> [RecordBatch] {
    state.withLock { state in
      var (count, bytes) = (0, 0)
      while count < state.pending.count, bytes < limit {
        bytes += state.pending[count].byteCount
        count += 1
      }
      return Array(state.pending.prefix(count))
    }
  }

  /// Removes the first pending events, which are in the database now.
  ///
  /// - Parameter batches: The result of ``firstPending(bytes:)``; the batches are used again.
  func endMoving(_ batches: inout [RecordBatch]) {
    state.withLock { state in
      state.pending.removeFirst(batches.count)
      state.moved = batches.last?.last ?? state.moved
      for i in batches.indices {
        state.pendingBytes -= batches[i].byteCount
        guard state.spare.count < Self.maxSpare, isKnownUniquelyReferenced(&batches[i]) else {
          continue
        }
        batches[i].removeAll(keepingCapacity: Self.spareBytes)
        state.spare.append(batches[i])
      }
    }
  }

  /// Notes why events cannot be moved at present; they stay pending.
  func failMoving(_ error: SQLiteError) {
    state.withLock { state in
      state.obstacle = error
      state.wish = .nothing
    }
    state.signal()
  }

  /// The reason why events cannot be moved at present.
  var obstacle: SQLiteError? { state.withLock { $0.obstacle } }

  /// Ends the work that was wished for; events that come now may wish again.
  func endWish() { state.withLock { $0.wish = .nothing } }

  /// Returns the last position in the database, to flush up to it.
  var moved: UInt64 { state.withLock { $0.moved } }

  /// Notes that the disk has the events in the database up to a position.
  func raiseFlushed(upTo seq: UInt64) {
    state.withLock { state in
      state.inDatabase = max(state.inDatabase, seq)
      state.flushed = max(state.flushed, seq)
    }
    state.signal()
  }

  /// Removes the files, if the database has all events on the disk.
  func remove() {
    let isDone = state.withLock { $0.pending.isEmpty && $0.inDatabase == $0.last && !$0.hasFailed }
    guard isDone else { return }
    for end in TailFile.ends { unlink(journal + end) }
  }

  // MARK: Batches

  /// The most batches that are kept, and the most memory of one.
  private static let (maxSpare, spareBytes) = (16, 64 << 10)

  /// Returns an empty batch.
  func makeBatch() -> RecordBatch { state.withLock { $0.spare.popLast() } ?? RecordBatch() }
}
