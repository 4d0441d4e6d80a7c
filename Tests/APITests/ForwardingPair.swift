import API
import Configuration
import Connections
import EventSourcing
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport

/// Two daemons on one journal, whose messages the test delivers.
final class Pair {
  let leader: Bench
  let follower: Bench
  private let wholes: [AnyObject]

  /// The messages under way, in order, with their receivers.
  private(set) var messages: [(text: String, to: String, from: String)] = []
  private var parts: [String: Forwarding] = [:]
  private var addresses: Set<String> = ["leader", "follower"]
  private let bag = DisposeBag()

  /// - Parameter make: Makes a daemon: its bench, and what must live as long.
  init(_ make: () throws -> (Bench, AnyObject)) throws {
    let (first, second) = (try make(), try make())
    (leader, follower, wholes) = (first.0, second.0, [first.1, second.1])
    for (name, bench) in [("leader", leader), ("follower", follower)] {
      let part = Forwarding(
        in: bench.table, on: bench.time, patienceMilliseconds: 5_000,
        bind: { [unowned bench] in
          guard $0.peer.uid != 77 else { return $0.close(.permissionDenied) }
          bindConnection($0, to: bench.rights[.owner])
        },
        send: { [weak self] in self?.messages.append((text: $0, to: $1, from: name)) })
      bench.catalog.forward(by: part)
      parts[name] = part
      bench.host.progress.observeNext { part.advance(to: $0) }.dispose(in: bag)
    }
    follower.store.follow(leader.store)
    change(to: "leader")
  }

  deinit {
    bag.dispose()
    follower.store.lead(term: 9)
  }

  /// Tells both daemons which one is active.
  func change(to active: String?) {
    for (name, part) in parts {
      part.change(isActive: name == active, active: active, addresses: addresses)
    }
  }

  /// The daemon that follows is out of reach for a moment; what it sends is lost.
  func interruptFollower(_ meanwhile: () -> Void) {
    let part = parts["follower"]
    part?.change(isActive: false, active: nil, addresses: nil)
    meanwhile()
    messages = []
    part?.messagesWereLost(toldTo: [])
    part?.change(isActive: false, active: "leader", addresses: addresses)
  }

  /// The daemon that follows is gone.
  func loseFollower() {
    addresses = ["leader"]
    parts["leader"]?.change(isActive: true, active: "leader", addresses: addresses)
  }

  /// Delivers a message that neither daemon has sent.
  func forge(_ text: String, to name: String, from other: String) {
    parts[name]?.receive(text, from: other)
  }

  /// Loses the messages under way, and nobody notices it.
  func lose() { messages = [] }

  func loseMessages(of name: String) {
    messages = []
    parts[name]?.messagesWereLost(toldTo: name == "leader" ? ["follower"] : [])
  }

  /// Delivers all messages without a commit; returns their number.
  @discardableResult
  func deliver() -> Int {
    var count = 0
    while !messages.isEmpty {
      let message = messages.removeFirst()
      parts[message.to]?.receive(message.text, from: message.from)
      leader.table.flush()
      follower.table.flush()
      count += 1
    }
    return count
  }

  /// Lets the leader work on the messages, and returns a function that delivers its answers before
  /// the follower sends anything.
  func exchange() -> () -> Void {
    while let place = messages.firstIndex(where: { $0.to == "leader" }) {
      let message = messages.remove(at: place)
      parts["leader"]?.receive(message.text, from: message.from)
    }
    leader.table.flush()
    return { [self] in
      while !messages.isEmpty {
        let message = messages.removeFirst()
        parts[message.to]?.receive(message.text, from: message.from)
      }
    }
  }

  /// Delivers all messages and commits all events.
  func settle() {
    for _ in 0..<4 {
      deliver()
      leader.store.commit()
      leader.store.read()
      leader.table.flush()
      follower.table.flush()
    }
  }

  func settle(_ client: TestClient) -> [String] {
    settle()
    return client.received()
  }
}
