import Glibc
import JSON
import Testing

/// Rows 1 and 3 to 9 of the faults: lines that are not requests; row 2 is in PatienceTests.
struct LineFaultTests {
  let bench: FaultBench
  let client: TestSocket

  init() throws {
    bench = try FaultBench()
    client = try TestSocket(bench.daemon.socket)
  }

  private func finish() throws {
    #expect(try client.call(#"{"id":"end","method":"ping"}"#).contains(#""id":"end","result""#))
    client.close()
    try bench.checkWellBeing()
  }

  /// Sets a cell to a JSON text, written verbatim, and returns the line of the answer.
  private func set(_ value: String) throws -> String {
    try client.call(#"{"id":1,"method":"cells.set","params":["a",\#(value)]}"#)
  }

  @Test
  func `1: an endless line costs no memory, and gets one error`() throws {
    let before = bench.daemon.residentBytes
    let chunk = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
    for _ in 0..<8 { try client.send(bytes: chunk) }
    #expect(errorName(try client.line()) == "line_too_long")
    #expect(client.isSilent())
    try client.send("")
    #expect(try client.call(#"{"id":1,"method":"ping"}"#).contains(#""id":1"#))
    let flood = try TestSocket(bench.daemon.socket)
    #expect(throws: (any Error).self) { for _ in 0..<1024 { try flood.send(bytes: chunk) } }
    #expect(try flood.line()?.contains("line_too_long") == true)
    #expect(try flood.line()?.contains(#""reason":"line_timeout","limit":"flood""#) == true)
    // Of a gibibyte; malloc keeps up to 8 MiB for the next long line.
    try bench.waitUntil("memory is as before") {
      DaemonProcess.isSanitized || bench.daemon.residentBytes - before < 12 << 20
    }
    flood.close()
    try finish()
  }

  @Test
  func `3: bytes that are not UTF-8 are refused with their place, and not logged`() throws {
    let head = Array(#"{"id":1,"method":"cells.set","params":["a",""#.utf8)
    let bad: [[UInt8]] = [
      [0xFF], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xC3],
    ]
    for bytes in bad {
      try client.send(bytes: head + bytes + Array("\"]}\n".utf8))
      let error = error(try client.line())
      #expect(error?["name"] == .string("parse_error"))
      #expect(error?["offset"] == .number(JSONNumber(head.count)), "\(bytes)")
    }
    #expect(try errorName(client.call("\u{FEFF}{}")) == "parse_error")
    try client.send(bytes: [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00, 0x0A])  // UTF-16
    #expect(errorName(try client.line()) == "parse_error")
    // A terminal control sequence.
    _ = try client.call(
      #"{"id":1,"method":"hello","params":{"client":{"name":"\u001b]0;x\u0007","version":"\u009b"}}}"#
    )
    #expect(try errorName(client.call(#"{"id":1,"method":"\u001b[2J"}"#)) == "method_not_found")
    try finish()
  }

  @Test(arguments: [#"\ud800"#, #"\udc00"#, #"\udc00\ud800"#, #"\ud800x"#, #"\ud800\ud800"#])
  func `4: surrogates alone or inverted are refused, in keys as well as in values`(
    text: String
  ) throws {
    for value in [#""\#(text)""#, #"{"\#(text)":1}"#, #"[{"a":"\#(text)"}]"#] {
      let error = error(try set(value))
      #expect(error?["name"] == .string("parse_error"))
      #expect(
        error?["why"]?.text.text.contains("surrogate") == true, "\(error?["why"]?.text.text ?? "")")
    }
    #expect(try set(#""\ud83d\ude00""#).contains("result"))
    try finish()
  }

  @Test
  func `5: NUL is refused raw, preserved when escaped, and refused in names`() throws {
    try client.send(
      bytes: Array(#"{"id":1,"method":"cells.set","params":["a",""#.utf8) + [0]
        + Array("\"]}\n".utf8))
    #expect(errorName(try client.line()) == "parse_error")
    try client.send(bytes: [0x00, 0x0A])
    #expect(errorName(try client.line()) == "parse_error")
    #expect(try set(#""x\u0000y""#).contains(#""value":"x\u0000y""#))
    #expect(
      try client.call(#"{"id":1,"method":"get","params":["cells/a"]}"#)
        .contains(#""value":"x\u0000y""#))
    for request in [
      #"{"id":1,"method":"cells.set","params":["a\u0000",1]}"#,
      #"{"id":1,"method":"subscribe","params":{"source":"cells/a","sub":"x\u0000"}}"#,
      #"{"id":1,"method":"cells.set","params":{"name":"a","value":1,"_meta":{"cmd":"c\u0000"}}}"#,
    ] {
      #expect(errorName(try client.call(request)) == "invalid_params", "\(request)")
    }
    #expect(
      try errorName(client.call(#"{"id":1,"method":"get","params":["cells/a\u0000"]}"#))
        == "not_found")
    try finish()
  }

  @Test
  func `6: excessive nesting is refused at its depth, anywhere in a line`() throws {
    for open in ["[", #"{"a":"#] {
      let deep = String(repeating: open, count: 100_000)
      for line in [
        deep, #"{"id":1,"method":"cells.set","params":["a",\#(deep)"#,
        #"{"id":1,"method":"subscribe","params":{"source":"events","filter":\#(deep)"#,
        #"{"id":\#(deep)"#, #"[{"id":1,"method":"ping","params":\#(deep)"#,
      ] {
        let error = error(try client.call(line))
        #expect(error?["name"] == .string("parse_error"))
        #expect(error?["why"]?.text.text.contains("deep") == true)
      }
    }
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(try set(nested(54)).contains(#""result""#))
    let tooDeep = try set(nested(55))
    #expect(errorName(tooDeep) == "parse_error")
    #expect(!tooDeep.contains(#""id":null"#), "it is JSON all the same")
    for request in [
      #"{"id":1,"method":"get","params":["cells/**"]}"#,
      #"[{"id":1,"method":"history","params":{"source":"events"}}]"#,
    ] {
      #expect(try client.call(request).contains(nested(54)))
    }
    try finish()
  }

  @Test
  func `7: duplicate and very many members are handled`() throws {
    for line in [
      #"{"id":1,"method":"ping","method":"stats"}"#, #"{"id":1,"id":2,"method":"ping"}"#,
      #"{"id":1,"method":"get","params":["cells/a"],"params":["cells/b"]}"#,
      #"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}"#,
    ] {
      #expect(errorName(try client.call(line)) == "invalid_request", "\(line)")
    }
    func object(_ count: Int, _ name: (Int) -> String) -> String {
      "{" + (0..<count).map { #""\#(name($0))":0"# }.joined(separator: ",") + "}"
    }
    #expect(try set(object(4096) { "m\($0)" }).contains("result"))
    #expect(errorName(try set(object(4097) { "m\($0)" })) == "parse_error")
    let before = bench.daemon.processorSeconds
    #expect(errorName(try set(object(80_000) { "\($0)" })) == "parse_error")
    // Names that collide in common hash functions must not cost quadratic time.
    #expect(
      try set(
        object(4096) { i in
          String((0..<12).map { i >> $0 & 1 == 0 ? "Aa" : "BB" }.joined())
        }
      ).contains("result"))
    #expect(DaemonProcess.isSanitized || bench.daemon.processorSeconds - before < 2)
    try finish()
  }

  @Test
  func `8: numbers are preserved to the digit, or refused`() throws {
    let nines = String(repeating: "9", count: 64)
    for number in ["NaN", "Infinity", "01", "+1", ".5", "1.", "0x10", "--1", "1e"] {
      let answer = try set(number)
      #expect(errorName(answer) == "parse_error", "\(number)")
      #expect(answer.contains(#""id":null"#), "what is no JSON has no id")
    }
    for number in [
      "1e400", "-1e400", "0." + String(repeating: "1", count: 1024),
      String(repeating: "1", count: 10_000),
    ] {
      let answer = try set(number)
      #expect(errorName(answer) == "parse_error", "\(number)")
      #expect(!answer.contains(#""id":null"#), "\(number)")
    }
    for number in [
      "-0", "1E+2", "9007199254740993", "18446744073709551616", "0.10", nines, nines + nines,
      "0." + String(repeating: "1", count: 1023), "1e308", "1e-400", "1e-99999999999999999999",
    ] {
      #expect(try set(number).contains(#""value":\#(number),"#), "kept to the digit")
    }
    for number in ["1.5", "18446744073709551616", "1e40", "-1"] {
      #expect(
        try errorName(client.call(#"{"id":1,"method":"lists.insert","params":["l",\#(number),1]}"#))
          == "invalid_params", "\(number)")
      #expect(
        try errorName(
          client.call(
            #"{"id":1,"method":"history","params":{"source":"cells/a","at":{"seq":\#(number)}}}"#))
          == "invalid_params", "\(number)")
    }
    for id in ["1.0", "-0", "1E+2", "9007199254740993", nines] {
      #expect(try client.call(#"{"id":\#(id),"method":"ping"}"#).contains(#""id":\#(id),"#))
    }
    try finish()
  }

  @Test
  func `9: JSON that is not a request, other protocols and noise are refused`() throws {
    for line in [
      "1", "null", #""x""#, "true", "[]", "{}", #"{"jsonrpc":"2.0","result":1,"id":1}"#,
      #"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, #"{"id":[],"method":"ping"}"#,
      #"{"id":1,"method":7}"#, #"{"id":1,"method":"ping","params":1}"#,
    ] {
      #expect(errorName(try client.call(line)) == "invalid_request", "\(line)")
    }
    #expect(try client.call("[[]]").hasPrefix(#"[{"jsonrpc":"2.0","id":null,"error""#))
    // A valid line resets the count of bad lines.
    #expect(try client.call(#"{"id":1,"method":"ping"}"#).contains("result"))
    for _ in 0..<15 { #expect(errorName(try client.call("x")) == "parse_error") }
    let http = try TestSocket(bench.daemon.socket)
    try http.send("GET / HTTP/1.1\r", "Host: x\r", "\r", "")
    #expect(errorName(try http.line()) == "parse_error")
    #expect(errorName(try http.line()) == "parse_error")
    http.close()
    for hello: [UInt8] in [
      [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03, 0x0A],  // TLS
      Array(0x80...0xFF) + [0x0A],
    ] {
      let noise = try TestSocket(bench.daemon.socket)
      for _ in 0..<17 { _ = noise.sendNow(hello) }
      let lines = try noise.lines()
      #expect(lines.count == 17)
      #expect(
        lines.last?.contains(#""reason":"protocol_abuse","limit":"bad_lines","max":16"#) == true)
    }
    try finish()
  }
}
