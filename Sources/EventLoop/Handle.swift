internal import Clibuv

/// The memory of one libuv handle, and the object its callbacks belong to.
///
/// From `init` until libuv's close callback the memory is libuv's and the owner is retained, so a
/// callback never meets a released object. Closing twice is closing once; a handle that is never
/// closed keeps its owner, and the loop traps on it when the loop is released.
struct Handle<Raw> {
  let raw: UnsafeMutablePointer<Raw>

  /// Allocates a handle and hands it to libuv.
  ///
  /// - Parameters:
  ///   - call: The libuv function that `initialize` calls, for the error.
  ///   - initialize: Calls libuv's `uv_…_init` and returns its status.
  /// - Throws: ``SystemError`` when libuv refuses; nothing is kept then.
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

  /// Gives the handle back to libuv, which frees it and lets the owner go at the end of the turn.
  func close() {
    guard uv_is_closing(base) == 0 else { return }
    uv_close(base, freeHandle)
  }

  /// Closes the handle and throws when a later libuv call on it has failed.
  func check(_ call: String, _ status: CInt) throws(SystemError) {
    guard status < 0 else { return }
    close()
    throw SystemError(code: -status, call: call)
  }

  /// Lets the loop end although this handle is active.
  func unreference() {
    uv_unref(base)
  }

  private var base: UnsafeMutablePointer<uv_handle_t> {
    UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
  }
}

/// libuv's close callback.
///
/// It is a function of the file, as every C callback here is: a closure
/// literal would be inferred to belong to an isolation and trap on another thread.
private func freeHandle(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
  guard let handle, let data = handle.pointee.data else { return }
  handle.deallocate()
  Unmanaged<AnyObject>.fromOpaque(data).release()
}

/// The object that a C callback belongs to.
@inline(__always)
func owner<Owner: AnyObject>(of data: UnsafeMutableRawPointer?, as: Owner.Type) -> Owner {
  guard let data else { preconditionFailure("a callback of a handle without an owner") }
  return Unmanaged<Owner>.fromOpaque(data).takeUnretainedValue()
}
