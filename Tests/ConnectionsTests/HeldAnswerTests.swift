import Connections
import JSON
import TestSupport
import Testing
import Wire

/// Answers that wait for the journal, for a later turn, or for both.
@Suite(.leavesNothing)
struct HeldAnswerTests {
  let bench = Bench()

  init() {
    bench.offerCommands()
  }

  @Test
  func `a late batch waits until its own writes are durable`() throws {
    var late: Call?
    bench.methods["late"] = { call in
      late = call.later()
      return .done
    }
    bench.receive(#"[{"id":1,"method":"late"},{"id":2,"method":"write"}]"# + "\n")
    try #require(late).answer { $0.append("{}") }
    late = nil
    #expect(bench.lines() == [])
    #expect(bench.table.hasUnfinished)
    bench.table.advance(to: 1)
    #expect(
      bench.lines() == ["[\(result(1)),\(result(2, #"{"seq":1}"#))]"])
  }

  @Test
  func `a client continues when its unanswered writes are durable, one commit after another`() {
    for _ in 0..<3 { bench.receive(#"{"method":"write"}"# + "\n") }
    bench.receive(request(1, "read"))
    for position: UInt64 in 1...3 {
      #expect(bench.lines() == [])
      bench.table.advance(to: position)
    }
    #expect(bench.lines() == [result(1, #"{"durable":3}"#)])
  }

  @Test
  func `an answer that waits for nothing does not let those before it go`() {
    bench.receive(request(1, "write") + request(2, "write") + request(3) + request(4, "write"))
    bench.receive(request(5))
    bench.table.advance(to: 1)
    #expect(bench.lines() == [result(1, #"{"seq":1}"#)])
    bench.table.advance(to: 2)
    #expect(bench.lines() == [result(2, #"{"seq":2}"#), result(3)])
    bench.table.advance(to: 3)
    #expect(bench.lines() == [result(4, #"{"seq":3}"#), result(5)])
  }

  @Test
  func `the bytes of held answers are limited`() {
    var written = 0
    bench.methods["write"] = { [unowned bench] call in
      written += 1
      bench.connection.recordWrite(upTo: UInt64(written))
      let filler = String(repeating: "x", count: 60_000)
      call.answer(after: UInt64(written)) { $0.append(quoted: filler) }
      return .done
    }
    for i in 0..<100 { bench.receive(request(i, "write")) }
    #expect(written == 18)  // 1 MiB
    bench.table.advance(to: 18)
    #expect(bench.lines().count == 18)
    #expect(written > 18)
    bench.methods["write"] = nil
  }

  @Test
  func `a batch keeps the answers that fit, and replaces each other one by an error`() throws {
    bench.methods["long"] = { call in
      call.answer { $0.append(quoted: String(repeating: "x", count: 20_000)) }
      return .done
    }
    let requests = (1...10).map { #"{"id":\#($0),"method":"\#($0 % 2 == 0 ? "long" : "echo")"}"# }
    bench.receive("[\(requests.joined(separator: ","))]\n")
    let lines = bench.lines()
    try #require(lines.count == 1)
    #expect(lines[0].utf8.count < 65_536)
    guard case .array(let answers) = try JSONValue(parsing: lines[0]) else {
      Issue.record("no array")
      return
    }
    #expect(answers.count == 10)
    for (i, answer) in answers.enumerated() {
      let isLeftOut = answer.text.text.contains(#""name":"result_too_large""#)
      #expect(isLeftOut == (i % 2 == 1 && i > 5))
    }
  }
}
