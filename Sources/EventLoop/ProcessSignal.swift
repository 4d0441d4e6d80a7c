internal import Clibuv

/// Calls back when the process receives a signal such as `SIGTERM`.
///
/// It does not keep the loop running.
package final class ProcessSignal {
  private var onSignal: (() -> Void)?
  private var handle: Handle<uv_signal_t>?

  /// Starts to listen for a signal.
  ///
  /// - Parameters:
  ///   - number: The signal, for example `SIGTERM`.
  ///   - onSignal: Called on the loop's thread; several signals in a row may cause one call.
  package init(
    _ number: CInt, on loop: Loop, onSignal: @escaping () -> Void
  ) throws(SystemError) {
    self.onSignal = onSignal
    let handle = try Handle<uv_signal_t>("uv_signal_init", owner: self) {
      uv_signal_init(loop.pointer, $0)
    }
    try handle.check("uv_signal_start", uv_signal_start(handle.raw, signalArrived, number))
    handle.unreference()
    self.handle = handle
  }

  package func close() {
    handle?.close()
    handle = nil
    onSignal = nil
  }

  fileprivate func arrived() {
    onSignal?()
  }
}

private func signalArrived(_ signal: UnsafeMutablePointer<uv_signal_t>?, _ number: CInt) {
  owner(of: signal?.pointee.data, as: ProcessSignal.self).arrived()
}
