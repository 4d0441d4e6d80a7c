@testable import Connections
import EventLoop
import Glibc
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

/// The memory for the next daemon, at each moment of a turn.
@Suite(.leavesNothing)
struct HandoverTests {
  /// A client that is kept, and the memory as the next daemon would read it.
  private final class KeptBench {
    let bench: Bench
    let handover: Handover

    init(_ change: (inout Limits) -> Void = { _ in }) throws {
      bench = Bench(change)
      handover = try Handover(slots: 8, generation: 1, epoch: "e", scheduler: bench.time)
      bench.table.context.handover = handover
      connection = bench.table.connect(Peer(uid: 1, pid: 3, groups: [2]))
      connection.handler = Handler { [unowned bench] call, request, line in
        let method = bench.methods[JSONScanner(line).text(request.method)]
        return method?(call) == .later ? .durability : nil
      }
      connection.start(transport)
      bench.time.advance(1_000)
    }

    let connection: Connection
    let transport = FakeTransport()

    deinit { connection.end() }

    /// Reads the memory.
    var memory: HandoverConnections {
      get throws {
        try HandoverConnections(in: SharedMemory(adopting: dup(handover.shared.descriptor)))
      }
    }

    var kept: HandoverConnection? {
      get throws { try memory.connection(connection.id) }
    }

    func receive(_ text: String) {
      transport.recorder.sent(Array(text.utf8))
      connection.receive(Array(text.utf8).span)
    }

    /// Lets the client take no output any more, of which some waits.
    func becomeDeaf() {
      transport.isOrderChecked = false
      transport.room = 0
      receive(request(1))
    }

    /// Subscribes to the pattern `a/*`, and returns its changes.
    func watchPattern() throws -> PassthroughSubject<SourceChange, Never> {
      let changes = PassthroughSubject<SourceChange, Never>()
      let source = PatternSource(key: "a/*", changes: changes.toSignal())
      let subscription = PatternSubscription(.number(1), to: source, on: connection)
      subscription.terms = try JSONText(parsing: "{}")
      connection.add(subscription)
      return changes
    }
  }

  // MARK: The table

  /// The structures whose stored properties are in the table, each for itself.
  private static let structures: Set<String> = [
    "link", "intake", "subscribed", "lateCalls", "followUps", "forwarded",
  ]

  /// The part of each stored property.
  private static let properties: [String: ConnectionPart] = [
    "id": .number, "peer": .peer, "acting": .actingUser, "context": .turn, "user": .peer,
    "takesItems": .greeting, "lineOut": .greeting, "bufferedBytes": .turn, "isListed": .turn,
    "link.place": .turn, "isPostponed": .turn, "isWaiting": .turn, "isMonitored": .turn,
    "slowPlace": .turn,
    "subscribed.next": .turn,
    "isEnded": .socket, "isGone": .socket, "link.isAtEnd": .socket, "link.isReading": .socket,
    "link.transport": .socket, "link.closing": .socket, "link.isLeft": .socket, "kept": .socket,
    "intake.parked": .input, "input": .input, "output": .output,
    "subscribed.all": .subscriptions, "subscribed.costlyCount": .subscriptions,
    "openViews": .views, "held": .heldAnswers, "writtenPosition": .heldAnswers,
    "followUps.answers": .postponedAnswers, "followUps.actions": .behindAnswers,
    "lateCalls.syncs": .lateCalls, "lateCalls.all": .lateCalls, "intake.batchBytes": .batch,
    "intake.batch": .batch, "intake.runningBatch": .batch, "intake.bounds": .turn, "live": .turn,
    "handler": .peer,
    "clientName": .greeting, "connectedAt": .connectedAt, "requests": .requestCount,
    "bindings": .bindings, "subscribed.endedNames": .hints,
    "subscribed.lastNumber": .handleNumber, "intake.badLines": .hints,
    "intake.isAwaitingWork": .patience, "intake.parkedSince": .patience,
    "intake.partialSince": .patience, "forwarded.waitedFor": .forwardedRequests,
    "forwarded.bytes": .forwardedRequests, "forwarded.mayEnd": .forwardedRequests,
    // Each disposable names its part; see `Connection.attach`.
    "bag": .turn,
  ]

