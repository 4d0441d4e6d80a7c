@testable import Connections
import EventLoop
import Glibc
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

/// Small outputs of several clients that a turn sends together.
@Suite(.leavesNothing)
struct GatheredOutputTests {
  /// A client on a real socket, and the other end of it.
  private final class Watcher: Transport, StreamSocketDelegate {
    let connection: Connection
    let socket: StreamSocket
    private let peer: CInt
    private var bytes: [UInt8] = []

    /// Whether the other end has seen the end.
    private(set) var isAtEnd = false

    /// Called before an output is gathered.
    var onAdd: () -> Void = {}

    init(_ connection: Connection, on loop: Loop) throws {
      var ends: [CInt] = [0, 0]
      let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
      try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
      self.connection = connection
      (socket, peer) = (try StreamSocket(adopting: ends[0], on: loop), ends[1])
      socket.delegate = self
      connection.start(self)
    }

    func vanish() { shutdown(peer, CInt(SHUT_RDWR)) }

    /// Returns the whole lines that have arrived since the last call.
    func lines() -> [String] {
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      while !isAtEnd {
        let count = recv(peer, &chunk, chunk.count, CInt(MSG_DONTWAIT))
        if count == 0 { isAtEnd = true }
        guard count > 0 else { break }
        bytes += chunk[..<count]
      }
      var lines = String(decoding: bytes, as: UTF8.self).split(
        separator: "\n", omittingEmptySubsequences: false
      ).map(String.init)
      bytes = Array((lines.popLast() ?? "").utf8)
      return lines
    }

    deinit { Glibc.close(peer) }

    // MARK: The socket

    func send(_ bytes: Span<UInt8>) -> Int? { socket.send(bytes) }
    func add(_ bytes: Span<UInt8>, to batch: SendBatch) -> Bool {
      onAdd()
      batch.add(bytes, to: socket)
      return true
    }
    func setReading(_ isReading: Bool) { socket.setReading(isReading) }
    func close() { socket.close() }
    func socket(received bytes: Span<UInt8>) { connection.receive(bytes) }
    func socketReachedEnd() { connection.receiveEnd() }
    func socketBecameWritable() { connection.becameWritable() }
    func socketClosed(_ error: SystemError?) { connection.endSoon() }
  }

  /// A table whose clients all watch one source.
  private final class Bench {
    let loop: Loop
    let time = ManualTime()
    let table: ConnectionTable
    private(set) var watchers: [Watcher] = []
    private let changes = PassthroughSubject<SourceChange, Never>()
    private var seq: UInt64 = 0

    init(_ count: Int, isTogether: Bool, _ prepare: (ConnectionTable) throws -> Void = { _ in })
      throws
    {
      let time = time
      loop = try Loop()
      table = ConnectionTable(
        limits: Limits(), now: { time.milliseconds }, clock: { time.nanoseconds }, scheduler: time)
      if isTogether { table.context.sendTogether(with: SendBatch()) }
      try prepare(table)
      let source = StateSource(
        key: "a", isJournaled: true, value: { nil }, changes: changes.toSignal())
      for i in 0..<count {
        let connection = table.connect(Peer(uid: 1, pid: 3, groups: [2]))
        watchers.append(try Watcher(connection, on: loop))
        let subscription = StateSubscription(.number(i), to: source, on: connection)
        subscription.terms = JSONText(trusted: "{}")
        connection.add(subscription)
      }
      time.advance(1_000)
      table.flush()
    }

    /// Changes the source and ends the turn.
    func change(to text: String) {
      seq += 1
      changes.send(SourceChange(source: "a", seq: seq, value: JSONText(trusted: text)))
      table.advance(to: seq)
      table.flush()
    }

    func frame(_ i: Int, _ seq: Int, _ value: String) -> String {
      #"{"jsonrpc":"2.0","method":"next","params":{"sub":\#(i),"seq":\#(seq),"value":\#(value)}}"#
    }

    func finish() {
      table.closeAll(.shutdown)
      table.flush()
      loop.run()
    }
  }

  @Test(arguments: [true, false], [1, 3, 4, 100])
  func `each client gets each line once, in order`(isTogether: Bool, count: Int) throws {
    let bench = try Bench(count, isTogether: isTogether)
    for value in 1...3 { bench.change(to: "\(value)") }
    for (i, watcher) in bench.watchers.enumerated() {
      #expect(watcher.lines() == (1...3).map { bench.frame(i, $0, "\($0)") })
    }
    let sent = (0..<count).flatMap { i in (1...3).map { bench.frame(i, $0, "\($0)") } }
    #expect(bench.table.context.traffic.sentBytes == UInt64(sent.map { $0.utf8.count + 1 }.sum))
    bench.finish()
  }

