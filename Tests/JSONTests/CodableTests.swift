import JSON
import Testing

struct CodableTests {
  struct Inner: Codable, Equatable {
    var flag: Bool
    var list: [Int]?
  }

  struct Everything: Codable, Equatable {
    var name: String
    var count: Int
    var small: UInt8
    var ratio: Double
    var inner: Inner
    var many: [Inner]
    var byName: [String: Int]
    var nested: [[String]]
    var maybe: String?
    var raw: JSONText
    var exact: JSONNumber
    var tree: JSONValue
  }

  enum Event: Codable, Equatable {
    case added(id: Int, title: String)
    case cleared
    case wrapped(Inner)
  }

  struct Empty: Codable, Equatable {}

  let encoder = JSONEncoder()
  let decoder = JSONDecoder()

  private func everything() throws -> Everything {
    Everything(
      name: "a \"quoted\" \u{1}\n name ü😀", count: -5, small: 255, ratio: 0.1,
      inner: Inner(flag: true, list: [1, 2]), many: [Inner(flag: false)], byName: ["x": 1],
      nested: [[], ["a", "b"]], raw: try JSONText(parsing: #"{"k": [1, 2.50]}"#),
      exact: try #require(JSONNumber("12345678901234567890.10")),
      tree: .object(["a": .array([.null, .bool(true)])]))
  }

  @Test
  func `the size of a value is that of its text, also with texts in it`() throws {
    let encoder = JSONEncoder()
    struct Row: Encodable {
      let title: String
      let data: JSONText
    }
    let row = Row(title: "ä\"", data: JSONText(trusted: #"{"a":[[1]]}"#))
    for _ in 0..<3 {
      #expect(try encoder.byteCount(of: row) == encoder.text(row).text.utf8.count)
      #expect(try !encoder.size(of: row, depth: 4).isTooDeep)
      #expect(try encoder.size(of: row, depth: 3).isTooDeep)
      #expect(try !encoder.size(of: [[["a"]]], depth: 3).isTooDeep)
      #expect(try encoder.size(of: [["a": ["a"]]], depth: 2).isTooDeep)
    }
    #expect(try encoder.size(of: JSONValue.array([[1]]), depth: 1).bytes == 5)
  }

  @Test
  func `a value is decoded from its encoded text`() throws {
    let value = try everything()
    let text = try encoder.text(value)
    #expect(try decoder.decode(Everything.self, from: text) == value)
    #expect(text.text.contains(#""raw":{"k":[1,2.50]},"exact":12345678901234567890.10"#))
  }

  @Test(arguments: [
    (Event.added(id: 1, title: "milk"), #"{"added":{"id":1,"title":"milk"}}"#),
    (.cleared, #"{"cleared":{}}"#),
    (.wrapped(Inner(flag: true)), #"{"wrapped":{"_0":{"flag":true}}}"#),
  ])
  func `an enum is decoded from its encoded text`(event: Event, text: String) throws {
    #expect(try encoder.text(event).text == text)
    #expect(try decoder.decode(Event.self, from: JSONText(parsing: text)) == event)
  }

  @Test
  func `a type without properties is encoded as an empty object`() throws {
    #expect(try encoder.text(Empty()).text == "{}")
    #expect(try encoder.text([Empty(), Empty()]).text == "[{},{}]")
  }

  @Test
  func `a coder can be reused`() throws {
    for i in 0..<50 {
      let value = [String](repeating: "x", count: i)
      #expect(try decoder.decode([String].self, from: encoder.text(value)) == value)
    }
  }

  struct Wanted: Decodable {
    var name: String
    var by: Int
    var at: Inner?
  }

  @Test(arguments: [
    (#"{"name":"a"}"#, "/by", "integer", "nothing"),
    (#"{"name":"a","by":"1"}"#, "/by", "integer", "string"),
    (#"{"name":"a","by":1.5}"#, "/by", "integer", "another number"),
    (#"{"name":null,"by":1}"#, "/name", "string", "null"),
    (#"{"name":"a","by":1,"nmae":2}"#, "/nmae", "no such member", "one"),
    (#"{"name":"a","by":1,"name":"b"}"#, "/name", "each member once", "a duplicate"),
    (#"{"name":"a","by":1,"at":{"flag":1}}"#, "/at/flag", "boolean", "number"),
    (#"{"name":"a","by":1,"at":{"flag":true,"list":[1,"x"]}}"#, "/at/list/1", "integer", "string"),
    (#"{"name":"a","by":1,"at":{"flag":true,"x/y~z":1}}"#, "/at/x~1y~0z", "no such member", "one"),
    (#"[1]"#, "", "object", "array"),
    (#""x""#, "", "object", "string"),
  ])
  func `an error has the path, the expected type and the found type`(
    text: String, path: String, expected: String, got: String
  ) throws {
    let error = #expect(throws: JSONDecodingError.self) {
      _ = try decoder.decode(Wanted.self, from: JSONText(parsing: text))
    }
    #expect(error == JSONDecodingError(path: path, expected: expected, got: got))
  }

  @Test
  func `unknown members are ignored on request`() throws {
    let text = try JSONText(parsing: #"{"name":"a","by":1,"later":{"x":[]}}"#)
    let wanted = try decoder.decode(Wanted.self, from: text, unknownMembers: .ignored)
    #expect(wanted.by == 1)
  }

  @Test
  func `a member beside the value is not unknown, and is decoded separately`() throws {
    struct Options: Decodable, Equatable {
      var cmd: String
    }
    let with = Array(#"{"name":"a","_meta":{"cmd":"c","later":1},"by":1}"#.utf8)
    let wanted = try decoder.decode(Wanted.self, from: with.span, beside: "_meta")
    #expect(wanted.by == 1)
    #expect(try decoder.decodeMember(Options.self) == Options(cmd: "c"))
    let without = Array(#"{"name":"a","by":1}"#.utf8)
    _ = try decoder.decode(Wanted.self, from: without.span, beside: "_meta")
    #expect(try decoder.decodeMember(Options.self) == nil)
    let bad = Array(#"{"name":"a","by":1,"_meta":{"cmd":5}}"#.utf8)
    _ = try decoder.decode(Wanted.self, from: bad.span, beside: "_meta")
    #expect(throws: JSONDecodingError(path: "/_meta/cmd", expected: "string", got: "number")) {
      try decoder.decodeMember(Options.self)
    }
  }

  @Test
  func `a member is found by an escaped name`() throws {
    let text = try JSONText(parsing: #"{"n\u0061me":"\u0041","b\u0079":7}"#)
    let wanted = try decoder.decode(Wanted.self, from: text)
    #expect(wanted.name == "A")
    #expect(wanted.by == 7)
  }

  @Test
  func `array elements are decoded as members in order`() throws {
    let names = ["name", "by", "at"]
    let two = Array(#"["a",3]"#.utf8)
    let wanted = try decoder.decode(Wanted.self, fromElementsOf: two.span, named: names)
    #expect(wanted.name == "a")
    #expect(wanted.by == 3)
    let four = Array(#"["a",3,null,4]"#.utf8)
    #expect(throws: JSONDecodingError(path: "/3", expected: "at most 3 parameters", got: "more")) {
      try decoder.decode(Wanted.self, fromElementsOf: four.span, named: names)
    }
  }

  @Test(arguments: [
    ("256", UInt64(256), false), ("255", 255, true), ("-1", 0, false),
  ])
  func `an integer out of range is rejected`(text: String, value: UInt64, fits: Bool) throws {
    let json = try JSONText(parsing: text)
    if fits {
      #expect(try decoder.decode(UInt8.self, from: json) == UInt8(value))
    } else {
      #expect(throws: JSONDecodingError.self) { try decoder.decode(UInt8.self, from: json) }
    }
  }

  @Test
  func `the largest unsigned integers are encoded and decoded`() throws {
    #expect(try decoder.decode(UInt64.self, from: encoder.text(UInt64.max)) == .max)
    #expect(try decoder.decode(Int64.self, from: encoder.text(Int64.min)) == .min)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `a number that JSON cannot represent is rejected`(value: Double) {
    #expect(throws: JSONEncodingError.self) { try encoder.text(["x": value]) }
  }

  @Test
  func `inherited members are decoded and encoded`() throws {
    class Base: Codable {
      var a = 1
    }
    final class Derived: Base {
      var b = 2
      enum Keys: CodingKey { case b }
      override init() { super.init() }
      required init(from decoder: any Decoder) throws {
        b = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .b)
        try super.init(from: decoder.container(keyedBy: Keys.self).superDecoder())
      }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(b, forKey: .b)
        try super.encode(to: container.superEncoder())
      }
    }
    let text = try encoder.text(Derived())
    #expect(text.text == #"{"b":2,"super":{"a":1}}"#)
  }

  @Test
  func `each of many objects can be read again at any time`() throws {
    struct Twice: Decodable {
      let (first, second): (Int, Int)

      enum Keys: CodingKey { case a, b }

      init(from decoder: any Decoder) throws {
        first = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .a)
        second = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .b)
      }
    }
    let decoder = JSONDecoder()
    for count in [3, 16, 17, 1000, 100_000] {
      let text = "[" + (0..<count).map { #"{"a":\#($0),"b":-\#($0)}"# }.joined(separator: ",") + "]"
      let read = try decoder.decode([Twice].self, from: JSONText(parsing: text))
      #expect(read.map(\.first) == Array(0..<count))
      #expect(read.map(\.second) == (0..<count).map { -$0 })
      let error = #expect(throws: JSONDecodingError.self) {
        let more = text.dropLast(2) + #","c":1}]"#
        _ = try decoder.decode([Twice].self, from: JSONText(parsing: String(more)))
      }
      #expect(error?.path == "/\(count - 1)/c")
    }
  }
}
