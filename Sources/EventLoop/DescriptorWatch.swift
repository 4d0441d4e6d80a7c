internal import Clibuv

/// Tells when a descriptor of somebody else can be read or written.
///
/// The descriptor is neither read nor closed here; it must stay open until this is closed.
package final class DescriptorWatch {
  /// What a descriptor can be ready for.
  package struct Events: OptionSet, Sendable {
    package let rawValue: CInt

    package init(rawValue: CInt) { self.rawValue = rawValue }

    package static let readable = Events(rawValue: CInt(UV_READABLE.rawValue))
    package static let writable = Events(rawValue: CInt(UV_WRITABLE.rawValue))
  }

  private var onReady: ((Events) -> Void)?
  private var handle: Handle<uv_poll_t>?

  /// Makes a watch that does not wait yet.
  ///
  /// - Parameters:
  ///   - descriptor: Not watched by anything else of this loop.
  ///   - onReady: Called on the loop's thread in each turn in which it is ready; for all that is
  ///     watched when the descriptor has failed, so that whoever uses it finds out.
  package init(
    _ descriptor: CInt, on loop: Loop, onReady: @escaping (Events) -> Void
  ) throws(SystemError) {
    self.onReady = onReady
    handle = try Handle("uv_poll_init", owner: self) {
      uv_poll_init(loop.pointer, $0, descriptor)
    }
  }

  /// Waits for these from now on; for none, it waits no longer.
  package func wait(for events: Events) {
    guard let handle else { return }
    // Fails for a closing handle only; no events stop it.
    let status = uv_poll_start(handle.raw, events.rawValue, descriptorReady)
    precondition(status == 0, "a descriptor is not watched: \(status)")
  }

  /// Ends the watch and drops its closure; the descriptor may be closed then.
  package func close() {
    if let handle { uv_poll_stop(handle.raw) }
    handle?.close()
    handle = nil
    onReady = nil
  }

  fileprivate func ready(_ status: CInt, _ events: CInt) {
    onReady?(status < 0 ? [.readable, .writable] : Events(rawValue: events))
  }
}

private func descriptorReady(
  _ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: CInt, _ events: CInt
) {
  owner(of: poll?.pointee.data, as: DescriptorWatch.self).ready(status, events)
}
