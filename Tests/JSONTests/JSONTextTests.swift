import JSON
import Testing

struct JSONTextTests {
  @Test
  func `control characters that JSON allows are stored as escapes`() throws {
    let raw = "[\"a\u{7F}b\u{80}\u{9F}c\u{A0}é€\",{\"\u{85}\":\"°\"}]"
    let text = #"["a\u007fb\u0080\u009fc\#u{A0}é€",{"\u0085":"°"}]"#
    #expect(try JSONText(parsing: raw).text == text)
    #expect(try JSONText(parsing: raw).value == JSONText(parsing: text).value)
    #expect(try JSONText(parsing: " " + raw).text == text)
    for length in 0..<20 {
      let prefix = String(repeating: "x", count: length)
      #expect(
        JSONText(string: prefix + "\u{7F}\u{9B}°").text == "\"" + prefix + #"\u007f\u009b°""#)
    }
  }

  @Test(arguments: ["[1e400]", #"{"value":-2.5e999}"#])
  func `a stored number that is rejected today is still read`(text: String) {
    #expect(throws: JSONFault.self) { try JSONText(parsing: text) }
    let kept = JSONText(trusted: text)
    #expect(kept.value.text.text == text)
    #expect(kept.isEquivalent(to: kept))
  }

  @Test(arguments: [
    (" { \"a b\" : [ 1 , 2 ] } ", #"{"a b":[1,2]}"#), ("\ttrue\n", "true"),
    (#"" \" \\ ""#, #"" \" \\ ""#), ("[ ]", "[]"), ("1.50", "1.50"),
    (" \"a text with spaces\" \n", "\"a text with spaces\""),
    (#"[ "a b" , "c d" ]"#, #"["a b","c d"]"#),
    ("\"spaces, and \u{7F} at its end\"", #""spaces, and \u007f at its end""#),
  ])
  func `a text is stored without white space, its values unchanged`(text: String, compact: String)
    throws
  {
    #expect(try JSONText(parsing: text).text == compact)
  }

  @Test(arguments: [
    (#"{"a":1,"b":2}"#, #"{"b":2.0,"a":1}"#, true), ("[1,2]", "[2,1]", false),
    (#""\u0041""#, #""A""#, true), ("1", "true", false), ("null", "null", true),
  ])
  func `texts are equivalent if their values are`(left: String, right: String, same: Bool) throws {
    #expect(try JSONText(parsing: left).isEquivalent(to: JSONText(parsing: right)) == same)
  }

  @Test
  func `a string is escaped as little as possible`() throws {
    let text = JSONText(string: "a\"\\\u{0}\u{1f}\u{7f}\n/ü\u{2028}")
    #expect(text.text == "\"a\\\"\\\\\\u0000\\u001f\\u007f\\n/ü\u{2028}\"")
    #expect(text.value == .string("a\"\\\u{0}\u{1f}\u{7f}\n/ü\u{2028}"))
  }

  @Test
  func `the last of several members with one name wins`() throws {
    let value = try JSONValue(parsing: #"{"a":1,"b":2,"a":3}"#)
    #expect(value.text.text == #"{"a":3,"b":2}"#)
  }

  @Test
  func `members of a large object are found by name`() throws {
    var object = JSONObject()
    for i in 0..<1000 { object["m\(i)"] = .number(JSONNumber(i)) }
    object["m500"] = nil
    #expect(object["m500"] == nil)
    #expect(object["m501"] == .number(JSONNumber(501)))
    #expect(object.members.count == 999)
  }
}
