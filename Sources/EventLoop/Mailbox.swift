internal import Clibuv

/// A queue of values from any thread to the loop's thread.
///
/// Letters are `Sendable`; the reader is not, so everything that it uses stays on the loop.
package final class Mailbox<Letter: Sendable> {
  /// The sending half, for other threads.
  package let slot: Slot

  private let wakeup: Wakeup

  /// Opens a mailbox, which keeps the loop running until it is closed.
  ///
  /// - Parameter read: Called on the loop's thread with all letters posted since the last call, in
  ///   posting order.
  package init(
    on loop: Loop, read: @escaping ([Letter]) -> Void
  ) throws(SystemError) {
    let slot = Slot()
    self.slot = slot
    wakeup = try Wakeup(on: loop) {
      let letters = slot.removeAll()
      if !letters.isEmpty { read(letters) }
    }
    slot.open(wakeup.bell)
  }

  /// Closes the mailbox.
  ///
  /// Unread and later letters are dropped.
  package func close() {
    slot.close()
    wakeup.close()
  }

  /// The posting half of a mailbox, for any thread.
  package final class Slot: Sendable {
    private struct State {
      var bell: Wakeup.Bell?
      var letters: [Letter] = []
    }

    private let state = Lock(State())

    package func post(_ letter: Letter) {
      state.withLock { state in
        guard let bell = state.bell else { return }
        state.letters.append(letter)
        // Under the lock, so that the bell never rings after it was closed.
        if state.letters.count == 1 { bell.ring() }
      }
    }

    fileprivate func open(_ bell: Wakeup.Bell) {
      state.withLock { $0.bell = bell }
    }

    fileprivate func close() {
      state.withLock { $0 = State() }
    }

    fileprivate func removeAll() -> [Letter] {
      state.withLock { state in
        defer { state.letters = [] }
        return state.letters
      }
    }
  }
}

/// A `uv_async_t`.
final class Wakeup {
  private var onWake: (() -> Void)?
  private var handle: Handle<uv_async_t>?

  init(on loop: Loop, onWake: @escaping () -> Void) throws(SystemError) {
    self.onWake = onWake
    handle = try Handle("uv_async_init", owner: self) {
      uv_async_init(loop.pointer, $0, wakeupRang)
    }
  }

  var bell: Bell {
    guard let handle else { preconditionFailure("a bell of a closed wakeup") }
    return Bell(async: handle.raw)
  }

  func close() {
    handle?.close()
    handle = nil
    onWake = nil
  }

  fileprivate func rang() {
    onWake?()
  }

  /// A reference for waking the loop from any thread.
  ///
  /// Unchecked, because `uv_async_send` is the one libuv call that any thread may make. The holder
  /// must not ring after the wakeup is closed; ``Mailbox/Slot`` ensures this with its lock.
  struct Bell: @unchecked Sendable {
    fileprivate let async: UnsafeMutablePointer<uv_async_t>

    func ring() {
      uv_async_send(async)
    }
  }
}

private func wakeupRang(_ async: UnsafeMutablePointer<uv_async_t>?) {
  owner(of: async?.pointee.data, as: Wakeup.self).rang()
}
