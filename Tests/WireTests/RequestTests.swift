import JSON
import Testing
import Wire

struct RequestTests {
  /// A request as text: `id method params`.
  private func read(_ line: String) throws -> String {
    let bytes = Array(line.utf8)
    let request = try Request(parsing: bytes.span, idBytes: Limits().idBytes)
    let method = JSONScanner(bytes.span).text(request.method)
    let params = request.params.map { String(decoding: bytes[$0], as: UTF8.self) } ?? "-"
    return "\(request.id(in: bytes.span)?.text ?? "-") \(method) \(params)"
  }

  @Test(arguments: [
    (#"{"jsonrpc":"2.0","id":1,"method":"get","params":{"a":[1]}}"#, #"1 get {"a":[1]}"#),
    (#"{"method":"ping"}"#, "- ping -"),
    (#" { "params" : [ 1 ] , "method" : "m" , "id" : "c-9" } "#, #""c-9" m [ 1 ]"#),
    (#"{"id":1.0,"method":"m"}"#, "1.0 m -"),
    (#"{"id":null,"method":"m"}"#, "null m -"),
    (#"{"id":-1E+2,"m\u0065thod":"\u006d"}"#, "-1E+2 m -"),
    ("{\"id\":1,\"method\":\"m\"}\r", "1 m -"),
  ])
  func `a request is read, and its id is kept byte for byte`(line: String, read: String) throws {
    #expect(try self.read(line) == read)
  }

  @Test(arguments: [
    ("1", "null", "a request is an object"),
    ("null", "null", "a request is an object"),
    (#""x""#, "null", "a request is an object"),
    ("{}", "null", "a request has a member 'method'"),
    (#"{"id":7}"#, "7", "a request has a member 'method'"),
    (#"{"id":7,"method":1}"#, "7", "'method' is a string"),
    (#"{"id":7,"method":"a","method":"b"}"#, "7", "'method' occurs twice"),
    (#"{"id":7,"id":8,"method":"b"}"#, "8", "'id' occurs twice"),
    (#"{"id":7,"method":"a","params":1}"#, "7", "'params' is an object or an array"),
    (#"{"id":7,"method":"a","params":null}"#, "7", "'params' is an object or an array"),
    (#"{"id":7,"method":"a","params":[],"params":[]}"#, "7", "'params' occurs twice"),
    (#"{"id":true,"method":"a"}"#, "null", "'id' is a string, a number or null"),
    (#"{"id":[1],"method":"a"}"#, "null", "'id' is a string, a number or null"),
    (#"{"jsonrpc":"1.0","id":7,"method":"a"}"#, "7", #"'jsonrpc' is "2.0""#),
    (#"{"jsonrpc":2.0,"id":7,"method":"a"}"#, "7", #"'jsonrpc' is "2.0""#),
    (#"{"jsonrpc":"2.0","result":1,"id":1}"#, "1", "unknown member 'result'"),
    (#"{"id":7,"method":"a","parms":{}}"#, "7", "unknown member 'parms'"),
  ])
  func `an invalid request is rejected with its id and the rule`(
    line: String, id: String, why: String
  ) {
    let fault = #expect(throws: Request.Fault.self) { try read(line) }
    #expect(fault?.id.text == id)
    #expect(fault?.error == .invalidRequest(why))
  }

  @Test(arguments: [
    ("", 0), ("GET / HTTP/1.1", 0), (#"{"id":1,"method":"m""#, 20), (#"{"id":1}}"#, 8),
    ("{\"id\":1,\"method\":\"\u{1}\"}", 18), ("\u{16}\u{3}\u{1}", 0),
  ])
  func `invalid JSON is rejected with the offset`(line: String, offset: Int) {
    let fault = #expect(throws: Request.Fault.self) { try read(line) }
    #expect(fault?.id == .null)
    #expect(fault?.error.name == .parseError)
    #expect(fault?.error.data["offset"] == .number(JSONNumber(offset)))
  }

  @Test
  func `an id may have 128 bytes and no more`() throws {
    let id = String(repeating: "x", count: 128)
    #expect(try read(#"{"id":"\#(id)","method":"m"}"#).hasPrefix("\"xxx"))
    #expect(throws: Request.Fault.self) { try read(#"{"id":"\#(id)x","method":"m"}"#) }
  }

  @Test
  func `a batch is read element by element`() throws {
    let line = Array(#" [{"id":1,"method":"a"}, 1 ,{"method":"b","params":[2]},[]]"#.utf8)
    let requests = try Batch.parse(line.span, limits: Limits())
    let read = requests.map { request in
      switch request {
      case .success(let request):
        "\(request.id(in: line.span)?.text ?? "-") \(request.params != nil)"
      case .failure(let fault): "\(fault.id.text) \(fault.error.message)"
      }
    }
    #expect(
      read == ["1 false", "null a request is an object", "- true", "null a request is an object"])
  }

  @Test(arguments: [
    ("[]", ErrorName.invalidRequest), ("[1", .parseError), ("[1]]", .parseError),
    ("[" + Array(repeating: "1", count: 257).joined(separator: ",") + "]", .batchTooLarge),
  ])
  func `an invalid batch is rejected as a whole`(line: String, name: ErrorName) {
    let bytes = Array(line.utf8)
    let fault = #expect(throws: Request.Fault.self) {
      _ = try Batch.parse(bytes.span, limits: Limits())
    }
    #expect(fault?.error.name == name)
  }

  // MARK: Valid JSON over a limit

  private static let deep =
    String(repeating: "[", count: 60) + String(repeating: "]", count: 60)

  @Test(arguments: [
    (#"{"id":7,"method":"m","params":DEEP}"#, "7"),
    (#"{"params":[DEEP],"method":"m","id":"a"}"#, #""a""#),
    (#"{"method":"m","params":{"a":1e999},"i\u0064":1.50}"#, "1.50"),
    (#"{"id":1,"method":"m","params":["\ud800"]}"#, "1"), (#"{"\ud800":1,"id":2}"#, "2"),
    (#"{"method":"m","params":DEEP}"#, "null"), (#"{"id":DEEP,"method":"m"}"#, "null"),
    (#"{"id":1e999,"method":"m"}"#, "null"), (#"{"id":"\ud800","method":"m"}"#, "null"),
    (#"{"id":null,"params":DEEP}"#, "null"),
    (#"{"id":7,"params":DEEP}}"#, "null"), (#"{"id":7,"params":DEEP"#, "null"),
    (#"{"id":7,"params":DEEP,}"#, "null"),
  ])
  func `a line over a limit is rejected with its id, in any position`(
    line: String, id: String
  ) {
    let text = line.replacing("DEEP", with: Self.deep)
    let fault = #expect(throws: Request.Fault.self) { try read(text) }
    #expect(fault?.id.text == id)
    #expect(fault?.error.name == .parseError)
  }

  @Test
  func `only the request over a limit is rejected in a batch`() throws {
    let line = Array(
      #"[{"id":1,"method":"a"},{"id":2,"method":"b","params":\#(Self.deep)},{"params":[1e999],"id":3}, 4]"#
        .utf8)
    let read = try Batch.parse(line.span, limits: Limits()).map { request in
      switch request {
      case .success(let request): "\(request.id(in: line.span)?.text ?? "-")"
      case .failure(let fault): "\(fault.id.text) \(fault.error.name.rawValue)"
      }
    }
    #expect(read == ["1", "2 parse_error", "3 parse_error", "null invalid_request"])
    let many = Array(
      ("[" + Array(repeating: Self.deep, count: 257).joined(separator: ",") + "]").utf8)
    let fault = #expect(throws: Request.Fault.self) {
      try Batch.parse(many.span, limits: Limits())
    }
    #expect(fault?.error.name == .batchTooLarge)
  }

  // MARK: Identifiers

  @Test(arguments: [
    "1", "12345678", "123456789", "1234567890123456", "12345678901234567", #""""#, #""1234567""#,
    #""12345678901234""#, #""123456789012345""#, #""a b""#, #""\u00e9""#, "-0.5e+3", "null",
  ])
  func `an identifier keeps its bytes at any place in the line`(id: String) throws {
    for line in [#"{"id":\#(id),"method":"m"}"#, #"{"method":"m","id":\#(id)}"#] {
      let bytes = Array(line.utf8)
      let request = try Request(parsing: bytes.span, idBytes: Limits().idBytes)
      let found = request.id(in: bytes.span)
      let read = try #require(found)
      #expect(read.text == id)
      #expect(read == RequestID(text: id))
      #expect(read != RequestID(text: id + "0"))
    }
  }

  // MARK: Parameters

  /// The listed parameters `a` and `b` as text: `count complete a b options`.
  private func list(_ params: String) throws -> String {
    let bytes = Array(#"{"id":1,"method":"m","params":\#(params)}"#.utf8)
    let parameters = try Request(parsing: bytes.span, idBytes: Limits().idBytes).parameters
    let options = parameters.options.map { String(decoding: bytes[$0], as: UTF8.self) } ?? "-"
    let a =
      parameters.plainString("a", at: 0, in: bytes.span).map {
        String(decoding: bytes[$0], as: UTF8.self)
      }
      ?? "-"
    let b = parameters.value("b", at: 1, in: bytes.span)?.text ?? "-"
    return "\(parameters.count) \(parameters.isComplete) \(a) \(b) \(options)"
  }

  @Test(arguments: [
    ("{}", "0 true - - -"), (#"{"a":"x","b":[1, {"a":2}]}"#, #"2 true x [1,{"a":2}] -"#),
    (#"{"b":null,"a":"\u00e9"}"#, "2 true - null -"),
    (#"{"a":1}"#, "1 true - - -"), (#"{"a":"é"}"#, "1 true é - -"),
    (#"{"_meta":{"cmd":"1"},"a":"x"}"#, #"1 true x - {"cmd":"1"}"#),
    (#"{"_meta":1,"_meta":2}"#, "0 false - - 2"), (#"{"\u0061":"x"}"#, "0 false - - -"),
    (#"{"a":"1","b":2,"c":3,"d":4,"e":5}"#, "4 false 1 2 -"), ("[]", "0 true - - -"),
    ("[1]", "1 true - - -"), (#"["x", [ 1 ]]"#, "2 true x [1] -"),
    (#"["x",2,3,4,5]"#, "4 false x 2 -"), (#"[{"_meta":1},2]"#, "2 true - 2 -"),
  ])
  func `the scan of a request lists its parameters`(params: String, listed: String) throws {
    #expect(try list(params) == listed)
  }

  @Test
  func `the members of params are counted like those of any object`() {
    let members = (0...4096).map { #""\#($0)":0"# }.joined(separator: ",")
    let fault = #expect(throws: Request.Fault.self) {
      try read(#"{"id":7,"method":"m","params":{\#(members)}}"#)
    }
    #expect(fault?.id.text == "7")
    #expect(fault?.error.name == .parseError)
  }
}
