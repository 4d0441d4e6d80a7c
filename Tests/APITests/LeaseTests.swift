import API
import BinderTesting
import Configuration
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Values written under a lease end with it.
@Suite(.leavesNothing)
struct LeaseTests {
  let whole: LeaseBench
  let client: TestClient

  init() throws {
    whole = try LeaseBench()
    client = whole.connect()
  }

  /// Returns the request to set a cell under a lease.
  private func set(_ cell: String, _ value: String = "1", lease: String) -> String {
    #"{"id":1,"method":"set","params":{"source":"cells/\#(cell)","value":\#(value),"_meta":{"lease":\#(lease)}}}"#
  }

  private func set(_ cell: String, _ value: String = "1") -> String {
    #"{"id":1,"method":"set","params":{"source":"cells/\#(cell)","value":\#(value)}}"#
  }

  private let connection = #""connection""#

  @Test
  func `an undo says that a lease does not come back`() {
    func preview(_ params: String) -> String {
      client.call(#"{"id":1,"method":"undo","params":{\#(params),"preview":true}}"#)
    }
    let leased = #""leased":true"#
    let ttl = #"{"ttl_ms":60000}"#
    _ = client.call(set("a", "1", lease: ttl))
    _ = client.call(set("a", "2"))
    #expect(preview(#""seq":5"#).contains(#"{"source":"cells/a","from":2,"to":1,\#(leased)}"#))
    #expect(preview(#""since":{"seq":3}"#).contains(leased))
    #expect(!preview(#""seq":3,"force":true"#).contains(leased), "there was none before")
    _ = client.call(set("b", "1", lease: #"{"ttl_ms":1000}"#))
    whole.bench.time.advance(1_500)
    _ = client.settle()
    #expect(whole.value("cells/b") == nil)
    #expect(
      preview(#""seq":\#(whole.bench.store.last)"#)
        .contains(#"{"source":"cells/b","to":1,\#(leased)}"#))
    _ = client.call(set("c", "1"))
    _ = client.call(set("c", "2", lease: ttl))
    let first = whole.bench.store.last
    #expect(!preview(#""seq":\#(first)"#).contains(leased), "the value before had none")
    _ = client.call(set("c", "3", lease: #""lease/3""#))
    #expect(whole.bench.store.last == first + 1, "the same lease")
    #expect(preview(#""seq":\#(first + 1)"#).contains(leased))
  }

  // MARK: Connections

  @Test
  func `a value written under the lease of a connection is removed when it ends`() {
    #expect(
      client.call(set("door", #""open""#, lease: connection))
        == #"{"jsonrpc":"2.0","id":1,"result":{"value":"open","seq":3,"version":1,"lease":"lease/1"}}"#
    )
    _ = client.call(set("window", lease: connection))
    _ = client.call(set("stays"))
    #expect(whole.value("lease/1")?.contains(#""sources":2,"will":false"#) == true)
    client.disconnect()
    #expect(whole.value("cells/door") == nil)
    #expect(whole.value("cells/window") == nil)
    #expect(whole.value("cells/stays") == "1")
    #expect(whole.value("lease/1") == nil)
    #expect(
      whole.events.suffix(3) == [
        "lease.ended lease/1", "cells.removed cells/door", "cells.removed cells/window",
      ])
    #expect(
      whole.bench.store.records.suffix(3).first?.data == #"{"reason":"disconnected"}"#)
  }

  @Test
  func `the events of an end are one commit, and reach watchers`() {
    let watcher = whole.connect()
    _ = client.call(set("door", lease: connection))
    _ = watcher.call(#"{"id":1,"method":"subscribe","params":["cells/door"]}"#)
    client.disconnect()
    #expect(watcher.received().isEmpty, "not durable yet")
    let lines = watcher.settle()
    #expect(lines.count == 1)
    #expect(lines.first?.contains(#""gone":true"#) == true, "\(lines)")
  }

  @Test
  func `the last write decides with which lease a value ends`() {
    let other = whole.connect()
    _ = client.call(set("a", lease: connection))
    _ = client.call(set("b", lease: connection))
    _ = client.call(set("c", lease: connection))
    _ = client.call(set("a"))
    _ = other.call(set("b", "2", lease: connection))
    _ = other.call(#"{"id":1,"method":"cells.remove","params":["c"]}"#)
    _ = other.call(set("c", "3"))
    client.disconnect()
    #expect(whole.value("cells/a") == "1")
    #expect(whole.value("cells/b") == "2")
    #expect(whole.value("cells/c") == "3")
    other.disconnect()
    #expect(whole.value("cells/b") == nil)
    #expect(whole.value("cells/c") == "3")
  }

  @Test
  func `keys of maps end with a lease, and lists are refused`() {
    _ = client.call(
      #"{"id":1,"method":"maps.put","params":{"name":"m","key":"k","value":1,"_meta":{"lease":"connection"}}}"#
    )
    _ = client.call(#"{"id":1,"method":"maps.put","params":{"name":"m","key":"l","value":2}}"#)
    let events = whole.events
    let error = client.error(
      #"{"id":1,"method":"lists.append","params":{"name":"l","value":1,"_meta":{"lease":"connection"}}}"#
    )
    #expect(error?.data["reason"] == .string("not_leasable"))
    #expect(error?.message.contains("lists/l") == true)
    #expect(whole.events == events, "nothing was done")
    client.disconnect()
    #expect(whole.value("maps/m") == #"{"l":2}"#)
  }

  @Test
  func `the lease of an atomic is for all of its calls, or for none`() {
    let atomic =
      #"{"id":1,"method":"atomic","params":{"calls":[{"method":"cells.set","params":["a",1]},{"method":"cells.add","params":["n",2]}],"_meta":{"lease":"connection"}}}"#
    #expect(
      client.call(atomic)
        == #"{"jsonrpc":"2.0","id":1,"result":{"values":[1,2],"seq":5,"events":5,"lease":"lease/1"}}"#
    )
    let refused =
      #"{"id":1,"method":"atomic","params":{"calls":[{"method":"cells.set","params":["z",1]},{"method":"lists.append","params":["l",2]}],"_meta":{"lease":"connection"}}}"#
    #expect(client.error(refused)?.data["reason"] == .string("not_leasable"))
    client.disconnect()
    for cell in ["a", "n", "z"] { #expect(whole.value("cells/\(cell)") == nil) }
  }

  @Test
  func `a refused command grants no lease, and its number is not used again`() {
    #expect(client.error(set("bad//name", lease: connection))?.name == .invalidParams)
    #expect(
      client.error(
        #"{"id":1,"method":"cells.add","params":{"name":"n","by":"x","_meta":{"lease":"connection"}}}"#
      )?.name == .invalidParams)
    #expect(whole.events.isEmpty)
    #expect(client.result(set("a", lease: connection))?["lease"] != nil)
    #expect(whole.events.filter { $0.hasPrefix("lease.granted") }.count == 1)
  }

  // MARK: TTLs

  @Test
  func `a value with a ttl outlives its connection, and ends in time`() {
    #expect(client.result(set("a", lease: #"{"ttl_ms":1000}"#))?["lease"] == .string("lease/1"))
    client.disconnect()
    whole.advance(999)
    #expect(whole.value("cells/a") == "1")
    whole.advance(1)
    #expect(whole.value("cells/a") == nil)
    #expect(
      whole.bench.store.records.first { $0.type == "lease.ended" }?.data == #"{"reason":"expired"}"#
    )
  }

  @Test
  func `a renewed lease starts its ttl again`() {
    _ = client.call(set("a", lease: #"{"ttl_ms":1000}"#))
    for _ in 0..<3 {
      whole.advance(900)
      #expect(
        client.result(#"{"id":1,"method":"lease.renew","params":["lease/1"]}"#)?["value"]
          == .number(JSONNumber(1000)))
    }
    #expect(whole.value("cells/a") == "1")
    // A second value under the same lease.
    _ = client.call(set("b", lease: #""lease/1""#))
    whole.advance(1000)
    #expect(whole.value("cells/a") == nil)
    #expect(whole.value("cells/b") == nil)
    #expect(
      client.error(#"{"id":1,"method":"lease.renew","params":["lease/1"]}"#)?.data["what"]
        == .string("lease"))
  }

  @Test
  func `a renewal that is not durable counts, also when another command is refused`() {
    _ = client.call(set("a", lease: #"{"ttl_ms":1000}"#))
    whole.advance(900)
    client.send(#"{"id":1,"method":"lease.renew","params":["lease/1"]}"#)
    // Its grant of a lease is taken back.
    whole.connect().send(
      #"{"id":1,"method":"lists.append","params":{"name":"l","value":1,"_meta":{"lease":"connection"}}}"#
    )
    whole.bench.time.advance(100)
    #expect(whole.value("cells/a") == "1")
    whole.advance(999)
    #expect(whole.value("cells/a") == "1")
    whole.advance(1)
    #expect(whole.value("cells/a") == nil)
  }

  @Test(arguments: ["0", "99", "-1", "2678400001", "3155760000000"])
  func `26: a ttl of nothing or of a century is refused, with the place and the rule`(ttl: String) {
    let error = client.error(set("a", lease: #"{"ttl_ms":\#(ttl)}"#))
    #expect(error?.name == .invalidParams)
    #expect(error?.data["path"] == .string("/_meta/lease/ttl_ms"))
    #expect(error?.data["expected"] == .string("100 to 2678400000"))
    let grant = client.error(#"{"id":1,"method":"lease.grant","params":{"ttl_ms":\#(ttl)}}"#)
    #expect(grant?.data["path"] == .string("/ttl_ms"))
    #expect(whole.events.isEmpty)
  }

  @Test(arguments: [#""""#, "7", "[]", #"{"ttl":5000}"#, #"{"ttl_ms":"5s"}"#, #""lease/9""#])
  func `a lease that is none is refused`(lease: String) {
    let error = client.error(set("a", lease: lease))
    #expect(error?.name == .invalidParams || error?.name == .notFound, "\(lease)")
    #expect(whole.events.isEmpty)
  }

  // MARK: Rights and quotas

  @Test
  func `a lease of another user is refused, and root may use it`() {
    _ = client.call(set("a", lease: connection))
    let other = whole.connect(uid: 1001)
    for line in [
      set("b", lease: #""lease/1""#), #"{"id":1,"method":"lease.release","params":["lease/1"]}"#,
      #"{"id":1,"method":"lease.renew","params":["lease/1"]}"#,
      #"{"id":1,"method":"lease.resume","params":["lease/1"]}"#,
    ] {
      #expect(other.error(line)?.data["reason"] == .string("not_owner"))
    }
    let root = whole.connect(uid: 0)
    #expect(
      root.error(#"{"id":1,"method":"lease.renew","params":["lease/1"]}"#)?.data["reason"]
        == .string("no_ttl"))
    _ = root.call(#"{"id":1,"method":"lease.release","params":["lease/1"]}"#)
    #expect(whole.value("cells/a") == nil)
  }

  @Test
  func `a lease of another user does not exist for a role that may not read it`() throws {
    _ = client.call(set("a", lease: connection))
    let all = Rules(allow: [Rule(try #require(Pattern("**")))])
    let cells = Rules(allow: [Rule(try #require(Pattern("cells/**")))])
    let narrow = whole.connect(
      uid: 1001, as: Role(name: "narrow", methods: all, read: cells, write: cells))
    for line in [
      set("b", lease: #""lease/1""#), #"{"id":1,"method":"lease.release","params":["lease/1"]}"#,
      #"{"id":1,"method":"lease.renew","params":["lease/1"]}"#,
      #"{"id":1,"method":"lease.resume","params":["lease/1"]}"#,
      #"{"id":1,"method":"locks.acquire","params":{"name":"x","lease":"lease/1"}}"#,
    ] {
      let error = narrow.error(line)
      let missing = narrow.error(line.replacing("lease/1", with: "lease/9"))
      #expect(error?.name == missing?.name, "\(line)")
      #expect(error?.message.replacing("lease/1", with: "lease/9") == missing?.message, "\(line)")
    }
    #expect(whole.value("cells/a") != nil)
  }

  @Test
  func `a role needs only the right to write the value itself`() throws {
    let methods = Rules(allow: [Rule(try #require(Pattern("**")))])
    let cells = Rules(allow: [Rule(try #require(Pattern("cells/mine/**")))])
    let narrow = whole.connect(
      as: Role(name: "narrow", methods: methods, read: cells, write: cells))
    #expect(narrow.result(set("mine/a", lease: connection))?["lease"] == .string("lease/1"))
    #expect(narrow.error(set("other", lease: connection))?.name == .notFound)
    narrow.disconnect()
    #expect(whole.value("cells/mine/a") == nil)
  }

  @Test
  func `a user has at most so many leases`() {
    whole.leases.maxPerUser = 3
    for i in 0..<3 { _ = client.call(set("a\(i)", lease: #"{"ttl_ms":1000}"#)) }
    let error = client.error(set("b", lease: #"{"ttl_ms":1000}"#))
    #expect(error?.data["reason"] == .string("too_many"))
    #expect(whole.value("cells/b") == nil)
    #expect(whole.connect(uid: 1001).result(set("b", lease: connection)) != nil)
    #expect(whole.connect(uid: 0).result(set("c", lease: connection)) != nil)
    whole.advance(1000)
    #expect(client.result(set("b", lease: #"{"ttl_ms":1000}"#)) != nil)
  }

  // MARK: Many values and leases

  /// Sets so many cells under a lease in one command.
  private func fill(_ client: TestClient, _ prefix: String, _ range: Range<Int>) -> String {
    let calls = range.map { #"{"method":"cells.set","params":["\#(prefix)\#($0)",1]}"# }
    return client.call(
      #"{"id":1,"method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))],"_meta":{"lease":"connection"}}}"#
    )
  }

  @Test
  func `at most 1000 values end with one lease`() {
    #expect(fill(client, "a", 0..<1000).contains(#""lease":"lease/1""#))
    let error = client.error(set("b", lease: connection))
    #expect(error?.data["reason"] == .string("too_many"))
    #expect(error?.message.contains("lease/1") == true)
    #expect(whole.value("cells/b") == nil)
    _ = client.call(#"{"id":1,"method":"cells.remove","params":["a7"]}"#)
    #expect(client.result(set("b", lease: connection)) != nil)
    client.disconnect()
    #expect(whole.value("cells/a0") == nil)
    #expect(whole.value("cells/b") == nil)
  }

  @Test
  func `leases that end together end in several turns, and users take turns`() {
    let clients = (0..<6).map { _ in whole.connect() }
    for (i, each) in clients.enumerated() { _ = fill(each, "a\(i).", 0..<200) }
    let other = whole.connect(uid: 1001)
    _ = other.call(set("b", lease: connection))
    for each in clients + [other] { each.disconnect() }
    /// The clients whose values are there.
    func left() -> [Int] { clients.indices.filter { whole.value("cells/a\($0).0") != nil } }
    #expect(left() == [3, 4, 5])
    #expect(whole.value("cells/b") == "1")
    whole.bench.time.advance(0)
    #expect(whole.value("cells/b") == nil, "after one lease of the other user")
    whole.bench.time.advance(1)
    #expect(left().isEmpty)
    for i in clients.indices { #expect(whole.value("cells/a\(i).199") == nil) }
  }

  @Test
  func `wills that take long end in several turns, also with few events`() {
    whole.clock.nanosecondsPerLook = 1_500_000
    let clients = (0..<6).map { _ in whole.connect() }
    for (i, each) in clients.enumerated() {
      let calls = #"[{"method":"cells.set","params":["w\#(i)",1]}]"#
      _ = each.call(#"{"id":1,"method":"will","params":{"calls":\#(calls)}}"#)
    }
    for each in clients { each.disconnect() }
    func done() -> Int { clients.indices.count { whole.value("cells/w\($0)") != nil } }
    #expect(done() == 2, "3 ms")
    whole.advance(10)
    #expect(done() == 6)
  }

  @Test
  func `a lease that waits for its end can be resumed`() {
    let clients = (0..<4).map { _ in whole.connect() }
    for (i, each) in clients.enumerated() { _ = fill(each, "a\(i).", 0..<300) }
    for each in clients { each.disconnect() }
    let back = whole.connect()
    #expect(back.result(#"{"id":1,"method":"lease.resume","params":["lease/4"]}"#) != nil)
    whole.advance(10)
    #expect(whole.value("cells/a2.0") == nil)
    #expect(whole.value("cells/a3.0") == "1")
  }

  @Test
  func `one command ends leases with at most 1000 values`() {
    for i in 0..<3 {
      _ = client.call(#"{"id":1,"method":"lease.grant","params":{"ttl_ms":60000}}"#)
      let calls = (0..<400).map { #"{"method":"cells.set","params":["a\#(i).\#($0)",1]}"# }
      _ = client.call(
        #"{"id":1,"method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))],"_meta":{"lease":"lease/\#(i + 1)"}}}"#
      )
    }
    func release(_ leases: Int...) -> String {
      let calls = leases.map { #"{"method":"lease.release","params":["lease/\#($0)"]}"# }
      return #"{"id":1,"method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#
    }
    #expect(client.error(release(1, 2, 3))?.data["reason"] == .string("too_many"))
    #expect(whole.value("cells/a0.0") == "1")
    #expect(client.result(release(1, 2)) != nil)
    #expect(client.result(release(3)) != nil)
    #expect(whole.value("cells/a2.0") == nil)
  }

  // MARK: Wills

  private func will(_ calls: String) -> String {
    #"{"id":1,"method":"will","params":{"calls":\#(calls)}}"#
  }

  @Test
  func `a will runs when its connection ends, in the commit that ends the lease`() {
    #expect(
      client.result(will(#"[{"method":"cells.set","params":["gone",true]}]"#))?["value"]
        == .string("lease/1"))
    _ = client.call(set("here", lease: connection))
    client.disconnect()
    #expect(whole.value("cells/gone") == "true")
    #expect(whole.value("cells/here") == nil)
    #expect(whole.failures.isEmpty)
  }

  @Test
  func `a withdrawn or released will does not run`() {
    _ = client.call(will(#"[{"method":"cells.set","params":["gone",true]}]"#))
    _ = client.call(will("[]"))
    client.disconnect()
    let other = whole.connect()
    _ = other.call(will(#"[{"method":"cells.set","params":["gone",true]}]"#))
    _ = other.call(#"{"id":1,"method":"lease.release","params":["lease/2"]}"#)
    other.disconnect()
    #expect(whole.value("cells/gone") == nil)
  }

  private let lamp =
    #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{"off":{"delivery":"queued","params":{"type":"object","properties":{"n":{"type":"integer"}}}},"blink":{}}}}"#

  @Test
  func `a will may queue calls of programs`() {
    let provider = whole.connect()
    _ = provider.call(lamp)
    #expect(client.result(will(#"[{"method":"lamp.off","params":{"n":7}}]"#)) != nil)
    #expect(
      client.error(will(#"[{"method":"lamp.off","params":{"n":"x"}}]"#))?.data["path"]
        == .string("/calls"))
    #expect(client.error(will(#"[{"method":"lamp.blink"}]"#))?.message.contains("command") == true)
    client.disconnect()
    let lines = provider.settle()
    #expect(lines.count == 1)
    #expect(lines.first?.contains(#""method":"lamp.off","params":{"n":7}"#) == true, "\(lines)")
    #expect(whole.failures.isEmpty)
  }

  @Test
  func `an atomic may queue calls of programs, all or none`() {
    let provider = whole.connect()
    _ = provider.call(lamp)
    func atomic(_ n: String) -> String {
      #"{"id":1,"method":"atomic","params":{"calls":[{"method":"cells.set","params":["a",1]},{"method":"lamp.off","params":{"n":\#(n)}}]}}"#
    }
    let error = client.error(atomic(#""x""#))
    #expect(error?.data["path"] == .string("/calls/1/params/n"))
    #expect(error?.data["index"] == .number(JSONNumber(1)))
    #expect(whole.value("cells/a") == nil)
    #expect(client.result(atomic("7"))?["values"]?.text.text == "[1,3]")
    #expect(provider.settle().count == 1)
  }

  @Test
  func `values that a program keeps end with its lease`() {
    _ = client.call(lamp)
    let publish =
      #"{"id":1,"method":"publish","params":{"source":"lamp/on","value":1,"keep":true,"_meta":{"lease":"connection"}}}"#
    #expect(client.result(publish)?["lease"] == .string("lease/1"))
    let caller = whole.connect()
    caller.send(#"{"id":1,"method":"lamp.blink"}"#)
    _ = client.settle()
    let reply =
      #"{"id":1,"method":"reply","params":{"call":"c1","events":[{"source":"lamp/off","value":1}],"_meta":{"lease":"connection"}}}"#
    #expect(client.result(reply)?["lease"] == .string("lease/1"))
    #expect(whole.value("services/lamp/off") == "1")
    client.disconnect()
    #expect(whole.value("services/lamp/on") == nil)
    #expect(whole.value("services/lamp/off") == nil)
  }

  @Test
  func `a will has at most 100 calls`() {
    func long(_ count: Int) -> String {
      let call = #"{"method":"cells.add","params":["gone"]}"#
      return will("[" + [String](repeating: call, count: count).joined(separator: ",") + "]")
    }
    #expect(client.error(long(101))?.data["reason"] == .string("too_many"))
    #expect(whole.events.isEmpty)
    #expect(client.result(long(100)) != nil)
    client.disconnect()
    #expect(whole.value("cells/gone") == "100")
  }

  @Test
  func `a will that can never run is refused at once, with its place`() {
    for calls in [
      #"[{"method":"nothing"}]"#, #"[{"method":"ping"}]"#, #"7"#, #"[7]"#,
      #"[{"method":"cells.add","params":{"name":"n","by":"x"}}]"#,
    ] {
      let error = client.error(will(calls))
      #expect(error?.data["path"] == .string("/calls"), "\(calls) \(error?.message ?? "")")
    }
    #expect(whole.events.isEmpty)
  }

  @Test
  func `a will that is refused when it runs is left out, and the lease ends`() {
    _ = client.call(set("text", #""x""#))
    _ = client.call(set("here", lease: connection))
    _ = client.call(
      will(
        #"[{"method":"cells.set","params":["half",1]},{"method":"cells.add","params":["text"]}]"#))
    client.disconnect()
    #expect(whole.value("cells/half") == nil, "a will is done whole or not at all")
    #expect(whole.value("cells/here") == nil)
    #expect(whole.failures.count == 1)
    #expect(whole.failures.first?.hasPrefix("lease/1: ") == true)
  }

  @Test
  func `a will has the rights that its user has when it runs`() throws {
    _ = client.call(will(#"[{"method":"cells.set","params":["gone",true]}]"#))
    let all = Rules(allow: [Rule(try #require(Pattern("**")))])
    whole.willRole = Role(name: "reader", methods: all, read: all, write: Rules())
    client.disconnect()
    #expect(whole.value("cells/gone") == nil)
    #expect(whole.failures.count == 1)
  }

  // MARK: Restarts

  @Test
  func `after a restart a lease waits for its client, which resumes it`() throws {
    _ = client.call(set("a", lease: connection))
    let again = try whole.restarted()
    again.advance(4_999)
    #expect(again.value("cells/a") == "1")
    let back = again.connect()
    #expect(back.result(#"{"id":1,"method":"lease.resume","params":["lease/1"]}"#) != nil)
    #expect(
      again.connect().error(#"{"id":1,"method":"lease.resume","params":["lease/1"]}"#)?
        .data["reason"] == .string("in_use"))
    again.advance(60_000)
    #expect(again.value("cells/a") == "1")
    back.disconnect()
    #expect(again.value("cells/a") == nil)
  }

  @Test
  func `26: after a restart a lease whose client stays away ends, with its will`() throws {
    _ = client.call(set("a", lease: connection))
    _ = client.call(will(#"[{"method":"cells.set","params":["gone",true]}]"#))
    let again = try whole.restarted()
    again.advance(5_000)
    #expect(again.value("cells/a") == nil)
    #expect(again.value("cells/gone") == "true")
  }

  @Test
  func `after a restart a ttl goes on, and waits for its owner's renewal`() throws {
    _ = client.call(set("long", lease: #"{"ttl_ms":60000}"#))
    _ = client.call(set("short", lease: #"{"ttl_ms":100}"#))
    let again = try whole.restarted()
    again.advance(100)
    #expect(again.value("cells/short") == nil, "a ttl is never longer than it was")
    again.advance(59_000)
    #expect(again.value("cells/long") == "1")
    again.advance(1_000)
    #expect(again.value("cells/long") == nil)
  }

  @Test
  func `a refused command shortens no wait for a client that has not come back`() throws {
    _ = client.call(set("a", lease: connection))
    let again = try whole.restarted()
    let other = again.connect()
    #expect(
      other.error(
        #"{"id":1,"method":"lists.append","params":{"name":"l","value":1,"_meta":{"lease":"connection"}}}"#
      )?.data["reason"] == .string("not_leasable"))
    again.advance(4_000)
    #expect(again.value("cells/a") == "1")
  }

  @Test
  func `26: a lease that ends while the journal takes nothing ends when it does again`() {
    _ = client.call(set("a", lease: connection))
    client.disconnect()
    whole.bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    #expect(whole.value("cells/a") == "1")
    whole.advance(5_000)
    #expect(whole.value("cells/a") == nil)
  }
}
