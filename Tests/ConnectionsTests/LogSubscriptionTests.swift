import Connections
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct LogSubscriptionTests {
  let bench = Bench()

  @discardableResult
  private func add(
    _ log: NumberedLog, where isWanted: ((LogEntry) -> Bool)? = nil, after position: UInt64?,
    passesGaps: Bool = false, maxUnacknowledged: Int? = nil
  ) -> LogSubscription {
    let subscription = LogSubscription(
      .name("s"), to: log.source, where: isWanted, after: position, on: bench.connection,
      passesGaps: passesGaps, maxUnacknowledged: maxUnacknowledged)
    bench.connection.add(subscription)
    return subscription
  }

  private func next(_ seqs: some Sequence<Int>) -> [String] {
    seqs.map { #"{"jsonrpc":"2.0","method":"next","params":{"sub":"s","seq":\#($0)}}"# }
  }

  private func note(_ method: String, _ seq: Int, _ rest: String = "") -> String {
    #"{"jsonrpc":"2.0","method":"\#(method)","params":{"sub":"s","seq":\#(seq)\#(rest)}}"#
  }

  @Test
  func `every entry arrives once, in order`() {
    let log = NumberedLog()
    log.append(5)
    add(log, after: nil)
    log.append(2)
    #expect(bench.lines() == next(6...7))
    log.append(1)
    log.append(1)
    #expect(bench.lines() == next(8...9))
  }

  @Test
  func `unwanted live entries are skipped`() {
    let log = NumberedLog()
    add(log, where: { $0.seq % 3 == 0 }, after: nil)
    log.append(10)
    #expect(bench.lines() == next([3, 6, 9]))
    log.append(1)
    #expect(bench.lines().isEmpty)
    log.append(4)
    bench.table.advance(to: log.last)
    #expect(bench.lines() == next([12, 15]))
  }

  @Test
  func `filtering uses the time of the client, and not that of others`() {
    let log = NumberedLog()
    var asked = 0
    let wants = { [time = bench.time] (entry: LogEntry) -> Bool in
      asked += 1
      time.work(nanoseconds: 1_000_000)
      return entry.seq == 9
    }
    add(log, where: wants, after: nil)
    log.append(10)
    #expect(bench.table.flush())
    #expect(asked <= 3)
    bench.receive(request(1))
    #expect(bench.transport.lines() == [result(1)])
    var lines: [String] = []
    while bench.table.flush() { lines += bench.transport.lines() }
    #expect(lines + bench.transport.lines() == next([9]))
    #expect(asked <= 11)
  }

  /// Entries that wait until a client collects them.
  private final class WaitingEntries: LogFeed {
    var onNews: (() -> Void)?
    private var entries: [LogEntry] = []

    var hasNews: Bool { !entries.isEmpty }

    func append(_ seq: UInt64) {
      entries.append(LogEntry(seq: seq, tail: "\"seq\":\(seq)}}\n"))
      if entries.count == 1 { onNews?() }
    }

    func collect(until isOver: () -> Bool, _ receive: (LogEntry) -> Void) -> UInt64? {
      for entry in entries { receive(entry) }
      entries = []
      return nil
    }

    func end() {}
  }

  @Test
  func `a subscription gets entries although another client does not collect earlier ones`() {
    let (log, feed) = (NumberedLog(), WaitingEntries())
    var source = log.source
    source.makeFeed = { feed }
    let deaf = FakeTransport()
    deaf.isOrderChecked = false
    deaf.room = 0
    let other = bench.table.connect(Peer(uid: 2, pid: 4, groups: []))
    other.handler = bench.connection.handler
    other.start(deaf)
    other.receive(Array(request(1).utf8).span)
    other.add(LogSubscription(.number(1), to: source, after: nil, on: other))
    func append() {
      log.pass(1)
      feed.append(log.last)
    }
    append()
    #expect(bench.lines().isEmpty)
    bench.connection.add(LogSubscription(.name("s"), to: source, after: nil, on: bench.connection))
    #expect(bench.lines().isEmpty)
    append()
    #expect(bench.lines() == next([2]))
    deaf.room = .max
    other.becameWritable()
    _ = bench.lines()
    #expect(deaf.lines().filter { $0.contains("next") }.count == 2)
  }

  @Test
  func `many logs keep no more in memory than a few logs`() {
    let filler = String(repeating: "x", count: 1 << 20)
    let logs = (0..<40).map { NumberedLog("log \($0)") }
    for log in logs {
      let connection = bench.table.connect(Peer(uid: 1, pid: 3, groups: [2]))
      let transport = FakeTransport()
      transport.room = 0
      connection.start(transport)
      connection.add(
        LogSubscription(.name("s"), to: log.source, after: nil, on: connection))
      log.append(4, filler: filler)
      bench.table.flush()
    }
    #expect(bench.table.context.broadcasts.windowTotal <= 64 << 20)
    #expect(bench.table.context.broadcasts.windowTotal > 16 << 20)
    for log in logs { log.read() }
  }

  @Test
  func `a client that starts in the past catches up and gets caught_up`() {
    let log = NumberedLog()
    log.append(250)
    add(log, after: 30)
    #expect(bench.lines().isEmpty)
    log.append(1)
    log.read()
    #expect(bench.lines() == next(31...130))
    log.append(1)
    log.read()
    #expect(bench.lines() == next(131...230))
    log.read()
    #expect(bench.lines() == next(231...252) + [note("caught_up", 252)])
    log.append(1)
    #expect(bench.lines() == next(253...253))
    #expect(log.readCount == 3)
  }

  @Test
  func `an up-to-date client gets caught_up immediately`() {
    let log = NumberedLog()
    log.append(7)
    add(log, after: 7)
    #expect(bench.lines() == [note("caught_up", 7)])
  }

  @Test
  func
    `a client that falls behind the memory window is notified, reads the journal and misses nothing`()
  {
    let log = NumberedLog()
    add(log, after: nil)
    let filler = #","x":""# + String(repeating: "x", count: 10_000) + #"""#
    log.append(1, filler: filler)
    #expect(bench.lines().count == 1)
    bench.transport.room = 0
    for _ in 0..<1000 {
      log.append(1, filler: filler)
      bench.table.flush()
    }
    #expect(bench.connection.outputBytes < 500_000)
    bench.transport.room = .max
    bench.connection.becameWritable()
    var lines = bench.lines()
    for _ in 0..<20 {
      log.read()
      lines += bench.lines()
    }
    let seqs = lines.filter { $0.contains(#""next""#) }.compactMap(seq)
    let notes = lines.filter { !$0.contains(#""next""#) }
    #expect(seqs.elementsEqual(2...1001))
    #expect(notes.count == 2)
    #expect(notes[0].contains("behind") && notes[0].contains(#""last":1001"#))
    #expect(notes[1] == note("caught_up", 1001))
  }

  /// Returns the position in a line.
  private func seq(_ line: String) -> Int64? {
    guard case .object(let frame)? = try? JSONValue(parsing: line),
      case .object(let params)? = frame["params"], case .number(let seq)? = params["seq"]
    else { return nil }
    return seq.int64
  }

  @Test
  func `memory is released while no client is behind`() {
    let log = NumberedLog()
    add(log, after: nil)
    let filler = #","x":""# + String(repeating: "x", count: 1_000) + #"""#
    for _ in 0..<20_000 {
      log.append(1, filler: filler)
      #expect(bench.lines().count == 1)
    }
    #expect(log.readCount == 0)
  }

  /// Returns a log with entries, a subscription from its start, and reads that fail.
  private func failingLog(_ error: WireError) -> NumberedLog {
    let log = NumberedLog()
    log.append(5)
    add(log, after: 0)
    log.error = error
    return log
  }

  @Test
  func `a failed read of the log ends the subscription with the reason`() {
    let log = failingLog(WireError(.internalError, "damaged", ["ref": .string("journal")]))
    bench.table.flush()
    log.read()
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(lines[0].contains(#""method":"fail""#) && lines[0].contains("damaged"))
    #expect(bench.connection.subscriptions.isEmpty)
  }

  @Test
  func `a subscription goes on when the database of the journal is back`() {
    let log = failingLog(WireError(.readOnly, "away", ["reason": .string("database")]))
    for _ in 1...3 {
      bench.table.flush()
      log.read()
      #expect(bench.lines().isEmpty)
      bench.time.advance(1_000)
    }
    log.error = nil
    log.read()
    #expect(Array(bench.lines().prefix(5)) == next(1...5))
    #expect(log.readCount == 4)
  }

  @Test
  func `a client that leaves before the log is read again is released`() {
    let log = failingLog(WireError(.readOnly, "away", ["reason": .string("database")]))
    bench.table.flush()
    log.read()
    bench.connection.end()
    bench.time.advance(1_000)
    log.read()
    #expect(log.readCount == 1)
  }

  @Test
  func `a client that leaves during a read is released`() {
    let log = NumberedLog()
    log.append(5)
    add(log, after: 0)
    bench.table.flush()
    bench.connection.end()
    log.read()
    #expect(bench.lines().isEmpty)
    #expect(!log.live.hasObservers)
  }

  @Test
  func `an entry that is read before its live notification arrives once`() {
    let log = NumberedLog()
    log.append(2)
    add(log, after: 0)
    bench.table.flush()
    let tell = log.appendUntold(3)
    log.read()
    #expect(bench.lines() == next(1...5) + [note("caught_up", 5)])
    tell()
    #expect(bench.lines().isEmpty)
    log.append(1)
    #expect(bench.lines() == next(6...6))
  }

  // MARK: Marks

  @Test
  func `a client without matching entries gets its position after ten seconds`() {
    let log = NumberedLog()
    add(log, after: nil)
    func goOn(_ count: UInt64) {
      log.pass(count)
      bench.table.advance(to: log.last)
    }
    goOn(1)
    #expect(bench.lines().isEmpty)
    bench.time.advance(9_000)
    goOn(5_000)
    #expect(bench.lines().isEmpty)
    bench.time.advance(1_000)
    #expect(bench.lines() == [note("mark", 5001)])
    bench.time.advance(100_000)
    #expect(bench.lines().isEmpty)
    goOn(1)
    bench.connection.end()
    #expect(bench.time.count == 0)
  }

  @Test
  func `a client that gets entries gets no position marks`() {
    let log = NumberedLog()
    add(log, after: nil)
    log.pass(7)
    log.append(3)
    bench.table.advance(to: log.last)
    #expect(bench.lines() == next(8...10))
    bench.time.advance(10_000)
    #expect(bench.lines().isEmpty)
  }

  @Test
  func `a client that reads the past gets its position where no entries match`() {
    let log = NumberedLog()
    log.append(1)
    log.pass(10_000)
    add(log, after: 0)
    bench.table.flush()
    var lines: [String] = []
    for _ in 0..<3 {
      log.read()
      lines += bench.lines()
    }
    #expect(
      lines == next(1...1) + [note("mark", 4096), note("mark", 8192), note("caught_up", 10_001)])
  }

  // MARK: Gaps

  @Test
  func `a subscription from an expired position fails`() {
    let log = NumberedLog()
    log.append(250)
    add(log, after: 0)
    bench.table.flush()
    log.read()
    #expect(bench.lines() == next(1...100))
    log.first = 201
    log.read()
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(lines[0].contains(#""method":"fail""#) && lines[0].contains("seq_expired"))
    #expect(bench.connection.subscriptions.isEmpty)
  }

  @Test
  func `a client that accepts gaps continues after expired entries, and is notified`() {
    let log = NumberedLog()
    log.append(250)
    log.first = 201
    add(log, after: 10, passesGaps: true)
    bench.table.flush()
    log.read()
    let missed = #","reason":"compacted","missed":{"from":11,"to":200}"#
    #expect(bench.lines() == [note("lagged", 200, missed)])
    log.read()
    #expect(bench.lines() == next(201...250) + [note("caught_up", 250)])
  }

  @Test(arguments: [nil, 1])
  func `removed entries between others are reported at their place`(maxUnacknowledged: Int?) {
    let log = NumberedLog()
    log.append(6)
    log.remove(2...3)
    log.remove(5...5)
    let reader = add(log, after: 0, maxUnacknowledged: maxUnacknowledged)
    var lines: [String] = []
    for seq: UInt64 in 1...6 {
      bench.table.flush()
      log.read()
      lines += bench.lines().filter { !$0.contains("paused") }
      reader.acknowledge(upTo: seq)
    }
    let missed = [
      note("lagged", 3, #","reason":"compacted","missed":{"from":2,"to":3}"#),
      note("lagged", 5, #","reason":"compacted","missed":{"from":5,"to":5}"#),
    ]
    #expect(
      lines == next([1]) + [missed[0]] + next([4]) + [missed[1]] + next([6])
        + [note("caught_up", 6)])
  }

  @Test
  func `a log that wrongly reports an expired position ends the subscription`() {
    let log = NumberedLog()
    log.append(5)
    log.error = WireError(.seqExpired, "gone")
    add(log, after: 2, passesGaps: true)
    bench.table.flush()
    log.read()
    #expect(bench.lines().map { $0.contains(#""method":"fail""#) } == [true])
  }

  // MARK: Acknowledging

  private func paused(_ count: Int) -> String {
    #"{"jsonrpc":"2.0","method":"paused","params":{"sub":"s","reason":"unacked","unacked":\#(count)}}"#
  }

  @Test
  func `unacknowledged entries are limited, from the past and live, and all entries arrive`() {
    let log = NumberedLog()
    log.append(250)
    let reader = add(log, after: 0, maxUnacknowledged: 7)
    var (acknowledged, sent): (UInt64, [Int64]) = (0, [])
    for round in 0..<100 {
      bench.table.flush()
      log.read()
      let lines = bench.lines()
      sent += lines.filter { $0.contains(#""next""#) }.compactMap(seq)
      #expect(reader.unacknowledgedCount <= 7)
      #expect(sent.count <= Int(acknowledged) + 7)
      #expect(lines.count { $0 == paused(7) } <= 1)
      acknowledged = min(reader.lastTold, acknowledged + UInt64(round % 9))
      reader.acknowledge(upTo: acknowledged)
      if round % 10 == 0 { log.append(3) }
    }
    #expect(sent.elementsEqual(1...280))
  }

  @Test
  func `a paused reader keeps no more in memory than an active one`() {
    let log = NumberedLog()
    let reader = add(log, after: nil, maxUnacknowledged: 1)
    let filler = #","x":""# + String(repeating: "x", count: 10_000) + #"""#
    for _ in 0..<1000 {
      log.append(1, filler: filler)
      bench.table.flush()
    }
    log.read()
    #expect(bench.connection.outputBytes == 0)
    reader.acknowledge(upTo: 1)
    log.read()
    #expect(bench.lines().compactMap(seq).contains(2))
  }

  @Test
  func `a line holds at most as many entries as may be unacknowledged`() {
    bench.connection.takesItems = true
    let log = NumberedLog()
    log.append(9)
    let reader = add(log, after: 0, maxUnacknowledged: 4)
    bench.table.flush()
    log.read()
    #expect(bench.lines() == [items(1...4), paused(4)])
    reader.acknowledge(upTo: 3)
    #expect(bench.lines() == [items(5...7), paused(4)])
    reader.acknowledge(upTo: 7)
    #expect(bench.lines() == [items(8...9), note("caught_up", 9)])
  }

  @Test
  func `a closed reader gets the reason, and nothing after it`() {
    let log = NumberedLog()
    let reader = add(log, after: nil)
    var ends = 0
    reader.onEnd = { ends += 1 }
    log.append(1)
    reader.close("stolen")
    log.append(1)
    #expect(
      bench.lines()
        == [#"{"jsonrpc":"2.0","method":"closed","params":{"sub":"s","reason":"stolen"}}"#])
    #expect(bench.connection.subscriptions.isEmpty)
    #expect(ends == 1)
  }

  // MARK: Several entries in a line

  private func items(_ seqs: ClosedRange<Int>) -> String {
    let items = seqs.map { #"{"seq":\#($0)}"# }.joined(separator: ",")
    return note("next", seqs.upperBound, #","items":[\#(items)]"#)
  }

  @Test
  func `a client that accepts several entries in a line gets them, from memory and from the past`()
  {
    bench.connection.takesItems = true
    let log = NumberedLog()
    log.append(150)
    add(log, after: 20)
    bench.table.flush()
    log.read()
    #expect(bench.lines() == [items(21...120)])
    log.read()
    #expect(bench.lines() == [items(121...150), note("caught_up", 150)])
    log.append(1)
    #expect(bench.lines() == next(151...151))
    log.append(2)
    #expect(bench.lines() == [items(152...153)])
  }

  @Test
  func `a line of several entries stays within the line limit of the client`() {
    bench.connection.takesItems = true
    bench.connection.lineOut = 1024
    let log = NumberedLog()
    add(log, after: nil)
    for length in [1, 100, 300, 850, 900, 2, 3] {
      log.append(40, filler: #","x":""# + String(repeating: "x", count: length) + #"""#)
    }
    let lines = bench.lines()
    #expect(lines.allSatisfy { $0.utf8.count < 1024 })
    #expect(lines.count < 200)
    let seqs = lines.flatMap { line in
      line.split(separator: #""seq":"#).dropFirst(line.contains("items") ? 2 : 1)
        .compactMap { Int($0.prefix { $0.isNumber }) }
    }
    #expect(seqs.elementsEqual(1...280))
  }

  @Test
  func `a fast client gets a share of each turn, and other clients get theirs`() {
    let log = NumberedLog()
    let other = bench.table.connect(Peer(uid: 1, pid: 1, groups: [1]))
    let transport = FakeTransport()
    other.start(transport)
    add(log, after: 0)
    log.append(20_000, filler: #","x":""# + String(repeating: "x", count: 100) + #"""#)
    other.add(LogSubscription(.number(1), to: log.source, after: 19_999, on: other))
    #expect(bench.table.flush())
    var lines = bench.transport.lines()
    #expect(1...6_000 ~= lines.count)
    #expect(transport.lines().count == 2, "the last entry, and that it was")
    while bench.table.hasUnfinished {
      bench.table.flush()
      lines += bench.transport.lines()
    }
    #expect(lines.compactMap(seq).elementsEqual((1...20_000) + [20_000]))
    #expect(!bench.table.flush())
  }

  @Test
  func `clients with different handles share the memory window`() {
    let log = NumberedLog()
    let other = bench.table.connect(Peer(uid: 1, pid: 1, groups: [1]))
    let transport = FakeTransport()
    other.start(transport)
    add(log, after: nil)
    other.add(LogSubscription(.number(1), to: log.source, after: nil, on: other))
    #expect(log.listenerCount == 1)
    log.append(2)
    #expect(bench.lines() == next(1...2))
    #expect(
      transport.lines() == next(1...2).map { $0.replacing("\"sub\":\"s\"", with: "\"sub\":1") })
    #expect(transport.sends == 1)
  }
}
