@testable import JSON
import Testing

struct JSONPartReaderTests {
  @Test(
    arguments: [
      "[]", "{}", "[1]", #" [1, {"a":[2]} ,"x,]"] "#, #"{"a":1,"b":{"c":[2,3]},"d":"}"}"#,
      "[[],[[]]]", #"{ "a" : 1 , "a" : 2 }"#,
    ], [1, 2, 100])
  func `parts give the same value as the whole`(text: String, count: Int) throws {
    let whole = try JSONText(parsing: text)
    var reader = try #require(JSONPartReader(whole))
    var (values, members, reads) = ([JSONValue](), JSONObject(), 0)
    while !reader.isAtEnd {
      reader.read(atMost: count) { name, value in
        if let name { members[name] = value } else { values.append(value) }
      }
      reads += 1
    }
    #expect((reader.isArray ? .array(values) : .object(members)) == whole.value)
    #expect(reads <= 4 / count + 1)
  }

  @Test(arguments: ["1", #""[]""#, "null"])
  func `other values have no parts`(text: String) throws {
    #expect(JSONPartReader(try JSONText(parsing: text)) == nil)
  }
}
