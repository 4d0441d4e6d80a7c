internal import CSupport
internal import Glibc

/// The messages to the service manager, in the order in which they were sent.
///
/// While the manager is too busy, they wait here; none is lost. Use it on one thread.
package final class ManagerQueue {
  /// The pause before another attempt, in milliseconds.
  private static let pauseMilliseconds: UInt64 = 10

  /// The most milliseconds to wait in ``finish()``.
  private static let finishMilliseconds: UInt64 = 2_000

  fileprivate enum Message {
    /// States such as `READY=1`, each followed by LF.
    case states(String)
    /// A descriptor to hold; this queue owns it.
    case store(CInt, name: String)
    /// A descriptor to close.
    case remove(name: String)
  }

  /// The errors after which another attempt may succeed.
  private static let busy: Set<CInt> = [
    EAGAIN, EINTR, ENOBUFS, ENOMEM, EMFILE, ENFILE, ETOOMANYREFS,
  ]

  /// The beginning of the names of stored descriptors; listeners have other names.
  static let storedPrefix = "kept-"

  /// The address of the manager: a path, or `@` and an abstract name.
  private let address: String
  private var waiting: [Message] = []

  /// The number of waiting descriptors to hold.
  private var waitingStores = 0
  private var alarm: Timer?

  init(to address: String) { self.address = address }

  /// Sends messages that wait as soon as the manager takes them, while the loop runs.
  ///
  /// ``finish()`` must follow before the loop ends.
  package func start(on loop: Loop) throws(SystemError) {
    alarm?.close()
    alarm = try Timer(on: loop) { [unowned self] in sendWaiting() }
    if !waiting.isEmpty { alarm?.start(afterMilliseconds: Self.pauseMilliseconds) }
  }

  /// Sends states.
  ///
  /// States that say the same as the last waiting ones, with other figures, replace these.
  func notify(_ states: String) {
    if case .states(let last)? = waiting.last, last.beginning == states.beginning {
      waiting[waiting.count - 1] = .states(states)
      return sendWaiting()
    }
    send(.states(states))
  }

  /// Lets the manager hold a descriptor under a name that no other one has, and pass it to the next
  /// process.
  ///
  /// The manager may refuse it without a word, if it holds too many already. It closes the descriptor
  /// by itself if the peer of a socket has closed.
  package func store(_ descriptor: CInt, as name: String) {
    sendWaiting()
    if waiting.isEmpty, wasSent(.store(descriptor, name: name)) { return }
    // The caller may close its own before the manager takes the message.
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    // Without a descriptor the client ends with this process.
    guard copy >= 0 else { return }
    waitingStores += 1
    wait(.store(copy, name: name))
  }

  /// Lets the manager close its copy of a descriptor; call it before the descriptor is closed.
  package func remove(_ name: String) {
    if waitingStores > 0, let i = waiting.firstIndex(where: { $0.stores(name) }) {
      // The manager does not have it yet.
      if case .store(let copy, _) = waiting.remove(at: i) { close(copy) }
      waitingStores -= 1
      return
    }
    send(.remove(name: name))
  }

  /// Sends the waiting messages, and waits for the manager if it is busy, but not for ever.
  package func finish() {
    let deadline = Process.milliseconds + Self.finishMilliseconds
    sendWaiting { max(1, deadline - min(deadline, Process.milliseconds)) }
    alarm?.close()
    alarm = nil
  }

  private func send(_ message: Message) {
    sendWaiting()
    if waiting.isEmpty, wasSent(message) { return }
    wait(message)
  }

  private func wait(_ message: Message) {
    waiting.append(message)
    alarm?.start(afterMilliseconds: Self.pauseMilliseconds)
  }

  /// Sends messages in order until the manager refuses one.
  ///
  /// - Parameter pause: Returns the milliseconds to wait for the manager; 0 for none.
  private func sendWaiting(_ pause: () -> UInt64 = { 0 }) {
    guard !waiting.isEmpty else { return }
    var sent = 0
    while sent < waiting.count, wasSent(waiting[sent], within: pause()) {
      if case .store(let copy, _) = waiting[sent] {
        close(copy)
        waitingStores -= 1
      }
      sent += 1
    }
    waiting.removeFirst(sent)
    if !waiting.isEmpty { alarm?.start(afterMilliseconds: Self.pauseMilliseconds) }
  }

  /// Returns whether a message was sent; `false` if the manager is too busy.
  ///
  /// Other errors count as sent: if the manager does not listen, there is nobody to report them to.
  private func wasSent(_ message: Message, within milliseconds: UInt64 = 0) -> Bool {
    var (text, passed): (String, CInt) = ("", -1)
    switch message {
    case .states(let states): text = states
    case .store(let descriptor, let name):
      (text, passed) = ("FDSTORE=1\nFDNAME=\(Self.storedPrefix)\(name)\n", descriptor)
    case .remove(let name): text = "FDSTOREREMOVE=1\nFDNAME=\(Self.storedPrefix)\(name)\n"
    }
    let status = cposix_send_message(
      address, text, text.utf8.count, passed, CInt(clamping: milliseconds))
    return !Self.busy.contains(-status)
  }
}

extension ManagerQueue.Message {
  fileprivate func stores(_ name: String) -> Bool {
    if case .store(_, name) = self { true } else { false }
  }
}

extension String {
  /// The name of the first state.
  fileprivate var beginning: Substring { prefix { $0 != "=" } }
}
