import Glibc
import JSON
import Testing

/// Inputs and faults that the daemon must survive, made to happen over its socket.
///
/// After each of them it answers a new client and an old one, and is as large as before.
@Suite(.serialized)
struct FaultTests {
  let daemon: DaemonProcess
  let old: TestSocket

  init() throws {
    daemon = try DaemonProcess()
    old = try TestSocket(daemon.socket)
    _ = try old.call(#"{"id":0,"method":"ping"}"#)
  }

  /// What must hold after every fault.
  private func checkWellBeing() throws {
    let new = try TestSocket(daemon.socket)
    for client in [old, new] {
      #expect(try client.call(#"{"id":1,"method":"ping"}"#).contains(#""last":"#))
    }
    new.close()
    try waitUntil { try stats("connections") == 1 }
    #expect(daemon.log.contains("notice: binderd"))
  }

  private func stats(_ name: String) throws -> Int {
    guard
      case .object(let stats)? = try old.result(#"{"id":1,"method":"stats"}"#)["stats"],
      case .number(let number)? = stats[name]
    else { return -1 }
    return Int(number.int64 ?? -1)
  }

  private func waitUntil(_ condition: () throws -> Bool) throws {
    for _ in 0..<2_000 {
      if try condition() { return }
      usleep(5_000)
    }
    Issue.record("it does not come to that")
  }

  private func errorName(_ line: String?) -> String? {
    guard let line, case .object(let frame)? = try? JSONValue(parsing: line),
      case .object(let error)? = frame["error"], case .object(let data)? = error["data"],
      case .string(let name)? = data["name"]
    else { return nil }
    return name
  }

  // MARK: 1 to 9: what is not a request

  @Test
  func `1: an endless line costs no memory, and says so once`() throws {
    let before = daemon.residentBytes
    let client = try TestSocket(daemon.socket)
    let chunk = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
    for _ in 0..<8 { try client.send(bytes: chunk) }
    #expect(errorName(try client.line()) == "line_too_long")
    #expect(client.isSilent())
    try client.send("")
    #expect(try client.call(#"{"id":1,"method":"ping"}"#).contains(#""id":1"#))
    #expect(throws: (any Error).self) { for _ in 0..<1024 { try client.send(bytes: chunk) } }
    #expect(try client.line()?.contains("line_too_long") == true)
    #expect(try client.line()?.contains(#""reason":"line_timeout","limit":"flood""#) == true)
    #expect(DaemonProcess.isSanitized || daemon.residentBytes - before < 2 << 20)
    client.close()
    try checkWellBeing()
  }

  @Test
  func `3 to 5: bytes that are not UTF-8, surrogates alone, NUL`() throws {
    let client = try TestSocket(daemon.socket)
    for bad: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x00]] {
      try client.send(
        bytes: Array(#"{"id":1,"method":"cells.set","params":["a",""#.utf8) + bad
          + Array("\"]}\n".utf8))
      #expect(errorName(try client.line()) == "parse_error")
    }
    #expect(try errorName(client.call("\u{FEFF}{}")) == "parse_error")
    #expect(
      try errorName(client.call(#"{"id":1,"method":"cells.set","params":["a","\udc00"]}"#))
        == "parse_error")
    #expect(
      try errorName(client.call(#"{"id":1,"method":"cells.set","params":["a\u0000",1]}"#))
        == "invalid_params")
    #expect(
      try client.call(#"{"id":1,"method":"cells.set","params":["a","x\u0000y"]}"#)
        .contains(#""value":"x\u0000y""#))
    #expect(
      try client.call(#"{"id":1,"method":"get","params":["cells/a"]}"#)
        .contains(#""value":"x\u0000y""#))
    client.close()
    try checkWellBeing()
  }

  @Test
  func `6 to 8: nesting, many members, strange numbers`() throws {
    let client = try TestSocket(daemon.socket)
    let deep = String(repeating: "[", count: 100_000)
    #expect(try errorName(client.call(deep)) == "parse_error")
    #expect(
      try errorName(
        client.call(
          #"{"id":1,"method":"cells.set","params":["a",\#(String(repeating: #"{"a":"#, count: 100_000))"#
        )) == "parse_error")
    let many = (0..<5_000).map { #""m\#($0)":0"# }.joined(separator: ",")
    #expect(
      try errorName(client.call(#"{"id":1,"method":"cells.set","params":["a",{\#(many)}]}"#))
        == "parse_error")
    for number in ["1e400", "NaN", "01", String(repeating: "9", count: 65)] {
      #expect(
        try errorName(client.call(#"{"id":1,"method":"cells.set","params":["a",\#(number)]}"#))
          == "parse_error", "\(number)")
    }
    for number in ["-0", "1E+2", "9007199254740993", "18446744073709551616", "0.10"] {
      let answer = try client.call(#"{"id":1,"method":"cells.set","params":["a",\#(number)]}"#)
      #expect(answer.contains(#""value":\#(number),"#), "kept to the digit")
    }
    client.close()
    try checkWellBeing()
  }

  @Test
  func `9: other protocols and noise end after sixteen bad lines`() throws {
    let http = try TestSocket(daemon.socket)
    try http.send("GET / HTTP/1.1", "Host: x", "", "")
    #expect(errorName(try http.line()) == "parse_error")
    let noise = try TestSocket(daemon.socket)
    for _ in 0..<17 { _ = noise.sendNow([0x16, 0x03, 0x01, 0x80, 0x0A]) }
    let lines = try noise.lines()
    #expect(lines.count == 17)
    #expect(
      lines.last?.contains(#""reason":"protocol_abuse","limit":"bad_lines","max":16"#) == true)
    http.close()
    try checkWellBeing()
  }

  // MARK: 10: half-close

  @Test
  func `10: a client that ends its side gets what it asked for, with and without a last LF`() throws
  {
    let set = #"{"id":1,"method":"cells.set","params":["a",1]}"#
    for text in [set + "\n", set, set + "\n" + #"{"id":2,"method":"get","params":["cells/a"]}"#] {
      let client = try TestSocket(daemon.socket)
      try client.send(bytes: Array(text.utf8))
      client.finish()
      #expect(try client.lines().count == text.split(separator: "\n").count)
    }
    let cut = try TestSocket(daemon.socket)
    try cut.send(bytes: Array(set.dropLast(3).utf8))
    cut.finish()
    #expect(try cut.lines().map { errorName($0) } == ["parse_error"])
    let nothing = try TestSocket(daemon.socket)
    nothing.finish()
    #expect(try nothing.lines().isEmpty)
    try checkWellBeing()
  }

  @Test
  func `10: a subscriber that ends its side goes on hearing, and its leaving is noticed`() throws {
    let client = try TestSocket(daemon.socket)
    try client.send(
      bytes: Array(#"{"id":1,"method":"subscribe","params":["cells/a"]}"#.utf8))
    client.finish()
    #expect(try client.line()?.contains(#""sub":1"#) == true)
    _ = try old.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    #expect(try client.line()?.contains(#""value":1"#) == true)
    let before = daemon.processorSeconds
    usleep(200_000)
    #expect(daemon.processorSeconds - before < 0.1, "the loop spins after a half-close")
    #expect(try stats("subscriptions") == 1)
    client.close()
    try waitUntil { try stats("subscriptions") == 0 }
    try checkWellBeing()
  }

  @Test
  func `10: clients that vanish while they are answered`() throws {
    let lines = Array(
      String(repeating: #"{"id":1,"method":"cells.list"}"# + "\n", count: 200).utf8)
    for i in 0..<100 {
      let client = try TestSocket(daemon.socket)
      _ = client.sendNow(lines)
      if i % 2 == 0 { client.finish() }
      client.close()
    }
    try checkWellBeing()
  }

  // MARK: 11, 12: greed

  @Test
  func `11: a client that asks and never reads costs what it may, and others feel nothing`() throws
  {
    let text = String(repeating: "x", count: 50_000)
    _ = try old.call(#"{"id":1,"method":"cells.set","params":["big","\#(text)"]}"#)
    let before = daemon.residentBytes
    let greedy = try TestSocket(daemon.socket)
    try greedy.send(
      #"{"id":1,"method":"subscribe","params":{"source":"cells/**","sub":"a"}}"#,
      #"{"id":2,"method":"subscribe","params":{"source":"events","sub":"b"}}"#,
      #"{"id":3,"method":"subscribe","params":{"source":"cells/big","sub":"c","mode":"every"}}"#)
    let asks = Array(
      String(repeating: #"{"id":4,"method":"get","params":["cells/big"]}"# + "\n", count: 100).utf8)
    for i in 0..<400 {
      _ = greedy.sendNow(asks)
      _ = try old.call(#"{"id":1,"method":"cells.set","params":["big","\#(i)\#(text)"]}"#)
    }
    #expect(DaemonProcess.isSanitized || daemon.residentBytes - before < 24 << 20)
    greedy.close()
    try checkWellBeing()
  }

  @Test
  func `12: subscriptions by the ten thousand, one answer each, and none is left`() throws {
    let client = try TestSocket(daemon.socket)
    let pair =
      #"{"id":1,"method":"subscribe","params":{"source":"cells/a","sub":"s"}}"# + "\n"
      + #"{"id":2,"method":"unsubscribe","params":{"sub":"s"}}"# + "\n"
    let pairs = Array(String(repeating: pair, count: 100).utf8)
    for _ in 0..<100 {
      try client.send(bytes: pairs)
      for i in 0..<200 {
        let line = try client.line() ?? ""
        #expect(line.contains(i % 2 == 0 ? #""id":1,"result""# : #""was":"active""#))
      }
    }
    for i in 0..<300 {
      let answer = try client.call(#"{"id":1,"method":"subscribe","params":["cells/a\#(i)"]}"#)
      #expect(errorName(answer) == (i < 256 ? nil : "limit_reached"))
    }
    #expect(
      try errorName(client.call(#"{"id":1,"method":"unsubscribe","params":[1]}"#)) == nil)
    #expect(
      try errorName(
        client.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/a","sub":2}}"#))
        == "already_exists")
    #expect(try stats("subscriptions") == 255)
    client.close()
    try waitUntil { try stats("subscriptions") == 0 }
    try checkWellBeing()
  }

  // MARK: 13, 14: crowds

  @Test
  func `13: more clients than there are descriptors are told so and turned away`() throws {
    let small = try DaemonProcess(
      wrapper: ["sh", "-c", #"ulimit -n 100; exec "$0" "$@""#])
    var clients: [TestSocket] = []
    for _ in 0..<60 { clients.append(try TestSocket(small.socket)) }
    var refused = 0
    for client in clients {
      try? client.send(#"{"id":1,"method":"ping"}"#)
      guard let line = try client.line() else { continue }
      if line.contains(#""reason":"too_many_connections""#) {
        refused += 1
        #expect(line.contains(#""limit":"connections","max":36,"#))
        #expect(try client.line() == nil)
      }
    }
    #expect(refused == 60 - 36, "64 descriptors are kept for the daemon itself")
    let before = small.processorSeconds
    usleep(200_000)
    #expect(small.processorSeconds - before < 0.1)
    clients.removeFirst(40)
    var isServed = false
    for _ in 0..<200 where !isServed {
      let client = try TestSocket(small.socket)
      isServed = try client.call(#"{"id":1,"method":"ping"}"#).contains(#""id":1"#)
      usleep(5_000)
    }
    #expect(isServed)
    clients = []
    #expect(small.end() == 0)
    try checkWellBeing()
  }

  @Test
  func `14: a storm of clients leaves nothing behind`() throws {
    let subscribe = Array(
      (#"{"id":1,"method":"subscribe","params":["cells/a"]}"# + "\n"
        + #"{"id":2,"method":"subscribe","params":{"source":"cells/**","mode":"every"}}"# + "\n")
        .utf8)
    func storm(_ count: Int) throws {
      for i in 0..<count {
        let client = try TestSocket(daemon.socket)
        _ = client.sendNow(subscribe)
        // Some leave before they are answered, some after, some in the middle of a line.
        if i % 3 == 0 { _ = try client.line() }
        if i % 5 == 0 { _ = client.sendNow(Array(#"{"id":3,"#.utf8)) }
        client.close()
      }
      try waitUntil { try stats("connections") == 1 && stats("subscriptions") == 0 }
    }
    try storm(10_000)
    let (descriptors, memory) = (daemon.descriptors, daemon.residentBytes)
    try storm(DaemonProcess.isSanitized ? 10_000 : 100_000)
    #expect(daemon.descriptors == descriptors)
    #expect(DaemonProcess.isSanitized || daemon.residentBytes - memory < 1 << 20)
    try checkWellBeing()
  }
}
