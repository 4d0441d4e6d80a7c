import Glibc
import JSON
import Testing

/// An `atomic` takes effect completely or not at all, also if the daemon is killed.
struct AtomicTests {
  /// The number of calls: more events than the journal's writer takes at once.
  private static let size = 200

  /// Returns an `atomic` that increments two cells in turn and appends to a list at its end.
  private func atomic(_ command: Int) -> String {
    let adds = (0..<Self.size).map { i in
      #"{"method":"cells.add","params":["\#(i % 2 == 0 ? "a" : "b")"]}"#
    }
    let append = #"{"method":"lists.append","params":["l",\#(command)]}"#
    return #"{"id":\#(command),"method":"atomic","params":{"calls":["#
      + (adds + [append]).joined(separator: ",") + #"],"_meta":{"cmd":"c\#(command)"}}}"#
  }

  private func value(_ source: String, _ client: TestSocket) throws -> JSONValue? {
    try client.result(#"{"id":1,"method":"get","params":["\#(source)"]}"#)["value"]
  }

  @Test
  func `15: a kill never leaves a partial atomic, and each runs once`() throws {
    let daemon = try DaemonProcess()
    var (last, open) = (0, [Int]())
    for round in 0..<25 {
      let client = try TestSocket(daemon.socket)
      open += (last + 1)...(last + 8)
      last += 8
      for command in open { try client.send(atomic(command)) }
      for _ in 0..<Int.random(in: 0...6) where round % 3 > 0 {
        let line = try #require(try client.line())
        let command = try #require(open.first)
        #expect(line.contains(#""id":\#(command),"result""#), "\(line.suffix(200))")
        open.removeFirst()
      }
      usleep(UInt32.random(in: 0..<3_000))
      daemon.end(SIGKILL)
      while let line = try? client.line(), let command = open.first,
        line.contains(#""id":\#(command),"result""#)
      { open.removeFirst() }
      client.close()

      try daemon.start()
      let reader = try TestSocket(daemon.socket)
      var done = 0
      if case .array(let elements)? = try value("lists/l", reader) { done = elements.count }
      let count = try value("cells/a", reader)
      #expect(count == (done == 0 ? nil : .number(JSONNumber(done * Self.size / 2))))
      #expect(try value("cells/b", reader) == count)
      #expect(done >= last - open.count, "what was answered is there")
      reader.close()
    }
    let client = try TestSocket(daemon.socket)
    for command in open {
      let answer = try client.result(atomic(command))
      #expect(answer["events"] == .number(JSONNumber(Self.size + 1)))
    }
    let all = (1...last).map { JSONValue.number(JSONNumber($0)) }
    #expect(try value("lists/l", client) == .array(all), "each once, in order")
    client.close()
    #expect(daemon.end() == 0)
  }

  @Test
  func `a repeated cmd gets the same answer after a crash`() throws {
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket)
    let first = try client.result(atomic(1))
    client.close()
    try daemon.killAndStart()
    let again = try TestSocket(daemon.socket)
    var expected = first
    expected["replayed"] = .bool(true)
    #expect(try again.result(atomic(1)) == expected)
    again.close()
    #expect(daemon.end() == 0)
  }
}
