import API
import Configuration
import Connections
import EventSourcing
import JSON
import JournalMemory
import Model
import TestSupport
import Testing

@testable import Wire

/// Requests that are read by their shape have the same effects as those that the general scan reads, and
/// as those whose parameters are decoded.
///
/// The lines of all transcripts of the protocol, as they are and with changed bytes, are run by three
/// daemons. One of them has only the general scan, another one decodes all parameters. Answers and events
/// are compared byte for byte.
@Suite(.leavesNothing)
struct TwoReadersTests {
  private static let directory = #filePath.replacing(
    "Tests/APITests/TwoReadersTests.swift", with: "Protocol/transcripts")

  /// The sent lines of a transcript.
  private static func lines(of name: String) -> [[UInt8]] {
    Files.text(of: "\(directory)/\(name)").split(separator: "\n").compactMap { line in
      guard !line.hasPrefix("#"), let arrow = line.firstRange(of: "-> ") else { return nil }
      return Array(line[arrow.upperBound...].utf8)
    }
  }

  /// Values for cells, most of which are unusual.
  private static let values = [
    "0", "-0", "1E400", "0.1e-7", "1.", "01", "+1", ".5", "-", "NaN", "truE", "nul", "[]", "[1,]",
    "[", "{}", #"{"a":}"#, #"{"a":1,"a":2}"#, #"{"a":1,}"#, #""\u00e9""#, #""\ud83d\ude00""#,
    #""\ud83d""#, #""\x""#, "\"\u{7F}\"", "\"\u{1F}\"", "\"é\u{80}\"", #""\\\"""#, " 1 ", "\t[ 1 ]",
    #"{"a" : [ { "b" : null } ] }"#, "1 2", "", "\"", #""a"b"#, "123456789012345678901234567890",
    String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
  ]

  /// The beginnings and ends of requests around a value that a method reads without a decoder.
  private static let plain = [
    (#"{"id":1,"method":"cells.add","params":{"name":"n","by":"#, "}}"),
    (#"{"id":1,"method":"cells.toggle","params":{"name":"#, "}}"),
    (#"{"id":1,"method":"lists.append","params":{"name":"l","value":"#, "}}"),
    (#"{"id":1,"method":"maps.put","params":{"name":"m","key":"#, #","value":1}}"#),
    (#"{"id":1,"method":"publish","params":{"source":"a/b","value":"#, #","keep":false}}"#),
    (#"{"id":1,"method":"ack","params":{"sub":1,"seq":"#, "}}"),
    (#"{"id":1,"method":"get","params":["#, "]}"),
    (#"{"id":1,"method":"cells.set","params":["n","#, "]}"),
    (#"{"id":1,"method":"cells.add","params":["n","#, "]}"),
    (#"{"id":1,"method":"cells.toggle","params":["n","#, "]}"),
    (#"{"id":1,"method":"lists.append","params":["l","#, "]}"),
    (#"{"id":1,"method":"maps.put","params":["m","#, ",1]}"),
    (#"{"id":1,"method":"publish","params":["a/b","#, ",false]}"),
    (#"{"id":1,"method":"todo.add","params":["#, "]}"),
    (#"{"id":1,"method":"todo.rename","params":{"id":1,"title":"#, "}}"),
    (#"{"id":1,"method":"todo.rename","params":[1,"#, "]}"),
    (#"{"id":1,"method":"hello","params":["#, "]}"),
  ]

  /// The beginnings and ends of an `atomic` around a part of it.
  private static let atomics = [
    (#"{"id":1,"method":"atomic","params":{"calls":"#, "}}"),
    (#"{"id":1,"method":"atomic","params":["#, "]}"),
    (#"{"id":1,"method":"atomic","params":{"calls":["#, "]}}"),
    (#"{"id":1,"method":"atomic","params":{"calls":[{"method":"#, "}]}}"),
    (#"{"id":1,"method":"atomic","params":{"calls":[{"method":"cells.toggle","params":"#, "}]}}"),
    (
      #"{"id":1,"method":"atomic","params":{"calls":[{"method":"cells.set","params":{"name":"q","value":"#,
      "}}]}}"
    ),
    (
      #"{"id":1,"method":"atomic","params":{"calls":[{"method":"cells.add","params":["n","#,
      "]}]}}"
    ),
    (
      #"{"id":1,"method":"atomic","params":{"calls":[{"params":{"title":"#,
      #"},"method":"todo.add"}]}}"#
    ),
    (
      #"{"id":1,"method":"atomic","params":{"calls":[{"method":"cells.toggle","params":["n"]}],"if":"#,
      "}}"
    ),
    (
      #"{"id":1,"method":"atomic","params":{"calls":[{"method":"cells.toggle","params":["n"]}],"_meta":"#,
      "}}"
    ),
    (
      #"{"id":1,"method":"atomic","params":{"calls":[{"method":"cells.toggle","params":{"name":"n","_meta":"#,
      "}}]}}"
    ),
    (
      #"{"id":1,"method":"atomic","params":{"calls":[{"jsonrpc":"2.0","method":"cells.toggle","params":["n"],"id":"#,
      "}]}}"
    ),
  ]

  /// Parts of an `atomic`.
  private static let parts =
    values + [
      #""cells.toggle""#, #""cells.t\u006fggle""#, #""ping""#, #""nothing.here""#, "[]", #"["n"]"#,
      #"["n",1]"#, #"{"name":"n"}"#, #"{"n\u0061me":"n"}"#, #"{"name":"n","name":"n"}"#,
      #"{"name":"n","more":1}"#, #"["cells/n >= 0"]"#, #"["cells/n < -1"]"#, #"["no condition"]"#,
      #"{"cmd":"c1"}"#, #"{"cmd":1}"#, #"{"unknown":1}"#,
      #"{"method":"cells.set","params":{"value":1,"name":"r"}},{"method":"cells.remove","params":["r"]}"#,
      #"{"method":"todo.add","params":["a title"]},{"method":"lists.append","params":["l",null]}"#,
      #"[{"method":"cells.toggle","params":["n"]}]"#,
      #"[{"method":"cells.toggle","method":"ping","params":["n"]}]"#,
    ]

  private static let all: [[UInt8]] =
    Files.names(in: directory).flatMap(lines)
    + plain.flatMap { head, tail in values.map { Array((head + $0 + tail).utf8) } }
    + values.map {
      Array(#"{"id":1,"method":"cells.set","params":{"name":"v","value":\#($0)}}"#.utf8)
    }
    + values.map { Array(#"{"id":\#($0),"method":"ping"}"#.utf8) }
    + atomics.flatMap { head, tail in parts.map { Array((head + $0 + tail).utf8) } }

  // MARK: The daemons

  /// The way in which a daemon reads requests.
  private enum Way {
    /// By their shape, if they have a usual one.
    case usual
    /// By the general scan.
    case general
    /// By the general scan; all parameters are decoded.
    case decoded
  }

  /// Reads lines in one way, and counts those that are read by their shape.
  private final class Reader: RequestHandler {
    let inner: any RequestHandler
    let way: Way
    var shaped = 0

    init(_ inner: any RequestHandler, _ way: Way) { (self.inner, self.way) = (inner, way) }

    func read(
      _ line: Span<UInt8>, into request: inout Request, idBytes: Int
    ) throws(Request.Fault) {
      guard way == .usual else {
        request = try Request(parsing: line, idBytes: idBytes)
        if way == .decoded { request.parameters = .unread }
        return
      }
      try inner.read(line, into: &request, idBytes: idBytes)
      if request.shape != nil { shaped += 1 }
    }

    func handle(_ call: Call, _ request: Request, _ line: Span<UInt8>) -> Connection.Parking? {
      inner.handle(call, request, line)
    }
  }

  private final class Socket: Transport {
    var bytes: [UInt8] = []
    var isClosed = false

    func send(_ bytes: Span<UInt8>) -> Int? {
      for i in bytes.indices { self.bytes.append(bytes[i]) }
      return bytes.count
    }

    func setReading(_ isReading: Bool) {}
    func close() { isClosed = true }
  }

  /// Runs lines, some at a time, and returns what the client gets, and the events.
  private func outcome(
    of chunks: [[[UInt8]]], _ way: Way
  ) throws -> (outputs: [String], shaped: Int) {
    let whole = try WholeBench()
    let bench = whole.bench
    var outputs: [String] = []
    var shaped = 0
    func client() -> (connection: Connection, socket: Socket, reader: Reader?) {
      let connection = bench.table.connect(Peer(uid: 1000, pid: 42, groups: [100]))
      bindConnection(connection, to: bench.rights[.owner])
      let reader = connection.handler.map { Reader($0, way) }
      connection.handler = reader
      let socket = Socket()
      connection.start(socket)
      return (connection, socket, reader)
    }
    func readAnswers(_ socket: Socket) {
      for _ in 0..<8 {
        bench.store.commit()
        bench.store.read()
        bench.table.flush()
      }
      outputs.append(String(decoding: socket.bytes, as: UTF8.self))
      socket.bytes = []
    }
    for chunk in chunks {
      let (connection, socket, reader) = client()
      let bytes = chunk.flatMap { $0 + [UInt8(ascii: "\n")] }
      connection.receive(bytes.span)
      readAnswers(socket)
      connection.end()
      readAnswers(socket)
      shaped += reader?.shaped ?? 0
    }
    let (connection, socket, _) = client()
    var after = 0
    repeat {
      let line =
        #"{"id":"events","method":"history","params":{"source":"events","#
        + #""after":\#(after),"limit":1000,"who":true}}"#
      let bytes = Array((line + "\n").utf8)
      connection.receive(bytes.span)
      readAnswers(socket)
      after += 1000
    } while after < bench.host.last
    connection.end()
    return (outputs, shaped)
  }

  /// An output without the time that a trial took, which no two runs have in common.
  private func withoutDurations(_ output: String) -> String {
    output.replacing(#/"milliseconds":\d+/#, with: #""milliseconds":0"#)
  }

  /// Whether two outputs have the same bytes, but for durations and the order of the keys of a map,
  /// which has none.
  private func isSame(_ left: String, _ right: String) -> Bool {
    let (left, right) = (withoutDurations(left), withoutDurations(right))
    guard left != right else { return true }
    let (lines, others) = (left.split(separator: "\n"), right.split(separator: "\n"))
    return lines.count == others.count
      && zip(lines, others).allSatisfy { line, other in
        line == other
          || line.contains("maps/") && line.utf8.count == other.utf8.count
            && (try? JSONValue(parsing: String(line))) == (try? JSONValue(parsing: String(other)))
      }
  }

  private func compare(_ chunks: [[[UInt8]]]) throws -> Int {
    let usual = try outcome(of: chunks, .usual)
    for way in [Way.general, .decoded] {
      let other = try outcome(of: chunks, way)
      #expect(usual.outputs.count == other.outputs.count)
      for (i, (left, right)) in zip(usual.outputs, other.outputs).enumerated()
      where !isSame(left, right) {
        let lines = i / 2 < chunks.count ? chunks[i / 2] : []
        let sent = lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
        Issue.record("\(sent)\nusual: \(left)\n\(way): \(right)")
        break
      }
    }
    return usual.shaped
  }

  // MARK: Tests

  @Test
  func `all requests of the protocol have the same effect, whichever reader reads them`() throws {
    let chunks = stride(from: 0, to: Self.all.count, by: 7).map {
      Array(Self.all[$0..<min($0 + 7, Self.all.count)])
    }
    #expect(try compare(chunks) > Self.all.count / 4)
  }

  @Test(arguments: 1...6)
  func `changed requests have the same effect, whichever reader reads them`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let chunks = (0..<150).map { _ in
      (0..<Int.random(in: 1...6, using: &random)).map { _ in
        var line = Self.all.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 0...3, using: &random) { Self.change(&line, &random) }
        return line
      }
    }
    #expect(try compare(chunks) > 30)
  }

  /// Changes, adds, removes or swaps a byte.
  private static func change(_ line: inout [UInt8], _ random: inout SeededRandom) {
    guard line.count > 1 else { return }
    let i = Int.random(in: line.indices, using: &random)
    let bytes = Array("{}[]\",:\\0123456789.-eabnmtru \t\r\u{1}\u{7F}é".utf8)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: line[i] = bytes.randomElement(using: &random) ?? 0
    case 1: line.insert(bytes.randomElement(using: &random) ?? 0, at: i)
    case 2: line.remove(at: i)
    default: line.swapAt(i, Int.random(in: line.indices, using: &random))
    }
  }
}
