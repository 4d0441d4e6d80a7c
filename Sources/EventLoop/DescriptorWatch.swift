internal import Clibuv

/// Watches a descriptor of another library for readiness.
///
/// It neither reads nor closes the descriptor, which must stay open until the watch is closed.
package final class DescriptorWatch {
  /// The kinds of readiness of a descriptor.
  package struct Events: OptionSet, Sendable {
    package let rawValue: CInt

    package init(rawValue: CInt) { self.rawValue = rawValue }

    package static let readable = Events(rawValue: CInt(UV_READABLE.rawValue))
    package static let writable = Events(rawValue: CInt(UV_WRITABLE.rawValue))
  }

  private var onReady: ((Events) -> Void)?
  private var handle: Handle<uv_poll_t>?

  /// Creates an idle watch.
  ///
  /// - Parameters:
  ///   - descriptor: Must not be watched by anything else on this loop.
  ///   - onReady: Called on the loop's thread in each turn in which the descriptor is ready. If the
  ///     descriptor has failed, it is called with all events, so that the user of the descriptor
  ///     finds the error.
  package init(
    _ descriptor: CInt, on loop: Loop, onReady: @escaping (Events) -> Void
  ) throws(SystemError) {
    self.onReady = onReady
    handle = try Handle("uv_poll_init", owner: self) {
      uv_poll_init(loop.pointer, $0, descriptor)
    }
  }

  /// Watches for these events from now on; an empty set stops the watch.
  package func wait(for events: Events) {
    guard let handle else { return }
    // Fails only for a closing handle; an empty set stops the handle.
    let status = uv_poll_start(handle.raw, events.rawValue, descriptorReady)
    precondition(status == 0, "a descriptor is not watched: \(status)")
  }

  /// Stops the watch and releases its callback.
  ///
  /// The descriptor may be closed afterwards.
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
