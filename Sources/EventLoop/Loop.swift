internal import Clibuv

/// A libuv loop and the thread that runs it.
///
/// Everything that hangs on a loop (handles, connections, services, signals) is a non-`Sendable`
/// class, so the compiler keeps it in the region of the thread that made it. Threads other than the
/// loop's reach it through a ``Mailbox`` only.
package final class Loop {
  /// How many bytes one read takes at most.
  ///
  /// It is read once a turn from each socket: so many bytes of short requests are some hundred
  /// microseconds of work, after which it is the turn of the others.
  static let slabSize = 8 * 1024

  let pointer: UnsafeMutablePointer<uv_loop_t>

  /// Where every socket of this loop reads to: one for all, because each read is handed on before
  /// the next begins.
  let slab = UnsafeMutableRawBufferPointer.allocate(byteCount: Loop.slabSize, alignment: 64)

  private let thread = uv_thread_self()
  private let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
  private let idle = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)
  private var turnEnd: [() -> Void] = []

  /// Makes a loop that belongs to the calling thread.
  package init() throws(SystemError) {
    pointer = .allocate(capacity: 1)
    do {
      try SystemError.check("uv_loop_init", uv_loop_init(pointer))
    } catch {
      pointer.deallocate()
      prepare.deallocate()
      idle.deallocate()
      slab.deallocate()
      throw error
    }
    uv_prepare_init(pointer, prepare)
    // Not retained: the loop ends this handle itself, before it goes.
    prepare.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    uv_prepare_start(prepare, prepareFired)
    prepare.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { uv_unref($0) }
    uv_idle_init(pointer, idle)
  }

  deinit {
    prepare.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { uv_close($0, nil) }
    idle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { uv_close($0, nil) }
    uv_run(pointer, UV_RUN_NOWAIT)
    let status = uv_loop_close(pointer)
    precondition(status == 0, "a loop was released with open handles")
    pointer.deallocate()
    prepare.deallocate()
    idle.deallocate()
    slab.deallocate()
  }

  /// Runs until no handle is active or ``stop()`` is called.
  package func run() {
    preconditionOnLoop()
    uv_run(pointer, UV_RUN_DEFAULT)
  }

  /// Runs one turn: waits for events, unless there are none to wait for, and calls back for them.
  ///
  /// - Returns: Whether there is more to wait for.
  @discardableResult
  package func runOnce() -> Bool {
    preconditionOnLoop()
    return uv_run(pointer, UV_RUN_ONCE) != 0
  }

  /// Ends ``run()`` after this turn.
  package func stop() {
    uv_stop(pointer)
  }

  /// Milliseconds of a monotonic clock, as of the start of this turn.
  package var milliseconds: UInt64 { uv_now(pointer) }

  /// Calls `body` at the end of every turn, before the loop waits for the next events.
  ///
  /// Bodies run in the order in which they were added. When a thousand descriptors are ready at
  /// once libuv takes several rounds of them within one turn, so what must not grow is also to be
  /// flushed by its own measure.
  package func onTurnEnd(_ body: @escaping () -> Void) {
    preconditionOnLoop()
    turnEnd.append(body)
  }

  /// Does not wait for events at the end of this turn: something that takes long goes on in the next.
  package func skipWait() {
    // A loop with an idle handle does not wait; this one ends itself when it is called.
    uv_idle_start(idle) { idle in uv_idle_stop(idle) }
  }

  fileprivate func endTurn() {
    for body in turnEnd { body() }
  }

  /// Traps unless the caller is on this loop's thread.
  package func preconditionOnLoop(file: StaticString = #fileID, line: UInt = #line) {
    var (mine, current) = (thread, uv_thread_self())
    precondition(uv_thread_equal(&mine, &current) != 0, "off the loop", file: file, line: line)
  }
}

private func prepareFired(_ prepare: UnsafeMutablePointer<uv_prepare_t>?) {
  owner(of: prepare?.pointee.data, as: Loop.self).endTurn()
}
