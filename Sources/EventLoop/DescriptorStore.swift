/// The descriptors that the service manager holds for the next process.
///
/// While the manager is too busy, messages wait here in order.
package final class DescriptorStore {
  /// The pause before another attempt, in milliseconds.
  private static let pauseMilliseconds: UInt64 = 10

  /// The most milliseconds to wait in ``finish()``.
  private static let finishMilliseconds: UInt64 = 2_000

  private enum Message {
    case store(CInt, name: String)
    case remove(name: String)
  }

  private let manager: ServiceManager
  private var waiting: [Message] = []
  private var alarm: Timer?

  /// - Parameter manager: A manager that stores descriptors.
  package init(_ manager: ServiceManager, on loop: Loop) throws(SystemError) {
    self.manager = manager
    alarm = try Timer(on: loop) { [unowned self] in sendWaiting() }
  }

  /// Stores a descriptor under a name that no other one has.
  package func store(_ descriptor: CInt, as name: String) { send(.store(descriptor, name: name)) }

  /// Removes a descriptor; call it before the descriptor is closed.
  package func remove(_ name: String) {
    waiting.removeAll {
      if case .store(_, name) = $0 { true } else { false }
    }
    send(.remove(name: name))
  }

  /// Sends the waiting messages, and waits for the manager if it is busy.
  package func finish() {
    let begun = Process.milliseconds
    while !waiting.isEmpty, Process.milliseconds - begun < Self.finishMilliseconds {
      Process.pause(milliseconds: Self.pauseMilliseconds)
      sendWaiting()
    }
    alarm?.close()
    alarm = nil
  }

  private func send(_ message: Message) {
    if waiting.isEmpty, wasSent(message) { return }
    if waiting.isEmpty { alarm?.start(afterMilliseconds: Self.pauseMilliseconds) }
    waiting.append(message)
  }

  private func sendWaiting() {
    let sent = waiting.firstIndex { !wasSent($0) } ?? waiting.count
    waiting.removeFirst(sent)
    if !waiting.isEmpty { alarm?.start(afterMilliseconds: Self.pauseMilliseconds) }
  }

  private func wasSent(_ message: Message) -> Bool {
    switch message {
    case .store(let descriptor, let name): manager.store(descriptor, as: name)
    case .remove(let name): manager.remove(name)
    }
  }
}
