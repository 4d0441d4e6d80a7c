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

  @Test(arguments: [0, 40])
  func `strings and names are compared by their bytes`(others: Int) throws {
    // Canonically equivalent: one scalar and two.
    let (one, two) = ("\u{E9}", "e\u{301}")
    #expect(JSONValue.string(one) != .string(two))
    for isSorted in [true, false] {
      var names = (0..<others).map { "k\(100 + $0)" } + [one, two, "z"]
      names.sort()
      if !isSorted { names.reverse() }
      var object = JSONObject()
      for (place, name) in names.enumerated() { object[name] = .number(JSONNumber(place)) }
      #expect(object.members.count == names.count)
      for (place, name) in names.enumerated() {
        #expect(object[name] == .number(JSONNumber(place)))
      }
      let text = JSONValue.object(object).text
      #expect(try JSONValue(parsing: text.text) == .object(object))
      object[one] = nil
      #expect(object[one] == nil && object[two] != nil)
      #expect(JSONValue.object(object) != text.value)
    }
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

  @Test
  func `an object finds its members in any order, and after removals`() {
    for isSorted in [true, false] {
      var object = JSONObject()
      var expected: [String: JSONValue] = [:]
      var random = SystemRandomNumberGenerator()
      var numbers = Array(100..<200)
      if !isSorted { numbers.shuffle(using: &random) }
      for (count, number) in numbers.enumerated() {
        object["k\(number)"] = .number(JSONNumber(number))
        expected["k\(number)"] = .number(JSONNumber(number))
        // Around the number of members from which on they are not searched one by one.
        guard count % 3 == 0 || 14...20 ~= count else { continue }
        let name = object.members[count / 4 % object.members.count].name
        object[name] = nil
        expected[name] = nil
      }
      object["k100"] = .bool(true)
      expected["k100"] = .bool(true)
      for number in 90..<210 { #expect(object["k\(number)"] == expected["k\(number)"]) }
      #expect(object.members.count == expected.count)
      while let last = object.members.last { object[last.name] = nil }
      for name in ["b", "a"] { object[name] = .null }
      #expect(object.members.map(\.name) == ["b", "a"])
    }
  }
}
