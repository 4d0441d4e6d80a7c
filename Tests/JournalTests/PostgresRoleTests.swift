import EventLoop
import Journal
import JournalPostgres
import Model
import Signals
import Testing

/// Several daemons on one journal: one is active, the others follow, and one of them takes over.
@Suite(.needsPostgres)
struct PostgresRoleTests {
  private let cluster: PostgresCluster
  private let first: PostgresTrial
  private let second: PostgresTrial

  init() throws {
    cluster = try PostgresCluster()
    first = try cluster.add("a")
    try cluster.run { [first] in first.store.isActive }
    second = try cluster.add("b")
    try cluster.run { [second] in second.store.isFollowing }
  }

  private func append(_ count: Int, to daemon: PostgresTrial) throws {
    for i in 0..<count { _ = try daemon.store.append([draft("s", "\(i)")]) }
    daemon.store.submit()
  }

  /// Waits until both daemons have applied all events up to a position.
  private func run(upTo seq: UInt64) throws {
    try cluster.run { [cluster] in cluster.trials.allSatisfy { $0.store.durable >= seq } }
  }

  @Test
  func `a follower applies each event once, in order, and appends nothing`() throws {
    for _ in 0..<10 {
      try append(20, to: first)
      try cluster.run(milliseconds: 5)
    }
    try run(upTo: 200)
    #expect(second.applied == first.applied)
    #expect(second.applied.map(\.seq) == Array(1...200))
    #expect(second.store.head(of: "s") == first.store.head(of: "s"))
    #expect(second.store.refusal == .following(active: "a", address: nil))
  }

  @Test
  func `a daemon reads nothing that it has not applied`() throws {
    try append(5, to: first)
    try run(upTo: 5)
    try append(5, to: first)
    try cluster.run(without: [second]) { [first] in first.store.durable == 10 }
    func positions() throws -> [UInt64] {
      try second.read { reader throws(JournalError) in try reader.records(after: 3, limit: 100) }
        .map(\.seq)
    }
    #expect(try positions() == [4, 5])
    try run(upTo: 10)
    #expect(try positions() == Array(4...10))
  }

  @Test
  func `a daemon that starts late follows from where it is`() throws {
    try append(30, to: first)
    try run(upTo: 30)
    let third = try cluster.add("c")
    try append(5, to: first)
    try run(upTo: 35)
    #expect(third.applied.map(\.seq) == Array(1...35))
    #expect(third.store.role == .following(ActiveNode(name: "a", address: nil)))
  }

  @Test
  func `when the active daemon is killed, a follower takes over and goes on`() throws {
    try append(10, to: first)
    try run(upTo: 10)
    first.store.close()
    cluster.kill(first)
    second.store.contend()
    try cluster.run { [second] in second.store.isActive }
    #expect(second.store.role == .active(term: 2))
    try append(5, to: second)
    try run(upTo: 15)
    #expect(second.applied.map(\.seq) == Array(1...15))
    #expect(second.store.head(of: "s").version == 15)
  }

  @Test
  func `a lease that the server refuses is not tried without a pause`() throws {
    try cluster.before(
      "UPDATE OF term ON binder.head",
      "PERFORM nextval('tries'); RAISE EXCEPTION 'damaged' USING ERRCODE = 'XX001';")
    first.store.close()
    cluster.kill(first)
    second.store.contend()
    try cluster.run(milliseconds: 1_000)
    #expect(1...12 ~= Int(try cluster.sql("SELECT last_value FROM tries").dropLast()) ?? 0)
    try cluster.sql("DROP TRIGGER trial ON binder.head")
    try cluster.run { [second] in second.store.isActive }
  }

  @Test
  func `without a hint too a follower notices that the active daemon is gone`() throws {
    first.store.close()
    cluster.kill(first)
    try cluster.run { [second] in second.store.isActive }
  }

  @Test
  func `a hint that is wrong takes nothing from the active daemon`() throws {
    second.store.contend()
    try cluster.run(milliseconds: 500)
    #expect(second.store.isFollowing)
    #expect(first.store.role == .active(term: 1))
    try append(1, to: first)
    try run(upTo: 1)
  }

