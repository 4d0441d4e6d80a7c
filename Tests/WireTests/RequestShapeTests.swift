import JSON
import TestSupport
import Testing

@testable import Wire

/// The two readers of a request: that of usual shapes, and the general scan.
struct RequestShapeTests {
  private static let methods: [(name: String, parameters: [String])] = [
    ("ping", []), ("get", ["source", "pick"]), ("cells.set", ["name", "value"]),
    ("cells.add", ["name", "by"]), ("lists.append", ["name", "value"]),
    ("maps.put", ["name", "key", "value"]), ("publish", ["topic", "value"]), ("x", ["n"]),
    ("many", ["a", "b", "c", "d", "e"]), ("cells.list", ["prefix"]), ("cells.sex", ["name"]),
  ]

  /// Lines in the usual shape of some method.
  private static let usual = [
    #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    #"{"id":7,"method":"ping"}"#,
    #"{"jsonrpc":"2.0","id":"c-1","method":"get","params":{"source":"cells/lamp"}}"#,
    #"{"jsonrpc":"2.0","id":1000017,"method":"cells.set","params":{"name":"lamp","value":true}}"#,
    #"{"jsonrpc":"2.0","id":-1.5e3,"method":"cells.set","params":{"name":"a","value":"on"}}"#,
    #"{"jsonrpc":"2.0","id":2,"method":"cells.set","params":{"name":"a","value":{"b":[1,{}]}}}"#,
    #"{"jsonrpc":"2.0","id":3,"method":"cells.set","params":{"name":"é\n","value": -0.5}}"#,
    #"{"jsonrpc":"2.0","id":3,"method":"cells.add","params":{"name":"n"}}"#,
    #"{"jsonrpc":"2.0","id":3,"method":"cells.add","params":{"name":"n","by":1}}"#,
    #"{"id":3,"method":"maps.put","params":{"name":"m","key":"k","value":null}}"#,
    #"{"id":3,"method":"x","params":{"n":1}}"#,
    #"{"id":3,"method":"x","params":{"n":1,"_meta":{"cmd":"a-1"}}}"#,
    #"{"id":3,"method":"cells.sex","params":{"name":1}}"#,
    #"{"id":3,"method":"cells.list","params":{"prefix":"a"}}"#,
    #"{"id":3,"method":"many","params":{"a":1}}"#,
    #"{"id":3,"method":"many","params":{"a":1,"b":"\#u{7F}","c":3,"d":{}}}"#,
  ]

  /// Lines that only the general scan reads, or refuses.
  private static let others = [
    "", "{", "[]", #"{"method":"ping"}"#, #"{"id":null,"method":"ping"}"#,
    #"{"id":1,"method":"ping","params":{}}"#, #"{"id":1,"method":"pong"}"#,
    #"{"id":1,"method":"cells.set","params":{"value":1,"name":"a"}}"#,
    #"{"id":1,"method":"cells.set","params":["a",1]}"#, #"{"id":01,"method":"ping"}"#,
    #"{"id":1,"method":"ping"} "#, #"{"id":1,"method":"ping"}}"#, #"{"id":1 ,"method":"ping"}"#,
    #"{"id":1,"method":"cells.set","params":{"name":"a","value":1,"name":"b"}}"#,
    #"{"id":1,"method":"cells.set","params":{"name":"a","value":01}}"#,
    #"{"id":1,"method":"cells.set","params":{"name":"a","value":tru}}"#,
    #"{"id":1,"method":"cells.set","params":{"name":"\ud800","value":1}}"#,
    #"{"id":1,"method":"cells.set","params":{"name":"a","value":1}"#,
    #"{"id":1,"method":"cells.set","params":{"name":"a","value":}}"#,
    #"{"id":1,"method":"many","params":{"a":1,"b":2,"c":3,"d":4,"e":5}}"#,
    #"{"id":"\#(String(repeating: "i", count: 129))","method":"ping"}"#,
  ]

  /// Everything that a request says, as text.
  private static func described(_ request: Request, _ line: Span<UInt8>) -> String {
    var text = "\(request.id(in: line)?.text ?? "-") \(request.method)"
    text += " \(request.params.map(String.init(describing:)) ?? "-") \(request.isPositional)"
    let parameters = request.parameters
    text += " \(parameters.isComplete) \(parameters.options.map(String.init(describing:)) ?? "-")"
    for i in 0..<parameters.count { text += " \(parameters.members[i])" }
    return text
  }

  private static func read(_ line: [UInt8], _ shapes: inout RequestShapes) -> Request? {
    var request = Request()
    return shapes.read(line.span, into: &request, idBytes: 128) ? request : nil
  }

  private static func general(_ line: [UInt8]) -> String? {
    (try? Request(parsing: line.span, idBytes: 128)).map { described($0, line.span) }
  }

  @Test
  func `a usual request is read by its shape, as the general scan reads it`() {
    var shapes = RequestShapes(Self.methods)
    // Twice, because the last shape is tried first.
    for text in Self.usual + Self.usual.reversed() {
      let line = Array(text.utf8)
      guard let request = Self.read(line, &shapes) else {
        Issue.record("not read: \(text)")
        continue
      }
      #expect(Self.described(request, line.span) == Self.general(line))
      let method = String(decoding: line[request.method.start..<request.method.end], as: UTF8.self)
      #expect(request.shape.map { Self.methods[$0].name } == method)
    }
  }

  @Test
  func `other lines are left to the general scan`() {
    var shapes = RequestShapes(Self.methods)
    for text in Self.others {
      #expect(Self.read(Array(text.utf8), &shapes) == nil, "\(text)")
    }
  }

  @Test
  func `the beginning of a usual line is no request`() {
    var shapes = RequestShapes(Self.methods)
    for line in Self.usual.map({ Array($0.utf8) }) {
      for count in 0..<line.count {
        let part = Array(line[..<count])
        #expect(Self.read(part, &shapes) == nil, "\(String(decoding: part, as: UTF8.self))")
      }
    }
  }

  @Test(arguments: 1...20)
  func `changed bytes are read by both readers as the same, or by one`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var shapes = RequestShapes(Self.methods)
    var matched = 0
    for _ in 0..<4_000 {
      var line = Array((Self.usual + Self.others).randomElement(using: &random)?.utf8 ?? "".utf8)
      for _ in 0..<Int.random(in: 0...3, using: &random) { Self.change(&line, &random) }
      guard let request = Self.read(line, &shapes) else { continue }
      matched += 1
      let general = Self.general(line)
      if Self.described(request, line.span) != general {
        Issue.record("\(String(decoding: line, as: UTF8.self)): \(general ?? "refused")")
      }
    }
    #expect(matched > 300)
  }

  /// Changes, adds, removes or swaps some bytes.
  private static func change(_ line: inout [UInt8], _ random: inout SeededRandom) {
    guard line.count > 1 else { return line.append(UInt8(ascii: "{")) }
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
