internal import EventLoop
internal import Journal
internal import Model
internal import Signals

/// Messages between the daemons of a journal, as notifications of the database.
///
/// Each daemon listens to a channel of its own. A notification has the address of the sender, a
/// number that counts up for each receiver, whether a message begins with it, and a part of the
/// sender's messages, one on a line.
final class PostgresMail: DaemonMail {
  /// The bytes of a part; a notification has fewer than 8,000.
  private static let partBytes = 7_900

  private unowned let store: PostgresStore
  private var outgoing: [String: Outgoing] = [:]
  private var incoming: [String: Incoming] = [:]
  private let receivedSubject = PassthroughSubject<(message: String, address: String), Never>()
  private let lostSubject = PassthroughSubject<Void, Never>()
  private let changedSubject = PassthroughSubject<Void, Never>()

  /// The messages to a daemon.
  private struct Outgoing {
    var last = 0
    var text: [UInt8] = []
  }

  /// The messages of a daemon.
  private struct Incoming {
    var last: Int

    /// The beginning of a message.
    var text: [UInt8] = []

    /// Whether the rest of a message is missing.
    var isBroken = false
  }

  /// Delays the report of a loss, so that messages that have failed are not sent again at once.
  private var lossTimer: EventLoop.Timer?
  private var lossPause = GrowingPause()

  init(_ store: PostgresStore) { self.store = store }

  static func channel(of address: String) -> String { "\(PostgresSchema.channel)_\(address)" }

  var received: Signal<(message: String, address: String), Never> {
    receivedSubject.toSignal()
  }
  var lost: Signal<Void, Never> { lostSubject.toSignal() }
  var changed: Signal<Void, Never> { changedSubject.toSignal() }

  var active: String? {
    guard store.link != nil else { return nil }
    switch store.role {
    case .active: return store.settings.boot
    case .following(let node?):
      return store.nodes.first { $0.name == node.name && $0.isAlive }?.boot
    case .following(nil), .joining, .over: return nil
    }
  }

  /// Tells that ``active`` or the daemons may have changed.
  func sendChange() { changedSubject.send(()) }

  // MARK: Sending

  func send(_ message: String, to address: String) {
    guard store.link != nil else { return }
    outgoing[address, default: Outgoing()].text += message.utf8
    outgoing[address]?.text.append(UInt8(ascii: "\n"))
  }

  /// Sends the messages of this turn.
  func flush() {
    guard let link = store.link else { return }
    for (address, waiting) in outgoing where !waiting.text.isEmpty {
      var parameters = PostgresParameters()
      parameters.add(Self.channel(of: address))
      let parts = parts(of: waiting.text, after: waiting.last)
      parameters.addTexts(parts.count) { index, parameters in
        let part = parts[index]
        parameters.append(element: part.span)
      }
      outgoing[address]?.text = []
      outgoing[address]?.last += parts.count
      link.run(.post, parameters) { [unowned self] outcome in
        guard store.link === link else { return }
        switch outcome.result {
        case .success: lossPause.reset()
        case .failure: handleFailure()
        }
      }
    }
  }

  private func handleFailure() {
    guard lossTimer == nil else { return }
    lossTimer = try? EventLoop.Timer(on: store.loop) { [unowned self] in
      stop()
      sendLoss()
    }
    lossTimer?.start(afterMilliseconds: lossPause.next())
  }

  /// Ends the timer.
  func stop() {
    lossTimer?.close()
    lossTimer = nil
  }

  /// Returns a text as notifications.
  private func parts(of text: [UInt8], after last: Int) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    var start = 0
    while start < text.count {
      var end = min(start + Self.partBytes, text.count)
      // Not within a character.
      while end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
      let head = "\(store.settings.boot) \(last + parts.count + 1) \(start == 0 ? 1 : 0) "
      parts.append(Array(head.utf8) + text[start..<end])
      start = end
    }
    return parts
  }

  // MARK: Receiving

  /// Handles a notification of this daemon's channel.
  ///
  /// Whoever may use the database can send one, so a number out of range is ignored.
  func receive(_ notification: String) {
    let fields = notification.split(
      separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
    guard fields.count == 4, let number = Int(fields[1]), 1..<Int.max ~= number else { return }
    let (address, isBegun) = (String(fields[0]), fields[2] == "1")
    // Taken out, so that no copy is made.
    var sender = incoming.removeValue(forKey: address) ?? Incoming(last: number - 1)
    let isLost = number != sender.last + 1
    sender.last = number
    if isLost || isBegun { (sender.text, sender.isBroken) = ([], !isBegun) }
    var messages: [String] = []
    if !sender.isBroken {
      let lines = fields[3].utf8.split(
        separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      for line in lines.dropLast() {
        sender.text += line
        messages.append(String(decoding: sender.text, as: UTF8.self))
        sender.text = []
      }
      sender.text += lines[lines.count - 1]
    }
    incoming[address] = sender
    if isLost { lostSubject.send(()) }
    for message in messages { receivedSubject.send((message, address)) }
  }

  /// Begins again on a new connection, for which messages were lost.
  func begin() {
    for address in outgoing.keys { outgoing[address]?.text = [] }
    incoming = [:]
  }

  /// Tells that messages to this daemon may have been lost.
  func sendLoss() { lostSubject.send(()) }

  /// Forgets daemons that are gone.
  func keep(_ addresses: Set<String>) {
    outgoing = outgoing.filter { addresses.contains($0.key) }
    incoming = incoming.filter { addresses.contains($0.key) }
  }
}
