import Connections
import JSON
import Signals
import Testing
import Wire

struct LogSubscriptionTests {
  let bench = Bench()

  /// A log of numbered entries, of which a test appends and answers the readings.
  final class Log {
    let live = PassthroughSubject<LogBatch, Never>()
    private(set) var entries: [LogEntry] = []
    private var readings: [() -> Void] = []
    private(set) var readCount = 0
    private(set) var listenerCount = 0
    var error: WireError?

    func append(_ count: Int, filler: String = "") {
      let batch = (0..<count).map { i in
        let seq = UInt64(entries.count + i + 1)
        return LogEntry(seq: seq, tail: "\"seq\":\(seq)\(filler)}}\n")
      }
      entries += batch
      live.send(LogBatch(entries: batch, end: UInt64(entries.count)))
    }

    var source: LogSource {
      LogSource(
        key: "log",
        live: Signal { [self] observer in
          listenerCount += 1
          return live.observe(with: observer.on)
        }, position: { [self] in UInt64(entries.count) },
        read: { [self] seq in
          Signal { [self] observer in
            readings.append { [self] in
              if let error { return observer.fail(error) }
              let page = Array(entries.dropFirst(Int(seq)).prefix(100))
              observer.receive(LogBatch(entries: page, end: page.last?.seq ?? seq))
              observer.complete()
            }
            return NonDisposable.instance
          }
        })
    }

    /// Answers what was asked to be read.
    func read() {
      let readings = readings
      self.readings = []
      readCount += readings.count
      for reading in readings { reading() }
    }
  }

  private func add(_ log: Log, after position: UInt64?) {
    bench.connection.add(
      LogSubscription(.name("s"), to: log.source, after: position, on: bench.connection))
  }

  private func next(_ seqs: some Sequence<Int>) -> [String] {
    seqs.map { #"{"jsonrpc":"2.0","method":"next","params":{"sub":"s","seq":\#($0)}}"# }
  }

  private func note(_ method: String, _ seq: Int, _ rest: String = "") -> String {
    #"{"jsonrpc":"2.0","method":"\#(method)","params":{"sub":"s","seq":\#(seq)\#(rest)}}"#
  }

  @Test
  func `every entry comes once, in order`() {
    let log = Log()
    log.append(5)
    add(log, after: nil)
    log.append(2)
    #expect(bench.lines() == next(6...7))
    log.append(1)
    log.append(1)
    #expect(bench.lines() == next(8...9))
  }

  @Test
  func `a client from the past reads on until it has caught up, and is told so`() {
    let log = Log()
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
  func `a client that is up to date is told so at once`() {
    let log = Log()
    log.append(7)
    add(log, after: 7)
    #expect(bench.lines() == [note("caught_up", 7)])
  }

  @Test
  func `a client that falls behind what is in memory is told, reads, and loses nothing`() {
    let log = Log()
    add(log, after: nil)
    let filler = #","x":""# + String(repeating: "x", count: 10_000) + #"""#
    log.append(1, filler: filler)
    #expect(bench.lines().count == 1)
    bench.transport.room = 0
    for _ in 0..<1000 {
      log.append(1, filler: filler)
      bench.hub.flush()
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

  /// The position in a line.
  private func seq(_ line: String) -> Int64? {
    guard case .object(let frame)? = try? JSONValue(parsing: line),
      case .object(let params)? = frame["params"], case .number(let seq)? = params["seq"]
    else { return nil }
    return seq.int64
  }

  @Test
  func `memory is let go while nobody is behind`() {
    let log = Log()
    add(log, after: nil)
    let filler = #","x":""# + String(repeating: "x", count: 1_000) + #"""#
    for _ in 0..<20_000 {
      log.append(1, filler: filler)
      #expect(bench.lines().count == 1)
    }
    #expect(log.readCount == 0)
  }

  @Test
  func `a log that cannot be read ends the subscription with the reason`() {
    let log = Log()
    log.append(5)
    add(log, after: 0)
    log.error = WireError(.internalError, "damaged", ["ref": .string("journal")])
    bench.hub.flush()
    log.read()
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(lines[0].contains(#""method":"fail""#) && lines[0].contains("damaged"))
    #expect(bench.connection.subscriptions.isEmpty)
  }

  @Test
  func `a client that leaves while it is read for is let go`() {
    let log = Log()
    log.append(5)
    add(log, after: 0)
    bench.hub.flush()
    bench.connection.end()
    log.read()
    #expect(bench.lines().isEmpty)
    #expect(!log.live.hasObservers)
  }

  @Test
  func `clients with handles of their own share what is in memory`() {
    let log = Log()
    let other = bench.hub.connect(PeerIdentity(uid: 1, gid: 1, pid: 1))
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
