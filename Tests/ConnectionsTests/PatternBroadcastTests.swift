import Connections
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

/// Several subscriptions to one pattern, which share the changes until they have collected them.
@Suite(.leavesNothing)
struct PatternBroadcastTests {
  private let bench = Bench()

  /// The sources of a pattern.
  private final class Sources {
    let changes = PassthroughSubject<SourceChange, Never>()
    private(set) var values: [String: String] = [:]
    private(set) var seq: UInt64 = 0
    private(set) var observerCount = 0

    var pattern: PatternSource {
      PatternSource(
        key: "a/*",
        changes: Signal { [self] observer in
          observerCount += 1
          return changes.observe(with: observer.on)
        })
    }

    @discardableResult
    func set(_ name: String, _ text: String?) -> SourceChange {
      let before = values.updateValue(text ?? "", forKey: name).map { JSONText(trusted: $0) }
      if text == nil { values[name] = nil }
      seq += 1
      let change = SourceChange(
        source: name, seq: seq, value: text.map { JSONText(trusted: $0) }, before: before)
      changes.send(change)
      return change
    }
  }

  /// The rule of a subscription alone: what it sends after some changes.
  private struct Model {
    private struct Pending {
      let change: SourceChange
      let skipped: Int
      let isNew: Bool
    }

    private var pending: [Pending] = []

    mutating func add(_ change: SourceChange) {
      guard !change.isRepeat else { return }
      var (skipped, isNew) = (0, change.isNew)
      if let i = pending.firstIndex(where: { $0.change.source == change.source }) {
        let before = pending.remove(at: i)
        (skipped, isNew) = (before.skipped + 1, before.isNew)
        if isNew, change.isGone { return }
      }
      pending.append(Pending(change: change, skipped: skipped, isNew: isNew))
    }

    mutating func lines() -> [String] {
      defer { pending = [] }
      return pending.map {
        let value = $0.change.value.map { #""value":\#($0.text)"# } ?? #""gone":true"#
        let skipped = $0.skipped > 0 ? #","skipped":\#($0.skipped)"# : ""
        return #"{"jsonrpc":"2.0","method":"next","params":{"sub":"s","seq":\#($0.change.seq),"#
          + #""source":"\#($0.change.source)",\#(value)\#(skipped)}}"#
      }
    }
  }

  private func connect(uid: UInt32) -> (connection: Connection, transport: FakeTransport) {
    let connection = bench.table.connect(Peer(uid: uid, pid: 3, groups: [2]))
    let transport = FakeTransport()
    connection.handler = bench.connection.handler
    connection.start(transport)
    return (connection, transport)
  }

  @Test
  func `a change is noted once, however many subscriptions there are`() {
    let sources = Sources()
    for i in 0..<100 {
      bench.connection.add(
        PatternSubscription(.number(i), to: sources.pattern, on: bench.connection))
    }
    #expect(sources.observerCount == 1)
    sources.set("a/x", "1")
    #expect(bench.lines().count == 100)
    bench.connection.end()
    #expect(!sources.changes.hasObservers)
  }

  @Test
  func `a subscription gets no change from before its start`() {
    let sources = Sources()
    bench.connection.add(PatternSubscription(.number(1), to: sources.pattern, on: bench.connection))
    sources.set("a/x", "1")
    bench.connection.add(PatternSubscription(.number(2), to: sources.pattern, on: bench.connection))
    sources.set("a/y", "2")
    let lines = bench.lines()
    #expect(lines.filter { $0.contains(#""sub":1"#) }.count == 2)
    #expect(lines.filter { $0.contains(#""sub":2"#) }.map { $0.contains("a/y") } == [true])
  }

  /// The values before changes are kept for parts only, and not more than 4 MiB of them.
  @Test
  func `30: a part is sent again when the value before it was too long to be kept`() {
    let sources = Sources()
    let part = WatchedPart(key: "/p", find: { $0.members?["p"] }) { SimpleDisposable() }
    bench.connection.add(
      PatternSubscription(.number(1), to: sources.pattern, part: part, on: bench.connection))
    func text(_ part: Int, _ size: Int) -> String {
      #"{"p":\#(part),"rest":"\#(String(repeating: "x", count: size))"}"#
    }
    sources.set("a/short", text(1, 10))
    sources.set("a/long", text(1, 5 << 20))
    #expect(bench.lines().count == 2)
    // The part is the same: nothing is sent for the value that was kept.
    sources.set("a/short", text(1, 11))
    sources.set("a/long", text(1, 9))
    let lines = bench.lines()
    #expect(lines.count == 1 && lines[0].contains("a/long"), "\(lines)")
    sources.set("a/long", text(1, 8))
    #expect(bench.lines().isEmpty)
  }

  @Test(arguments: 1...40)
  func `clients that read at different times get what each would get alone`(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let sources = Sources()
    let clients = (1...4).map { connect(uid: UInt32($0 / 2)) }
    var models: [Model] = []
    for client in clients {
      client.connection.add(
        PatternSubscription(.name("s"), to: sources.pattern, on: client.connection))
      models.append(Model())
      client.transport.isOrderChecked = false  // the requests are not recorded
    }
    for _ in 0..<400 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<6:
        let name = "a/\(Int.random(in: 0..<4, using: &random))"
        let value = Int.random(in: 0..<4, using: &random)
        let change = sources.set(name, value == 0 ? nil : "\(value)")
        for i in models.indices { models[i].add(change) }
      case 6..<8:
        // Some clients take no output any more.
        for client in clients {
          let isBlocked = Bool.random(using: &random)
          guard isBlocked, client.transport.room > 0 else { continue }
          client.transport.room = 0
          client.connection.receive(Array(request(1).utf8).span)
        }
      case 8:
        for client in clients where client.transport.room == 0 {
          guard Bool.random(using: &random) else { continue }
          client.transport.room = .max
          client.connection.becameWritable()
        }
      default: break
      }
      bench.table.flush()
      for (i, client) in clients.enumerated() where client.transport.room > 0 {
        let lines = client.transport.lines().filter { $0.contains("next") }
        #expect(lines == models[i].lines(), "client \(i)")
      }
    }
  }
}
