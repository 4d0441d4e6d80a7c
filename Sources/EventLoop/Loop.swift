internal import Clibuv

/// A libuv loop and the thread that runs it.
///
/// All objects of a loop (handles, connections, services, signals) are non-`Sendable` classes, so
/// the compiler keeps them on the thread that created them. Other threads reach the loop only
/// through a ``Mailbox``.
package final class Loop {
  /// The maximum number of bytes per read.
  ///
  /// Each socket is read once per turn. This amount of short requests takes a few hundred
  /// microseconds, then the other sockets get their turn.
  package static let maxReadBytes = 8 * 1024

  let pointer: UnsafeMutablePointer<uv_loop_t>

  /// The read buffer of all sockets of this loop.
  ///
  /// They can share it, because each read is handled before the next begins.
  let slab = UnsafeMutableRawBufferPointer.allocate(byteCount: Loop.maxReadBytes, alignment: 64)

  private let thread = uv_thread_self()
  private let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
  private let idle = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)
  private var turnEnd: [() -> Void] = []

  /// Creates a loop that belongs to the calling thread.
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
    // Not retained: the loop closes this handle before it is released.
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

  /// The `uv_loop_t`, for another library that adds handles of its own.
  ///
  /// That library must close them before this object is released.
  package var foreign: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }

  /// Runs until no handle is active or ``stop()`` is called.
  package func run() {
    preconditionOnLoop()
    uv_run(pointer, UV_RUN_DEFAULT)
  }

  /// Runs one turn: waits for events, if any handle is active, and runs their callbacks.
  ///
  /// - Returns: Whether handles are still active.
  @discardableResult
  package func runOnce() -> Bool {
    preconditionOnLoop()
    return uv_run(pointer, UV_RUN_ONCE) != 0
  }

  /// Ends ``run()`` after this turn.
  package func stop() {
    uv_stop(pointer)
  }

  /// Milliseconds of the monotonic clock at the start of this turn.
  package var milliseconds: UInt64 { uv_now(pointer) }

  /// Calls `body` at the end of every turn, before the loop waits for events.
  ///
  /// Bodies run in the order in which they were added. With about a thousand ready descriptors,
  /// libuv handles several rounds of them in one turn. Buffers that must stay small therefore also
  /// need a size limit.
  package func onTurnEnd(_ body: @escaping () -> Void) {
    preconditionOnLoop()
    turnEnd.append(body)
  }

  /// Skips the wait for events at the end of this turn, so that long work continues in the next.
  package func skipWait() {
    // A loop with an idle handle does not wait. This handle stops when it is called.
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

/// The memory of one libuv handle, and the owner of its callbacks.
///
/// From `init` until the close callback, libuv owns the memory and the owner is retained, so a
/// callback never sees a released object. A second close does nothing. A handle that is never
/// closed keeps its owner alive, and the loop traps when it is released.
struct Handle<Raw> {
  let raw: UnsafeMutablePointer<Raw>

  /// Allocates and initializes a handle.
  ///
  /// - Parameters:
  ///   - call: The libuv function that `initialize` calls, for the error.
  ///   - initialize: Calls libuv's `uv_…_init` and returns its status.
  /// - Throws: ``SystemError`` when libuv fails; the memory is freed then.
  init(
    _ call: String, owner: some AnyObject, _ initialize: (UnsafeMutablePointer<Raw>) -> CInt
  ) throws(SystemError) {
    raw = .allocate(capacity: 1)
    do {
      try SystemError.check(call, initialize(raw))
    } catch {
      raw.deallocate()
      throw error
    }
    base.pointee.data = Unmanaged.passRetained(owner).toOpaque()
  }

  /// Closes the handle.
  ///
  /// libuv frees it and releases the owner at the end of the turn.
  func close() {
    guard uv_is_closing(base) == 0 else { return }
    uv_close(base, freeHandle)
  }

  /// Closes the handle and throws if a later libuv call on it failed.
  func check(_ call: String, _ status: CInt) throws(SystemError) {
    guard status < 0 else { return }
    close()
    throw SystemError(code: -status, call: call)
  }

  /// Lets the loop end while this handle is active.
  func unreference() {
    uv_unref(base)
  }

  private var base: UnsafeMutablePointer<uv_handle_t> {
    UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
  }
}

/// Frees a handle; libuv's close callback.
///
/// It is a global function, like every C callback here. A closure literal would inherit an
/// isolation and trap on another thread.
private func freeHandle(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
  guard let handle, let data = handle.pointee.data else { return }
  handle.deallocate()
  Unmanaged<AnyObject>.fromOpaque(data).release()
}

/// Returns the owner of a C callback.
@inline(__always)
func owner<Owner: AnyObject>(of data: UnsafeMutableRawPointer?, as: Owner.Type) -> Owner {
  guard let data else { preconditionFailure("a callback of a handle without an owner") }
  return Unmanaged<Owner>.fromOpaque(data).takeUnretainedValue()
}
