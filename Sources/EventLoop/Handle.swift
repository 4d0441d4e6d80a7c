internal import Clibuv

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