  @Test
  func `each stored property of a connection belongs to a part of the table`() {
    let bench = Bench()
    var labels: Set<String> = []
    var mirror: Mirror? = Mirror(reflecting: bench.connection)
    while let level = mirror {
      for child in level.children {
        let label = child.label ?? ""
        let lazy = "$__lazy_storage_$_"
        guard Self.structures.contains(label) else {
          labels.insert(label.hasPrefix(lazy) ? String(label.dropFirst(lazy.count)) : label)
          continue
        }
        for part in Mirror(reflecting: child.value).children {
          labels.insert("\(label).\(part.label ?? "")")
        }
      }
      mirror = level.superclassMirror
    }
    #expect(labels.symmetricDifference(Self.properties.keys).isEmpty)
  }

  @Test
  func `each kind of items is one part, and the user for whom it acts is the first`() {
    #expect(ConnectionPart.items.count == HandoverKind.allCases.count)
    #expect(Set(ConnectionPart.items) == Set(HandoverKind.allCases))
    #expect(ConnectionPart.items.first == .acting)
  }

  @Test
  func `each part that closes the connection is known to the memory`() throws {
    for part in ConnectionPart.allCases where part.fate == .closes {
      let bench = try KeptBench { ($0.lineIn, $0.outputSoft) = (100, 1_000) }
      bench.transport.isOrderChecked = false
      #expect(try bench.kept?.end == .goesOn)
      try bring(part, to: bench)
      bench.bench.table.flush()
      #expect(try bench.kept?.end ?? .closes == .closes, "\(part)")
    }
  }

  /// Gives a connection a part that cannot be restored.
  private func bring(_ part: ConnectionPart, to bench: KeptBench) throws {
    let connection = bench.connection
    func ask(_ method: @escaping (Call) -> Void, isBatch: Bool = false) {
      bench.bench.methods["m"] = {
        method($0)
        return .done
      }
      let line = #"{"id":1,"method":"m"}"#
      bench.receive(isBatch ? "[\(line)]\n" : line + "\n")
    }
    switch part {
    case .heldAnswers: ask { $0.answer(after: 9) { $0.append("{}") } }
    case .lateCalls: ask { _ = $0.later() }
    case .postponedAnswers:
      bench.transport.room = 0
      let text = String(repeating: "x", count: 1_000)
      ask { call in call.answer { $0.append("\"\(text)\"") } }
      connection.whenTaken {}
      bench.receive("\n")
    case .behindAnswers:
      // A notification after the answer of a batch that the client does not read.
      bench.transport.room = 0
      ask(
        { call in
          call.connection.notify("n") { _ in }
          call.answer { $0.append("{}") }
        }, isBatch: true)
    case .batch:
      bench.bench.methods["m"] = { _ in .later }
      bench.receive("[\(#"{"id":1,"method":"m"}"#)]\n")
    case .skippedLine: bench.receive(String(repeating: "x", count: 200))
    case .partOfValue:
      // `CollectionSubscription.isIncomplete`.
      connection.kept?.isIncomplete = true
      bench.receive("\n")
    case .forwardedRequests: connection.attach(.forwardedRequests, BlockDisposable {})
    default: Issue.record("\(part) is not tested")
    }
  }