  @Test(arguments: [true, false])
  func `a client whose socket is full gets whole lines and the last value`(isTogether: Bool) throws
  {
    let bench = try Bench(6, isTogether: isTogether)
    let full = bench.watchers[3]
    full.socket.limitKernelOutput(to: 1_000)
    let text = String(repeating: "x", count: 3_000)
    let value = { (count: Int) in "\"\(text) \(count)\"" }
    var count = 0
    while full.connection.outputBytes == 0, count < 1_000 {
      count += 1
      bench.change(to: value(count))
    }
    #expect(count < 1_000, "the socket is never full")
    let blocked = count
    for _ in 0..<3 {
      count += 1
      bench.change(to: value(count))
    }
    for (i, watcher) in bench.watchers.enumerated() where i != 3 {
      #expect(watcher.lines() == (1...count).map { bench.frame(i, $0, value($0)) })
    }
    var lines: [String] = []
    let last = #""seq":\#(count),"#
    while true {
      lines += full.lines()
      if lines.last?.contains(last) == true { break }
      bench.loop.runOnce()
      bench.table.flush()
    }
    // Of the values while it was full it gets the last one.
    #expect(lines.dropLast() == (1...blocked).map { bench.frame(3, $0, value($0)) }[...])
    #expect(lines.last?.hasSuffix(#""skipped":2}}"#) == true)
    bench.change(to: "0")
    #expect(full.lines() == [bench.frame(3, count + 1, "0")])
    bench.finish()
  }

  @Test(arguments: [true, false])
  func `a client that has vanished ends, and the others get their lines`(isTogether: Bool) throws {
    let bench = try Bench(5, isTogether: isTogether)
    bench.watchers[1].vanish()
    bench.change(to: "1")
    bench.change(to: "2")
    #expect(bench.watchers.map(\.connection.isEnded) == [false, true, false, false, false])
    #expect(bench.watchers[4].lines() == [bench.frame(4, 1, "1"), bench.frame(4, 2, "2")])
    bench.finish()
  }

  @Test(.enabled(if: SendBatch().usesRing))
  func `a client that another one ends gets its lines and the reason`() throws {
    let bench = try Bench(5, isTogether: true)
    let ended = bench.watchers[0]
    bench.watchers[2].onAdd = { [unowned ended] in ended.connection.close(.kicked) }
    bench.change(to: "1")
    let lines = ended.lines()
    #expect(lines.first == bench.frame(0, 1, "1"))
    #expect(lines.count == 2 && lines[1].contains(#""reason":"kicked""#))
    #expect(ended.isAtEnd)
    for i in 1..<5 { #expect(bench.watchers[i].lines() == [bench.frame(i, 1, "1")]) }
    bench.watchers[2].onAdd = {}
    bench.change(to: "2")
    #expect(bench.watchers[4].lines() == [bench.frame(4, 2, "2")])
    bench.finish()
  }

  @Test(.enabled(if: SendBatch().usesRing))
  func `15: before gathered output is sent, its clients are kept as they were`() throws {
    var handover: Handover?
    let time = ManualTime()
    let bench = try Bench(5, isTogether: true) { table in
      handover = try Handover(slots: 8, generation: 1, epoch: "e", scheduler: time)
      table.context.handover = handover
    }
    time.advance(1_000)
    let memory = try #require(handover).shared.descriptor
    /// Reads what the next daemon would know of a client.
    func kept(_ watcher: Watcher) throws -> HandoverConnection? {
      try HandoverConnections(in: SharedMemory(adopting: dup(memory)))
        .connection(watcher.connection.id)
    }
    bench.change(to: "1")
    #expect(try kept(bench.watchers[0])?.shown == 1)
    var positions: [UInt64?] = []
    var ends: [HandoverConnection.End?] = []
    bench.watchers[3].onAdd = { [unowned bench] in
      for watcher in bench.watchers {
        let client = try? kept(watcher)
        positions.append(client?.shown)
        ends.append(client?.end)
      }
    }
    bench.change(to: "2")
    bench.watchers[3].onAdd = {}
    #expect(positions == [1, 1, 1, 1, 1])
    // The next daemon closes the one that is being served.
    #expect(ends == [.goesOn, .goesOn, .goesOn, .closes, .goesOn])
    for watcher in bench.watchers {
      #expect(try kept(watcher)?.shown == 2)
      #expect(try kept(watcher)?.end == .goesOn)
    }
    let client = bench.watchers[2]
    client.connection.beginGatheredSending()
    #expect(try kept(client)?.end == .cut)
    client.connection.endGatheredSending()
    #expect(try kept(client)?.end == .goesOn)
    bench.finish()
  }
}

extension [Int] {
  fileprivate var sum: Int { reduce(0, +) }
}
