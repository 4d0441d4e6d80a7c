import Connections
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct LateCallTests {
  let bench = Bench()

  /// Offers calls whose answers the test controls.
  private func offerLate(waitingFor source: String? = nil, on bench: Bench? = nil) -> LateCalls {
    let calls = LateCalls()
    (bench ?? self.bench).methods["late"] = { call in
      guard let call = call.later(waitingFor: source) else { return .done }
      call.keep(BlockDisposable { calls.letGo += 1 })
      calls.calls.append(call)
      return .done
    }
    return calls
  }

  private final class LateCalls {
    var calls: [Call] = []
    var letGo = 0
  }

  private func error(_ line: String?) -> WireError? {
    guard let line, case .object(let frame)? = try? JSONValue(parsing: line),
      let error = frame["error"]
    else { return nil }
    return WireError(error)
  }

  @Test
  func `a cancelled call gets an error, and its result is dropped`() {
    let late = offerLate()
    bench.receive(request(1, "late") + request(2, "late"))
    #expect(bench.connection.cancel(RequestID(text: "1")) == .active)
    #expect(
      bench.lines() == [
        #"{"jsonrpc":"2.0","id":1,"error":{"code":-32009,"message":"the client has cancelled the call","data":{"name":"cancelled","retry":false}}}"#
      ])
    #expect(late.letGo == 1)
    #expect(bench.connection.lateCount == 1)
    for call in late.calls { call.answer { $0.append("{}") } }
    #expect(bench.lines() == [result(2)])
    #expect(late.letGo == 2)
    #expect(bench.connection.cancel(RequestID(text: "2")) == .unknown)
    #expect(bench.table.context.counts.lateCalls == 0)
  }

  @Test
  func `a call that has begun cannot be cancelled`() {
    let late = offerLate()
    bench.receive(request(1, "late"))
    late.calls[0].markBegun()
    #expect(bench.connection.cancel(RequestID(text: "1")) == .recorded)
    #expect(bench.lines().isEmpty)
    late.calls[0].answer { $0.append("{}") }
    #expect(bench.lines() == [result(1)])
  }

  @Test
  func `a call that has recorded events cannot be cancelled, and is answered in order`() {
    bench.offerCommands()
    bench.receive(request(1, "write"))
    #expect(bench.connection.cancel(RequestID(text: "1")) == .recorded)
    #expect(bench.connection.cancel(RequestID(text: #""1""#)) == .unknown, "another id")
    bench.table.advance(to: 1)
    #expect(bench.lines() == [result(1, #"{"seq":1}"#)])
    #expect(bench.connection.cancel(RequestID(text: "1")) == .unknown)
  }

  @Test
  func `calls that wait for the disk are found by their identifiers, alone and in a batch`() {
    bench.offerCommands()
    let ids = ["1", #""a,\"b""#, "-2.5e3", #""\u00e9 a long identifier, of more bytes""#]
    for id in ids { bench.receive(#"{"id":\#(id),"method":"write"}"# + "\n") }
    bench.receive(#"[{"id":7,"method":"write"},{"id":8,"method":"write"}]"# + "\n")
    for id in ids + ["7", "8"] {
      #expect(bench.connection.cancel(RequestID(text: id)) == .recorded, "\(id)")
    }
    for id in ["2", #""a""#, "-2500", "null"] {
      #expect(bench.connection.cancel(RequestID(text: id)) == .unknown, "\(id)")
    }
    bench.table.advance(to: 6)
    #expect(bench.lines().count == 5)
    #expect(bench.connection.cancel(RequestID(text: "7")) == .unknown)
  }

  @Test
  func `a call in a batch can be cancelled`() {
    _ = offerLate()
    bench.receive("[" + request(1, "late").dropLast() + "," + request(2).dropLast() + "]\n")
    #expect(bench.lines().isEmpty)
    #expect(bench.connection.cancel(RequestID(text: "1")) == .active)
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(lines[0].contains(#""name":"cancelled""#))
    #expect(lines[0].hasSuffix(result(2) + "]"))
  }

  @Test
  func `one user can have half of all calls in flight`() {
    let bench = Bench { $0.allInFlight = 4 }
    let late = offerLate(on: bench)
    bench.receive(request(1, "late") + request(2, "late") + request(3, "late"))
    #expect(error(bench.lines().last)?.name == .overloaded)
    let other = bench.table.connect(Peer(uid: 7, pid: 4, groups: [2]))
    other.handler = bench.connection.handler
    let transport = FakeTransport()
    other.start(transport)
    other.receive(Array(request(4, "late").utf8).span)
    bench.table.flush()
    #expect(transport.bytes.isEmpty, "it is not refused")
    late.calls[0].answer { $0.append("{}") }
    bench.receive(request(5, "late"))
    #expect(bench.lines() == [result(1)])
  }

  @Test
  func `calls in flight are limited for each connection and for all together`() {
    let bench = Bench {
      $0.inFlight = 2
      $0.allInFlight = 3
    }
    bench.table.context.owners = [1]
    let late = offerLate(on: bench)
    let other = bench.table.connect(Peer(uid: 1, pid: 4, groups: [2]))
    other.handler = bench.connection.handler
    let transport = FakeTransport()
    other.start(transport)
    bench.receive(request(1, "late") + request(2, "late") + request(3, "late"))
    var refusal = error(bench.lines().last)
    #expect(refusal?.name == .limitReached)
    #expect(refusal?.data == ["limit": .string("inflight"), "max": .number(JSONNumber(2))])
    other.receive(Array((request(4, "late") + request(5, "late")).utf8).span)
    bench.table.flush()
    let answers = String(decoding: transport.bytes, as: UTF8.self)
    refusal = error(answers.split(separator: "\n").last.map(String.init))
    #expect(refusal?.name == .overloaded)
    #expect(refusal?.retry == true)
    #expect(refusal?.data == ["limit": .string("inflight_all"), "max": .number(JSONNumber(3))])
    other.end()
    #expect(bench.table.context.counts.lateCalls == 2, "who leaves has no calls any more")
    #expect(late.letGo == 1)
    late.calls[2].answer { $0.append("{}") }
    #expect(bench.table.context.counts.lateCalls == 2)
  }

  @Test
  func `a late call over its deadline gets a timeout`() {
    let late = offerLate()
    bench.methods["late and timed"] = { [unowned bench] call in
      var call = call
      call.timeoutMilliseconds = 250
      return bench.methods["late"]?(call) ?? .done
    }
    bench.receive(request(1, "late and timed") + request(2, "late and timed"))
    bench.time.advance(100)
    late.calls[1].answer { $0.append("{}") }
    #expect(bench.lines() == [result(2)])
    bench.time.advance(149)
    #expect(bench.lines().isEmpty)
    bench.time.advance(1)
    let refusal = error(bench.lines().first)
    #expect(refusal?.name == .timeout)
    #expect(
      refusal?.data == ["after_ms": .number(JSONNumber(250)), "outcome": .string("none")])
    #expect(late.letGo == 2)
    #expect(bench.time.count == 0)
  }

  @Test
  func `an answer delayed by the disk becomes a timeout with unknown outcome, out of order`() {
    bench.offerCommands()
    bench.methods["hurried"] = { [unowned bench] call in
      var call = call
      call.timeoutMilliseconds = 300
      return bench.methods["write"]?(call) ?? .done
    }
    bench.receive(request(1, "write") + request(2, "hurried") + request(3, "write"))
    bench.time.advance(200)
    bench.receive(request(4, "hurried"))
    bench.time.advance(100)
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(lines[0].contains(#""id":2,"error""#))
    #expect(
      error(lines[0])?.data
        == ["after_ms": .number(JSONNumber(300)), "outcome": .string("unknown")])
    bench.table.advance(to: 3)
    #expect(
      bench.lines() == [result(1, #"{"seq":1}"#), result(3, #"{"seq":3}"#)],
      "each call is answered once")
    bench.time.advance(200)
    #expect(error(bench.lines().first)?.name == .timeout)
    bench.table.advance(to: 4)
    #expect(bench.lines().isEmpty)
    #expect(bench.time.count == 0)
  }

  @Test
  func `a lost write is reported once, with or without a timeout`() {
    bench.offerCommands()
    bench.methods["hurried"] = { [unowned bench] call in
      var call = call
      call.timeoutMilliseconds = 300
      return bench.methods["write"]?(call) ?? .done
    }
    bench.receive(request(1, "hurried") + request(2, "write"))
    bench.time.advance(300)
    #expect(bench.lines().count == 1)
    bench.table.reject(WireError(.readOnly, "full"))
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(lines[0].contains(#""id":2"#))
  }

  @Test
  func `the shutdown waits for running calls, and not for waits that may never end`() {
    let work = offerLate()
    bench.receive(request(1, "late"))
    _ = offerLate(waitingFor: "cells/lamp")
    bench.receive(request(2, "late"))
    bench.table.stopReading()
    let lines = bench.lines()
    #expect(lines.count == 1)
    #expect(error(lines[0])?.name == .shuttingDown)
    #expect(error(lines[0])?.data == ["reconnect_ms": .number(JSONNumber(250))])
    #expect(bench.table.hasUnfinished)
    work.calls[0].answer { $0.append("{}") }
    #expect(bench.lines() == [result(1)])
    #expect(!bench.table.hasUnfinished)
  }
}