  @Test
  func `the documentation has each part in the row of what becomes of it`() {
    let file = #filePath.replacing(
      "Tests/ConnectionsTests/HandoverTests.swift", with: "Documentation/architecture.md")
    let lines = Files.text(of: file).split(separator: "\n")
    /// Returns the parts in the rows that begin with a text.
    func parts(_ beginning: String) -> [String] {
      lines.filter { $0.hasPrefix("| \(beginning)") }.flatMap { line in
        (line.dropLast(2).split(separator: "|").last ?? "").dropFirst().split(separator: ", ")
      }
      .map(String.init)
    }
    for part in ConnectionPart.allCases {
      let row =
        switch part.fate {
        case .kept: "kept in the memory"
        case .item: "kept as items"
        case .given: "given by"
        case .beginsAgain: "begins again"
        case .closes: "closes the connection"
        }
      #expect(parts(row).contains(part.rawValue))
    }
  }

  @Test
  func `an item that was replaced is read once`() throws {
    let bench = try KeptBench()
    let kept = try #require(bench.connection.kept)
    kept.set(HandoverItem(.login, "u", JSONText(0)))
    kept.set(HandoverItem(.work, "w", JSONText(1)))
    kept.set(HandoverItem(.subscription, "s", JSONText(2)))
    bench.receive(request(1))
    #expect(try bench.kept?.items.map(\.key) == ["u", "w", "s"])
    kept.set(HandoverItem(.work, "w", JSONText(3)))
    bench.receive(request(2))
    #expect(try bench.kept?.items.map(\.key) == ["u", "w", "s"])
    #expect(try bench.kept?.items.map(\.text) == [JSONText(0), JSONText(3), JSONText(2)])
  }

  // MARK: The moment of a kill

  @Test
  func `15: a client whose socket is being read is closed by the next daemon`() throws {
    let bench = try KeptBench()
    #expect(try bench.kept?.end == .goesOn)
    #expect(bench.handover.enter(bench.connection))
    #expect(try bench.kept?.end == .closes)
    bench.handover.leaveUnchanged()
    #expect(try bench.kept?.end == .goesOn)
  }

  @Test
  func `a client that may have a part of a line gets no other line while it is served`() throws {
    let bench = try KeptBench()
    bench.transport.room = 10
    bench.transport.isOrderChecked = false
    bench.receive(request(1))
    #expect(try bench.kept?.end == .goesOn)
    #expect(try bench.kept?.output.isEmpty == false)
    #expect(bench.handover.enter(bench.connection))
    #expect(try bench.kept?.end == .cut)
    bench.handover.leave(bench.connection, hasSent: false)
    #expect(try bench.kept?.end == .goesOn)
  }

  @Test
  func `a connection that is being closed gets no second last line`() throws {
    let bench = try KeptBench()
    var ends: [HandoverConnection.End?] = []
    bench.transport.onSend = { ends.append(try? bench.kept?.end) }
    bench.connection.close(.kicked)
    bench.transport.onSend = {}
    #expect(ends == [.cut])
    #expect(try bench.kept == nil)
  }

  @Test
  func `input of an earlier daemon is kept before it runs`() throws {
    let bench = try KeptBench()
    let line = request(7)
    bench.receive(String(line.prefix(9)))
    let kept = try #require(try bench.kept)
    #expect(kept.input == Array(line.utf8.prefix(9)))
    let next = try KeptBench()
    let connection = next.bench.table.reconnect(Peer(uid: 1, pid: 3, groups: [2]), kept)
    connection.handler = next.connection.handler
    let transport = FakeTransport()
    transport.recorder.sent(Array(line.utf8))
    connection.start(transport)
    connection.keepNow()
    #expect(try next.memory.connection(connection.id)?.input == kept.input)
    connection.resumeInput()
    connection.receive(Array(line.utf8.dropFirst(9)).span)
    next.bench.table.flush()
    #expect(transport.lines() == [result(7)])
    #expect(try next.memory.connection(connection.id)?.input == [])
    // It is no young client any more.
    next.bench.time.advance(1_000)
  }

  @Test
  func `a memory counts no more once its connections are in the next one`() throws {
    let bench = try KeptBench()
    bench.handover.complete()
    let memory = try bench.memory
    #expect(memory.isComplete)
    memory.retire()
    #expect(try bench.memory.isComplete == false)
  }

  /// Subscriptions learn of a change at the end of the turn.
  @Test
  func `a client that becomes writable before its changes are sent keeps the place before them`()
    throws
  {
    let bench = try KeptBench()
    let changes = PassthroughSubject<SourceChange, Never>()
    let source = StateSource(
      key: "a", isJournaled: true, value: { nil }, changes: changes.toSignal())
    let subscription = StateSubscription(.number(1), to: source, on: bench.connection)
    subscription.terms = try JSONText(parsing: "{}")
    bench.connection.add(subscription)
    bench.becomeDeaf()
    changes.send(SourceChange(source: "a", seq: 1, value: JSONText(1)))
    bench.bench.table.advance(to: 1)
    bench.transport.room = .max
    bench.connection.becameWritable()
    #expect(try bench.kept?.cursors.map(\.position) == [0])
    bench.bench.table.flush()
    #expect(try bench.kept?.cursors.isEmpty == true)
    #expect(try bench.kept?.shown == 1)
  }

  @Test
  func `a client that has not collected the changes of a pattern keeps the place before them`()
    throws
  {
    let bench = try KeptBench()
    let changes = try bench.watchPattern()
    bench.becomeDeaf()
    for (seq, name) in [(1, "a/x"), (2, "a/y"), (3, "a/x")] {
      changes.send(SourceChange(source: name, seq: UInt64(seq), value: JSONText(seq)))
    }
    bench.bench.table.advance(to: 3)
    bench.transport.room = .max
    bench.connection.becameWritable()
    #expect(try bench.kept?.cursors.map(\.position) == [1])
    bench.bench.table.flush()
    #expect(try bench.kept?.cursors.isEmpty == true)
  }

  /// A mark without a change does not hide the change after it.
  @Test
  func `15: a client that takes nothing keeps the place before its first change after a restart`()
    throws
  {
    let bench = try KeptBench()
    let steps = PassthroughSubject<CollectionStep, Never>()
    let source = CollectionSource(
      name: "lists/a", elements: { .list([]) }, steps: steps.toSignal())
    let subscription = CollectionSubscription(
      .number(1), to: source, at: 0, on: bench.connection)
    subscription.terms = try JSONText(parsing: "{}")
    bench.becomeDeaf()
    bench.connection.add(subscription)
    subscription.resume(after: 0, missing: 0, last: 0)
    bench.bench.table.flush()
    #expect(try bench.kept?.cursors.isEmpty == true)
    steps.send(CollectionStep(seq: 1, change: .insert(at: 0, JSONText(1))))
    bench.bench.table.advance(to: 1)
    bench.bench.table.flush()
    #expect(try bench.kept?.cursors.map(\.position) == [0])
  }

  @Test
  func `15: a change of a pattern that nobody gets does not hide the one after it`() throws {
    let bench = try KeptBench()
    let changes = try bench.watchPattern()
    bench.becomeDeaf()
    for (seq, before) in [(1, 5), (2, 4)] {
      changes.send(
        SourceChange(
          source: "a/x", seq: UInt64(seq), value: JSONText(5), before: JSONText(before)))
      bench.bench.table.advance(to: UInt64(seq))
      bench.bench.table.flush()
      #expect(try bench.kept?.cursors.map(\.position) == (seq == 1 ? [] : [1]))
    }
  }

  /// Sources of each kind with random changes, and subscriptions to them.
  private final class RandomSources {
    let state = PassthroughSubject<SourceChange, Never>()
    let pattern = PassthroughSubject<SourceChange, Never>()
    let steps = PassthroughSubject<CollectionStep, Never>()
    let log = NumberedLog()
    private var values: [String: Int] = [:]
    private(set) var seq: UInt64 = 0
    private var lastHandle = 0

    /// Makes one change, which may leave the value as it was.
    func change(_ random: inout SeededRandom) {
      seq += 1
      let kind = Int.random(in: 0..<4, using: &random)
      let value = Int.random(in: 0..<2, using: &random)
      let name = kind == 0 ? "a" : "b/\(Int.random(in: 0..<2, using: &random))"
      let before = values.updateValue(value, forKey: name).map { JSONText($0) }
      let change = SourceChange(source: name, seq: seq, value: JSONText(value), before: before)
      switch kind {
      case 0: state.send(change)
      case 1: pattern.send(change)
      case 2: steps.send(CollectionStep(seq: seq, change: .insert(at: 0, JSONText(value))))
      default: log.append(1)
      }
      if kind < 3 { log.pass(1) }
    }

    func subscribe(_ client: Connection, _ random: inout SeededRandom) {
      lastHandle += 1
      let handle = Handle.number(lastHandle)
      let interval: UInt64 = Int.random(in: 0..<4, using: &random) == 0 ? 100 : 0
      let subscription: Subscription
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let source = StateSource(
          key: "a", isJournaled: true, value: { [self] in values["a"].map { JSONText($0) } },
          changes: state.toSignal())
        subscription = StateSubscription(
          handle, to: source, on: client, everyMilliseconds: interval)
      case 1:
        let source = PatternSource(key: "b/*", changes: pattern.toSignal())
        subscription = PatternSubscription(
          handle, to: source, on: client, everyMilliseconds: interval)
      case 2:
        let source = CollectionSource(
          name: "lists/a", elements: { .list([]) }, steps: steps.toSignal())
        let list = CollectionSubscription(
          handle, to: source, at: seq, on: client, everyMilliseconds: interval)
        var answer = ByteBuffer()
        answer.object { list.writeValue(&$0) }
        subscription = list
      default: subscription = LogSubscription(handle, to: log.source, after: nil, on: client)
      }
      subscription.terms = JSONText(members: [:])
      client.add(subscription)
      if Bool.random(using: &random) { subscription.markDirty() }
    }
  }

  /// If the daemon is killed at the end of a turn, the next one must not believe that something was
  /// sent that waits.
  @Test(arguments: 1...40)
  func `15: at the end of each turn, what was not sent is kept as not sent`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let bench = try KeptBench()
    bench.transport.isOrderChecked = false
    let sources = RandomSources()
    for turn in 1...200 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0 where bench.connection.subscriptions.count < 8:
        sources.subscribe(bench.connection, &random)
      case 1: bench.transport.room = 0
      case 2:
        bench.transport.room = .max
        bench.connection.becameWritable()
      case 3: bench.receive(request(turn))
      case 4: bench.bench.time.advance(UInt64(Int.random(in: 0..<200, using: &random)))
      default:
        for _ in 0...Int.random(in: 0..<2, using: &random) { sources.change(&random) }
        bench.bench.table.advance(to: sources.seq)
      }
      bench.bench.table.flush()
      let kept = try #require(try bench.kept)
      for subscription in bench.connection.subscriptions {
        guard let backlog = subscription.backlog else { continue }
        let cursor = kept.cursors.first { $0.handle == subscription.handle.text.text }
        let place = cursor?.position ?? kept.shown
        #expect(place <= backlog.after, "turn \(turn): \(type(of: subscription)) \(backlog)")
      }
    }
  }

  // MARK: The end

  @Test
  func `what becomes durable after the clients were left was not sent`() throws {
    let bench = try KeptBench()
    bench.bench.table.advance(to: 3)
    bench.bench.table.flush()
    let memory = try bench.memory
    bench.bench.table.leaveAll()
    bench.bench.table.advance(to: 4)
    bench.bench.table.flush()
    #expect(memory.connection(bench.connection.id)?.shown == 3)
    #expect(try bench.kept?.shown == 3)
    #expect(bench.transport.lines().count { $0.contains(#""method":"stopping""#) } == 1)
  }
}
