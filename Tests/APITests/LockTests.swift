import API
import Configuration
import Features
import JSON
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Locks are served in order, and each holder has a higher token.
@Suite(.leavesNothing)
struct LockTests {
  let whole: LeaseBench
  let client: TestClient
  let other: TestClient

  init() throws {
    whole = try LeaseBench()
    (client, other) = (whole.connect(), whole.connect())
  }

  private func acquire(_ more: String = "", id: Int = 1) -> String {
    #"{"id":\#(id),"method":"locks.acquire","params":{"name":"backup"\#(more)}}"#
  }

  private let release = #"{"id":9,"method":"locks.release","params":["backup"]}"#

  /// Returns the token in the only line of an answer.
  private func token(_ lines: [String], id: Int = 1) -> Int? {
    guard lines.count == 1, case .object(let line)? = try? JSONValue(parsing: lines[0]),
      line["id"] == .number(JSONNumber(id)), case .object(let result)? = line["result"],
      case .object(let value)? = result["value"], case .number(let token)? = value["token"]
    else { return nil }
    return Int(token.text)
  }

  @Test
  func `a free lock is had at once, when its event is durable`() {
    client.send(acquire())
    #expect(client.received().isEmpty, "not durable yet")
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":1,"result":{"value":{"name":"backup","token":3,"lease":"lease/1"}}}"#
      ])
    let value = whole.value("locks/backup")
    #expect(value?.contains(#""holder":{"lease":"lease/1","uid":1000,"pid":42,"token":3"#) == true)
    #expect(value?.contains(#""waiting":[],"waiting_count":0"#) == true)
    #expect(client.result(release) != nil)
    #expect(whole.value("locks/backup") == nil)
  }

  @Test
  func `clients have the lock in the order in which they asked, with rising tokens`() {
    let clients = (0..<5).map { _ in whole.connect() }
    for each in clients { each.send(acquire()) }
    var last = 0
    for (i, each) in clients.enumerated() {
      let given = token(each.settle())
      #expect(given.map { $0 > last } == true)
      last = given ?? 0
      for later in clients[(i + 1)...] { #expect(later.settle().isEmpty) }
      #expect(whole.value("locks/backup")?.contains(#""waiting_count":\#(4 - i)"#) == true)
      // Some give it back, others are killed.
      if i % 2 == 0 { each.disconnect() } else { _ = each.call(release) }
    }
    #expect(whole.value("locks/backup") == nil)
  }

  @Test
  func `26: one that waits and is killed, or gives up, leaves the queue`() {
    _ = client.call(acquire())
    let killed = whole.connect()
    killed.send(acquire())
    other.send(acquire(id: 1))
    #expect(killed.settle().isEmpty)
    killed.disconnect()
    _ = client.settle()
    #expect(whole.value("locks/backup")?.contains(#""waiting_count":1"#) == true)
    other.send(#"{"id":2,"method":"cancel","params":{"id":1}}"#)
    #expect(other.settle().count == 2)
    #expect(whole.value("locks/backup")?.contains(#""waiting_count":0"#) == true)
    _ = client.call(release)
    #expect(whole.value("locks/backup") == nil)
  }

  @Test
  func `wait_ms limits the wait`() {
    _ = client.call(acquire())
    let now = other.error(acquire(#","wait_ms":0"#))
    #expect(now?.data["reason"] == .string("locked"))
    #expect(now?.retry == true)
    #expect(now?.message == "lock 'backup' is held by process 42 of user 1000")
    other.send(acquire(#","wait_ms":1000"#))
    whole.advance(999)
    #expect(other.settle().isEmpty)
    whole.advance(1)
    #expect(other.settle().first?.contains(#""reason":"locked""#) == true)
    #expect(whole.value("locks/backup")?.contains(#""waiting_count":0"#) == true)
    for wait in ["-1", "86400001"] {
      #expect(other.error(acquire(#","wait_ms":\#(wait)"#))?.data["path"] == .string("/wait_ms"))
    }
  }

  @Test
  func `a call that is cancelled before its answer leaves no lock`() {
    client.send(acquire(), #"{"id":2,"method":"cancel","params":{"id":1}}"#)
    _ = client.settle()
    #expect(whole.value("locks/backup")?.contains("holder") != true)
  }

  @Test
  func `a second call for a place does not end the first`() {
    _ = client.call(acquire())
    other.send(acquire(id: 5))
    #expect(other.settle().isEmpty)
    other.send(acquire(#","wait_ms":0"#, id: 6))
    whole.advance(1)
    #expect(other.settle().first?.contains(#""reason":"locked""#) == true)
    _ = client.call(release)
    #expect(token(other.settle(), id: 5) != nil)
  }

  @Test
  func `a lease for a lock that was not had in time is gone`() {
    _ = client.call(acquire())
    other.send(acquire(#","wait_ms":1000,"ttl_ms":60000"#))
    whole.advance(1000)
    #expect(other.settle().first?.contains("locked") == true)
    #expect(whole.value("lease/2") == nil)
  }

  @Test
  func `a token of a lock that was given back is not given again`() {
    guard let first = token([client.call(acquire())]) else { return }
    other.send(acquire())
    #expect(other.settle().isEmpty)
    let third = whole.connect()
    // Given back by another connection, and asked for again before that is durable.
    third.send(#"{"id":9,"method":"locks.release","params":{"name":"backup","lease":"lease/1"}}"#)
    client.send(acquire(id: 7))
    let given = token(other.settle())
    #expect(given.map { $0 > first } == true)
    #expect(client.settle().isEmpty, "it waits behind the other")
  }

  @Test
  func `asking again is answered with the same token`() {
    let first = token([client.call(acquire())])
    #expect(first == 3)
    #expect(token([client.call(acquire())]) == first)
    #expect(whole.events.count == 3)
  }

  @Test
  func `a lock with a ttl ends unless its lease is renewed`() {
    _ = client.call(acquire(#","ttl_ms":1000"#))
    other.send(acquire())
    whole.advance(500)
    #expect(client.result(#"{"id":1,"method":"lease.renew","params":["lease/1"]}"#) != nil)
    whole.advance(999)
    #expect(other.settle().isEmpty)
    whole.advance(1)
    #expect(token(other.settle()) != nil)
    #expect(
      client.error(acquire(#","ttl_ms":1000,"lease":"lease/2""#))?.data["path"]
        == .string("/ttl_ms"))
  }

  @Test
  func `the ttl of a lock begins when the lock is given`() {
    _ = client.call(acquire())
    other.send(acquire(#","ttl_ms":1000,"wait_ms":10000"#))
    #expect(other.settle().isEmpty)
    whole.advance(5_000)
    #expect(other.settle().isEmpty)
    _ = client.call(release)
    #expect(token(other.settle()) != nil)
    whole.advance(999)
    #expect(whole.value("locks/backup") != nil)
    whole.advance(1)
    #expect(whole.value("locks/backup") == nil)
    #expect(whole.value("lease/2") == nil)
  }

  @Test
  func `the lease of a lock that was not given ends with the wait`() {
    _ = client.call(acquire())
    other.send(acquire(#","ttl_ms":1000,"wait_ms":2000"#))
    whole.advance(1_999)
    #expect(whole.value("lease/2") != nil)
    whole.advance(1)
    #expect(other.settle().first?.contains(#""reason":"locked""#) == true)
    #expect(whole.value("lease/2") == nil)
  }

  @Test
  func `the lease of a lock that was not given ends after a restart`() throws {
    _ = client.call(acquire())
    other.send(acquire(#","ttl_ms":1000"#))
    _ = other.settle()
    let again = try whole.restarted()
    #expect(again.value("lease/2") != nil)
    again.advance(1_000)
    #expect(again.value("lease/2") == nil)
  }

  @Test
  func `a lock under a lease that ends while it waits is refused`() {
    _ = client.call(acquire())
    let lease = other.result(#"{"id":1,"method":"lease.grant","params":{"ttl_ms":500}}"#)
    #expect(lease?["value"] == .string("lease/2"))
    other.send(acquire(#","lease":"lease/2""#))
    whole.advance(500)
    #expect(other.settle().first?.contains(#""reason":"lease_ended""#) == true)
  }

  @Test
  func `only a holder gives a lock back`() {
    _ = client.call(acquire())
    #expect(other.error(release)?.data["reason"] == .string("not_held"))
    let foreign = whole.connect(uid: 1001)
    #expect(
      foreign.error(
        #"{"id":1,"method":"locks.release","params":{"name":"backup","lease":"lease/1"}}"#)?
        .data["reason"] == .string("not_owner"))
    #expect(whole.value("locks/backup") != nil)
  }

  @Test
  func `26: a user holds and waits for at most so many locks`() {
    whole.locks.maxPerUser = 2
    func acquire(_ name: String) -> String {
      #"{"id":1,"method":"locks.acquire","params":["\#(name)"]}"#
    }
    #expect(client.result(acquire("a")) != nil)
    other.send(acquire("a"))
    #expect(other.settle().isEmpty)
    #expect(client.error(acquire("b"))?.data["reason"] == .string("too_many"))
    #expect(whole.connect(uid: 1001).result(acquire("b")) != nil)
    #expect(whole.connect(uid: 0).result(acquire("c")) != nil)
    client.disconnect()
    #expect(other.settle().count == 1)
    #expect(other.result(acquire("d")) != nil)
    #expect(other.error(acquire("e"))?.data["reason"] == .string("too_many"))
  }

  @Test
  func `a bad name is refused`() {
    for name in ["", "a//b", "/a", "a b", "*"] {
      let error = client.error(
        #"{"id":1,"method":"locks.acquire","params":{"name":"\#(name)"}}"#)
      #expect(error != nil, "\(name)")
    }
    #expect(whole.events.isEmpty)
  }

  @Test
  func `a role may lock only what it may write`() throws {
    let methods = Rules(allow: [Rule(try #require(Pattern("**")))])
    let locks = Rules(allow: [Rule(try #require(Pattern("locks/mine")))])
    let narrow = whole.connect(
      as: Role(name: "narrow", methods: methods, read: locks, write: locks))
    #expect(narrow.error(acquire())?.name == .notFound)
    #expect(
      narrow.result(#"{"id":1,"method":"locks.acquire","params":["mine"]}"#) != nil)
    let reader = whole.connect(
      as: Role(name: "reader", methods: methods, read: locks, write: Rules()))
    #expect(
      reader.error(#"{"id":1,"method":"locks.acquire","params":["mine"]}"#)?.name
        == .permissionDenied)
  }

  @Test
  func `after a restart a client keeps its lock, and those who wait their places`() throws {
    let first = token([client.call(acquire())])
    other.send(acquire())
    _ = other.settle()
    let again = try whole.restarted()
    let (holder, waiter) = (again.connect(), again.connect())
    for (each, lease) in [(waiter, "lease/2"), (holder, "lease/1")] {
      _ = each.call(#"{"id":1,"method":"lease.resume","params":["\#(lease)"]}"#)
    }
    waiter.send(acquire(#","lease":"lease/2""#))
    #expect(waiter.settle().isEmpty)
    #expect(token([holder.call(acquire(#","lease":"lease/1""#))]) == first)
    holder.disconnect()
    #expect(token(waiter.settle()).map { $0 > first ?? .max } == true)
  }
}