  @Test
  func `a paused daemon is replaced, and what it has not written is rejected`() throws {
    try append(3, to: first)
    try run(upTo: 3)
    // Sent, but the daemon does not hear the answer any more.
    try append(2, to: first)
    try cluster.run(without: [first]) { [second] in second.store.isActive }
    try append(1, to: second)
    try cluster.run(without: [first]) { [second] in second.store.durable == 6 }
    // Recorded after the pause, before the daemon knows that it has lost the lease.
    try append(4, to: first)
    try cluster.run { [first] in first.store.isOver }

    #expect(first.applied.map(\.seq) == [1, 2, 3, 4, 5])
    #expect(first.rejections == [.readOnly(reason: "superseded", outcome: .none)])
    #expect(second.applied.map(\.seq) == [1, 2, 3, 4, 5, 6])
    #expect(
      try cluster.sql("SELECT string_agg(seq::text, ' ' ORDER BY seq) FROM binder.event")
        == "1 2 3 4 5 6\n")
  }

  @Test
  func `a daemon that has replaced a paused one has the lock, so that its end is noticed`() throws {
    try append(1, to: first)
    try run(upTo: 1)
    try cluster.run(without: [first]) { [second] in second.store.isActive }
    cluster.kill(first)
    let owner = """
      SELECT n.name FROM pg_locks l JOIN binder.node n ON n.process = l.pid
      WHERE l.locktype = 'advisory' AND l.mode = 'ExclusiveLock' AND l.granted
      """
    try cluster.run { [cluster] in (try? cluster.sql(owner)) == "b\n" }
  }

  @Test
  func `the server takes no event of an earlier term`() throws {
    try append(1, to: first)
    try run(upTo: 1)
    for (term, isDone) in [(0, "f"), (2, "f"), (1, "t")] {
      let answer = try cluster.sql(
        """
        SELECT done FROM binder.append(1, \(term), false, false, '{1}', '{2}', '{1}', '{s}', '{t}',
          '{1}', '{NULL}', '{NULL}', '{0}')
        """)
      #expect(answer == isDone + "\n", "term \(term)")
    }
  }

  @Test
  func `when the database fails over, the active daemon stays the same`() throws {
    for round in 1...5 {
      try append(3, to: first)
      try cluster.endSessions()
      try append(2, to: first)
      try run(upTo: UInt64(5 * round))
    }
    #expect(first.store.role == .active(term: 1))
    #expect(second.store.isFollowing)
    #expect(second.applied.map(\.seq) == Array(1...25))
  }

  @Test
  func `a daemon that resigns is replaced at once`() throws {
    try append(2, to: first)
    try run(upTo: 2)
    first.store.resign()
    try cluster.run { [second] in second.store.isActive }
    #expect(first.store.role == .over(reason: "it has resigned"))
    try append(1, to: second)
    try cluster.run { [second] in second.store.durable == 3 }
  }

  @Test
  func `a daemon that stops while it takes over does not become active, and gives the term back`()
    throws
  {
    try append(3, to: first)
    try run(upTo: 3)
    for trial in [second, first] {
      trial.store.resign()
      try cluster.run { trial.store.isOver }
      cluster.kill(trial)
    }
    // Each state of a takeover, by the turns of the loop since its beginning.
    var (wasActive, turns) = (false, 0)
    while !wasActive, turns < 100 {
      let active = try cluster.add("a\(turns)")
      try cluster.run { active.store.isActive }
      let trial = try cluster.add("b\(turns)")
      try cluster.run { trial.store.isFollowing && trial.store.durable == 3 }
      active.store.resign()
      try cluster.run(without: [trial]) { active.store.isOver }
      cluster.kill(active)
      trial.store.contend()
      for _ in 0..<turns where !trial.store.isActive { trial.loop.runOnce() }
      wasActive = trial.store.isActive
      var roles: [StoreRole] = []
      let observation = trial.store.roles.observeNext { roles.append($0) }
      trial.store.stopContending()
      trial.store.resign()
      try cluster.run { trial.store.isOver }
      // It may learn only now that nobody is active.
      let decided = roles.filter { $0 != .following(nil) }
      #expect(decided == [.over(reason: "it has resigned")], "after \(turns) turns")
      let isGiven = "SELECT active IS NULL OR active <> 'b\(turns)' FROM binder.head"
      #expect(try cluster.sql(isGiven) == "t\n", "after \(turns) turns")
      observation.dispose()
      cluster.kill(trial)
      turns += 1
    }
    #expect(wasActive)
    #expect(turns > 2)
  }

  @Test
  func `a follower that resigns is not expected any more`() throws {
    second.store.resign()
    try cluster.run { [second] in second.store.isOver }
    #expect(try cluster.sql("SELECT state FROM binder.node WHERE name = 'b'") == "stopped\n")
    try cluster.run { [first] in first.store.nodes.map(\.name) == ["a"] }
    #expect(first.store.role == .active(term: 1))
  }

  @Test
  func `three daemons have one active daemon, whichever is killed`() throws {
    _ = try cluster.add("c")
    var last: UInt64 = 0
    for round in 0..<6 {
      try cluster.run { [cluster] in cluster.trials.filter(\.store.isActive).count == 1 }
      let found = cluster.trials.first { $0.store.isActive }
      let active = try #require(found)
      try append(3, to: active)
      last += 3
      try run(upTo: last)
      active.store.close()
      cluster.kill(active)
      for trial in cluster.trials { trial.store.contend() }
      try cluster.add("n\(round)")
    }
    try cluster.run { [cluster] in cluster.trials.filter(\.store.isActive).count == 1 }
    for trial in cluster.trials { #expect(trial.applied.map(\.seq) == Array(1...last)) }
  }

  @Test
  func `an event that a follower has not applied is not removed`() throws {
    try append(10, to: first)
    try cluster.run(without: [second]) { [first] in first.store.durable == 10 }
    // The next sign of life tells how far the follower is.
    try cluster.run(milliseconds: 1_200, without: [second])
    var result: Result<RemovalReport, JournalError>?
    let observation = first.store.removed.observeNext { result = $0 }
    let removal = Removal(first: 1, last: 5, runs: [1...5], services: ["s": 5, "*": 5])
    first.store.remove(removal)
    try cluster.run(without: [second]) { result != nil }
    guard case .failure = result else { return #expect(result == nil) }
    try run(upTo: 10)
    // With one of the next signs of life it is far enough.
    try cluster.run { [first] in
      if case .success? = result { return true }
      if result != nil {
        result = nil
        first.store.remove(removal)
      }
      return false
    }
    #expect(try result?.get().first == 6)
    try cluster.run { [second] in second.store.first == 6 }
    observation.dispose()
  }
}
