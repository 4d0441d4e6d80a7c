@testable import Connections
import EventLoop
import Glibc
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

/// Long answers, which are kept and sent in pieces.
@Suite(.leavesNothing)
struct LongAnswerTests {
  private let bench: Bench
  private let values: [JSONText]

  init() {
    bench = Bench {
      $0.lineOut = 16 << 20
      $0.outputSoft = 16 << 20
      $0.outputHard = 64 << 20
    }
    values = (0..<40).map { i in
      JSONText(string: String(repeating: "\(i % 10)", count: i % 3 == 0 ? 40 : 100_000 + i))
    }
    let values = values
    bench.methods["long"] = { call in
      call.answerInPieces { Self.write(values, to: &$0) }
      return .done
    }
  }

  private static func write(_ values: [JSONText], to buffer: inout PieceBuffer) {
    buffer.tail.append("{")
    for value in values { buffer.member("value", value) }
    buffer.tail.append("}")
  }

  /// The result as it is written without pieces.
  private var whole: String {
    "{" + values.map { #""value":\#($0.text)"# }.joined(separator: ",") + "}"
  }

  /// Returns the lines of many turns, in which the socket takes as much as `room` says.
  private func lines(_ room: (Int) -> Int) -> [String] {
    for turn in 0..<20_000 {
      bench.table.flush()
      guard bench.connection.outputBytes > 0 else { break }
      bench.transport.room = room(turn)
      bench.connection.becameWritable()
    }
    bench.transport.room = .max
    return bench.lines()
  }

  @Test
  func `a long answer is the same as one that is written at once, in any parts`() {
    var random = SystemRandomNumberGenerator()
    for most in [1_000, 30_000, 100_001, 1_000_000] {
      bench.transport.room = 10
      bench.receive(request(1) + request(2, "long") + request(3))
      let lines = lines { _ in Int.random(in: 1...most, using: &random) }
      #expect(lines == [result(1), result(2, whole), result(3)])
    }
  }

  @Test
  func `a batch of long answers is the same as one that is written at once`() {
    bench.transport.room = 10
    bench.receive(
      #"[{"id":1,"method":"long"},{"id":2,"method":"echo"},{"id":3,"method":"long"}]"# + "\n"
        + request(4))
    let lines = lines { 50_000 + $0 }
    #expect(lines == ["[\(result(1, whole)),\(result(2)),\(result(3, whole))]", result(4)])
  }

  @Test
  func `a client that reads at once gets a long answer in several turns`() {
    bench.receive(request(1, "long"))
    bench.table.flush()
    #expect(bench.connection.outputBytes > whole.utf8.count / 2)
    #expect(lines { _ in .max } == [result(1, whole)])
  }

  @Test
  func `the text of a long value is shared`() {
    var buffer = PieceBuffer()
    let value = values[1]
    buffer.append(value)
    let isShared = buffer.withFirst { bytes in
      unsafe bytes.withUnsafeBufferPointer { sent in
        unsafe value.text.utf8.span.withUnsafeBufferPointer { text in
          unsafe sent.baseAddress == text.baseAddress
        }
      }
    }
    #expect(isShared)
    #expect(buffer.count == value.text.utf8.count)
  }

  @Test
  func `a long answer counts towards the memory of the user until it is sent`() {
    let size = result(1, whole).utf8.count + 1
    bench.transport.room = 0
    bench.receive(request(1, "long"))
    bench.table.flush()
    #expect(bench.connection.outputBytes == size)
    #expect(bench.connection.user.bufferedBytes == size)
    #expect(lines { _ in .max } == [result(1, whole)])
    #expect(bench.connection.user.bufferedBytes == 0)
  }

  @Test
  func `a long answer keeps its place behind a write that is not durable`() {
    bench.offerCommands()
    bench.receive(request(1, "write") + request(2, "long") + request(3))
    #expect(bench.lines().isEmpty)
    bench.table.advance(to: 1)
    #expect(lines { _ in .max } == [result(1, #"{"seq":1}"#), result(2, whole), result(3)])
  }

  @Test
  func `a late long answer is sent whole`() throws {
    var late: Call?
    bench.methods["late"] = { call in
      late = call.later()
      return .done
    }
    bench.receive(request(1, "late") + request(2))
    #expect(bench.lines() == [result(2)])
    try #require(late).answerInPieces { Self.write(values, to: &$0) }
    #expect(lines { _ in .max } == [result(1, whole)])
  }

  @Test
  func `an answer in pieces that is too long for the client becomes an error`() {
    bench.connection.lineOut = 1 << 20
    bench.receive(request(1, "long") + #"[{"id":2,"method":"long"}]"# + "\n" + request(3))
    let lines = bench.lines()
    #expect(lines.count == 3)
    #expect(lines[0].contains("result_too_large"))
    #expect(lines[1].contains("result_too_large"))
    #expect(lines[2] == result(3))
  }

  @Test
  func `the next daemon sends the rest of a long answer`() throws {
    let handover = try Handover(slots: 8, generation: 1, epoch: "e", scheduler: bench.time)
    bench.table.context.handover = handover
    defer { bench.table.context.handover = nil }
    let connection = bench.table.connect(Peer(uid: 1, pid: 3, groups: [2]))
    defer { connection.end() }
    let transport = FakeTransport()
    connection.handler = bench.connection.handler
    connection.start(transport)
    bench.time.advance(1_000)
    let line = Array((result(1, whole) + "\n").utf8)
    let sent = line.count - 150_000
    transport.room = sent
    transport.recorder.sent(Array(request(1, "long").utf8))
    connection.receive(Array(request(1, "long").utf8).span)
    while bench.table.flush() {}
    let memory = try HandoverConnections(
      in: SharedMemory(adopting: dup(handover.shared.descriptor)))
    let kept = try #require(memory.connection(connection.id))
    let isRight = (transport.bytes + kept.output).elementsEqual(line)
    #expect(isRight, "the two parts are not the line")
    #expect(kept.output.count == 150_000)
  }
}
