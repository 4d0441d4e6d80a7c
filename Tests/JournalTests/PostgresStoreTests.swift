import EventLoop
import Glibc
import Journal
import Model
@testable import JournalPostgres
import Signals
import TestSupport
import Testing

/// The rules by which a journal in PostgreSQL loses nothing, with one daemon.
@Suite(.needsPostgres)
struct PostgresStoreTests {
  /// A daemon on a journal.
  private struct Bench {
    let cluster: PostgresCluster
    let daemon: PostgresTrial

    /// - Parameter isAlone: Whether the test changes settings of the server.
    init(isAlone: Bool = false, answer: UInt64 = 2_000, report: UInt64 = 10_000) throws {
      cluster = try PostgresCluster(isAlone ? PostgresServer() : nil)
      daemon = try cluster.add("a", answer: answer, report: report)
      try cluster.run { [daemon] in daemon.store.isActive }
    }

    /// Appends events, each a unit of its own, and sends them.
    func append(_ count: Int) throws {
      for i in 0..<count { _ = try daemon.store.append([draft("s", "\(i)")]) }
      daemon.store.submit()
    }

    func settle() throws { try cluster.run { daemon.store.durable == daemon.store.last } }

    var positions: String {
      get throws {
        try cluster.sql("SELECT string_agg(seq::text, ' ' ORDER BY seq) FROM binder.event")
      }
    }

    /// Waits until the append waits for a standby.
    func awaitStandby() throws {
      let waiting = """
        SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%append%'
        """
      try cluster.run { (try? cluster.sql(waiting)) == "1\n" }
    }
  }

  @Test
  func `after lost connections all events are there once, with their positions`() throws {
    let bench = try Bench()
    for _ in 0..<20 {
      try bench.append(5)
      bench.daemon.loop.skipWait()
      bench.daemon.loop.runOnce()
      try bench.cluster.endSessions()
      try bench.append(3)
      try bench.settle()
    }
    #expect(bench.daemon.applied.map(\.seq) == Array(1...160))
    #expect(try bench.cluster.sql("SELECT count(*), max(seq) FROM binder.event") == "160|160\n")
    #expect(bench.daemon.store.isActive)
    #expect(bench.daemon.rejections.isEmpty)
  }

  @Test
  func `many events are committed in batches that fit a turn`() throws {
    let bench = try Bench()
    var sizes: [Int] = []
    bench.daemon.onCommitted = { sizes.append($0.count) }
    try bench.append(2_000)
    try bench.settle()
    #expect(sizes.reduce(0, +) == 2_000)
    #expect(sizes.allSatisfy { $0 <= 512 })
  }

  @Test
  func `an event is not acknowledged before a standby has it`() throws {
    let bench = try Bench(isAlone: true)
    try bench.append(1)
    try bench.settle()
    try bench.cluster.waitForStandby("nobody")
    try bench.append(2)
    // The append has no answer for 2 s, and the next connection cannot commit either.
    try bench.cluster.run { bench.daemon.store.isInterrupted }
    try bench.cluster.run(milliseconds: 1_000)
    #expect(bench.daemon.applied.map(\.seq) == [1])
    #expect(bench.daemon.store.isInterrupted)
    #expect(bench.daemon.store.refusal == nil)
    try bench.cluster.waitForStandby(nil)
    try bench.settle()
    #expect(bench.daemon.applied.map(\.seq) == [1, 2, 3])
    #expect(try bench.positions == "1 2 3\n")
  }

  @Test
  func `a cancelled wait for a standby is not an acknowledgement`() throws {
    let bench = try Bench(isAlone: true)
    try bench.cluster.waitForStandby("nobody")
    try bench.append(1)
    try bench.awaitStandby()
    try bench.cluster.sql(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    try bench.cluster.run(milliseconds: 1_000)
    // The server shows the event, but no standby has it.
    #expect(try bench.positions == "1\n")
    #expect(bench.daemon.applied.isEmpty)
    try bench.cluster.waitForStandby(nil)
    try bench.settle()
    #expect(bench.daemon.applied.map(\.seq) == [1])
    #expect(try bench.positions == "1\n")
  }

  @Test
  func `while a standby hangs, the server does not fill with sessions that wait for locks`() throws
  {
    let bench = try Bench(isAlone: true, answer: 60)
    try bench.cluster.waitForStandby("nobody")
    try bench.append(1)
    try bench.cluster.run(milliseconds: 3_000)
    let waiting = try bench.cluster.sql(
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    #expect(try #require(Int(waiting.dropLast())) <= 3)
    try bench.cluster.waitForStandby(nil)
    try bench.settle()
    #expect(bench.daemon.applied.map(\.seq) == [1])
  }

  @Test
  func `an error of the server that lasts rejects the events and keeps the connection`() throws {
    let bench = try Bench()
    try bench.cluster.before(
      "INSERT ON binder.event", "RAISE EXCEPTION 'damaged' USING ERRCODE = 'XX001';")
    let process = try bench.cluster.process(of: "a")
    try bench.append(1)
    try bench.cluster.run { !bench.daemon.rejections.isEmpty }
    #expect(bench.daemon.rejections == [.readOnly(reason: "SQL XX001", outcome: .none)])
    try bench.cluster.sql("DROP TRIGGER trial ON binder.event")
    try bench.append(1)
    try bench.settle()
    #expect(bench.daemon.store.role == .active(term: 1))
    #expect(try bench.cluster.process(of: "a") == process)
  }

  @Test
  func `an error of the server that passes repeats the append on the same connection`() throws {
    let bench = try Bench()
    try bench.cluster.before(
      "INSERT ON binder.event",
      "IF nextval('tries') < 3 THEN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END IF;")
    let process = try bench.cluster.process(of: "a")
    try bench.append(1)
    try bench.settle()
    #expect(bench.daemon.applied.map(\.seq) == [1])
    #expect(bench.daemon.rejections.isEmpty)
    #expect(try bench.cluster.sql("SELECT last_value FROM tries") == "3\n")
    #expect(try bench.cluster.process(of: "a") == process)
  }

  @Test
  func `a server that takes no more writes is left until one takes them`() throws {
    let bench = try Bench()
    let name = bench.cluster.database
    try bench.cluster.before(
      "INSERT ON binder.event",
      "IF nextval('tries') < 2 THEN RAISE EXCEPTION 'read only' USING ERRCODE = '25006'; END IF;")
    // New sessions find what a demoted server shows.
    try bench.cluster.server.sql("ALTER DATABASE \(name) SET default_transaction_read_only = on")
    try bench.append(1)
    try bench.cluster.run {
      bench.daemon.store.interruption?.contains("it takes no writes") == true
    }
    #expect(bench.daemon.store.refusal == nil)
    try bench.cluster.server.sql("ALTER DATABASE \(name) RESET default_transaction_read_only")
    try bench.settle()
    #expect(bench.daemon.applied.map(\.seq) == [1])
    #expect(bench.daemon.rejections.isEmpty)
    #expect(try bench.cluster.sql("SELECT last_value FROM tries") == "2\n")
  }

  @Test
  func `a warning about something else than replication changes nothing`() throws {
    let bench = try Bench()
    try bench.cluster.before("INSERT ON binder.event", "RAISE WARNING 'vacuum me';")
    let process = try bench.cluster.process(of: "a")
    try bench.append(1)
    try bench.settle()
    #expect(bench.daemon.applied.map(\.seq) == [1])
    #expect(try bench.cluster.process(of: "a") == process)
  }

  @Test
  func `attempts that cannot succeed come ever more seldom, and their reason is reported`() throws {
    let bench = try Bench(report: 100)
    var reasons: [String?] = []
    bench.daemon.store.onInterruption = { reasons.append($0) }
    let name = bench.cluster.database
    try bench.cluster.server.sql("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
    try bench.cluster.server.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
    try bench.cluster.server.sql("ALTER DATABASE \(name) RENAME TO \(name)_away")
    var pause = bench.daemon.store.connection.connectPause
    try bench.cluster.run {
      pause = bench.daemon.store.connection.connectPause
      return pause.next() >= 400 && reasons.count >= 2
    }
    try #require(reasons.count == 2)
    #expect("\(reasons.last as Any)".contains("does not exist"))
    #expect(bench.daemon.store.interruption == reasons[1])
    try bench.cluster.server.sql("ALTER DATABASE \(name)_away RENAME TO \(name)")
    try bench.cluster.server.sql("ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
    try bench.cluster.run { !bench.daemon.store.isInterrupted }
    pause = bench.daemon.store.connection.connectPause
    #expect(pause.next() == 100)
    #expect(reasons.last == .some(nil))
  }

  @Test
  func `a server that waits for no standby is not used, if replication is required`() throws {
    let bench = try Bench(isAlone: true)
    #expect(throws: JournalError.self) {
      try PostgresTrial(bench.cluster.string, node: "b", requiresReplication: true)
    }
    try bench.cluster.waitForStandby("nobody")
    let other = try PostgresTrial(bench.cluster.string, node: "b", requiresReplication: true)
    #expect(other.store.epoch == bench.daemon.store.epoch)
  }

  @Test
  func `31: a journal of a daemon with another name is refused, and copies keep its name`() throws {
    let server = try #require(PostgresServer.shared)
    let string = try server.makeDatabase()
    let journal = PostgresJournal(try ConnectionString(string), requiresReplication: false)
    try journal.create(for: "choresd")
    let error = #expect(throws: JournalError.self) { try PostgresTrial(string) }
    #expect("\(error as Any)".contains("is the journal of choresd, not of binderd; start choresd"))
    #expect(try PostgresTrial(string, of: "choresd").store.last == 0)
    let source = try PostgresSource(journal)
    let builder = try PostgresBuilder(journal, isForced: true)
    try source.read { _ in
    } _: { part throws(JournalError) in
      try builder.add(part)
    }
    _ = try builder.finish()
    #expect(try PostgresSource(journal).daemon == "choresd")
    #expect(try PostgresFigures(of: journal).daemon == "choresd")
  }

  @Test
  func `a journal that went back ends the daemon, and gets a new epoch`() throws {
    let bench = try Bench()
    try bench.append(3)
    try bench.settle()
    // A failover that has lost the last event, and a new one at its position.
    try bench.cluster.sql(
      """
      UPDATE binder.event SET data = '"another"', crc = crc + 1 WHERE seq = 3
      """)
    try bench.cluster.endSessions()
    try bench.cluster.run { bench.daemon.failure != nil }
    #expect("\(bench.daemon.failure as Any)".contains("event 3 of the journal is not the one"))
    let epoch = try bench.cluster.sql("SELECT value FROM binder.journal WHERE key = 'epoch'")
    #expect(epoch != bench.daemon.store.epoch + "\n")
    #expect(epoch.count == 9)
  }

  @Test
  func `a journal that has lost its end ends the daemon`() throws {
    let bench = try Bench()
    try bench.append(3)
    try bench.settle()
    try bench.cluster.sql("DELETE FROM binder.event WHERE seq = 3; UPDATE binder.head SET last = 2")
    try bench.cluster.endSessions()
    try bench.cluster.run { bench.daemon.failure != nil }
    #expect("\(bench.daemon.failure as Any)".contains("ends at 2, but event 3 was acknowledged"))
  }

  @Test
  func `one batch is in flight, and the next one gathers`() throws {
    let bench = try Bench()
    var sizes: [Int] = []
    bench.daemon.onCommitted = { sizes.append($0.count) }
    try bench.append(1)
    for _ in 0..<10 { try bench.append(10) }
    try bench.settle()
    #expect(sizes == [1, 100])
  }

  @Test
  func `a unit is never split between two batches`() throws {
    let bench = try Bench()
    var ends: [UInt64] = []
    bench.daemon.onCommitted = { ends.append($0.last) }
    _ = try bench.daemon.store.append([draft("s")])
    bench.daemon.store.submit()
    for _ in 0..<3 { _ = try bench.daemon.store.append((0..<400).map { _ in draft("s") }) }
    try bench.settle()
    #expect(ends == [1, 801, 1_201])
  }

  @Test
  func `a database that is away for long refuses new events, and takes them again`() throws {
    let bench = try Bench(isAlone: true)
    let other = try bench.cluster.add("b", patience: 500)
    try bench.cluster.run { other.store.isFollowing }
    bench.cluster.kill(bench.daemon)
    bench.daemon.store.close()
    try bench.cluster.run { other.store.isActive }
    try bench.cluster.server.pause()
    // The loss is noticed by the silence of the server.
    try bench.cluster.run { other.store.refusal != nil }
    #expect(other.store.refusal == .readOnly(reason: "database", outcome: .none))
    try bench.cluster.server.resume()
    try bench.cluster.run { other.store.refusal == nil }
    _ = try other.store.append([draft("s")])
    try bench.cluster.run { other.store.durable == 1 }
  }

  @Test
  func `commands that wait for a database that is away have a limit, and their events stay`() throws
  {
    let bench = try Bench(isAlone: true)
    let other = try bench.cluster.add("b", patience: 500, answer: 200)
    try bench.cluster.run { other.store.isFollowing }
    bench.cluster.kill(bench.daemon)
    bench.daemon.store.close()
    try bench.cluster.run { other.store.isActive }
    var stalls: [JournalError] = []
    let observation = other.store.stalled.observeNext { stalls.append($0) }
    try bench.cluster.server.pause()
    _ = try other.store.append([draft("s")])
    other.store.submit()
    try bench.cluster.run { !stalls.isEmpty }
    #expect(stalls == [.readOnly(reason: "interrupted", outcome: .unknown)])
    #expect(other.store.last == 1)
    try bench.cluster.server.resume()
    try bench.cluster.run { other.store.durable == 1 }
    #expect(other.rejections.isEmpty)
    #expect(other.applied.map(\.seq) == [1])
    observation.dispose()
  }

  @Test
  func `two daemons with the name of one node cannot run`() throws {
    let bench = try Bench()
    let other = try bench.cluster.add("a")
    try bench.cluster.run { other.failure != nil }
    #expect("\(other.failure as Any)".contains("another daemon has the name 'a'"))
    #expect(bench.daemon.store.isActive)
  }
}
