import JSON
import Testing

struct JSONPointerTests {
  /// The example of RFC 6901, section 5.
  private static let document = #"""
    {"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}
    """#

  @Test(arguments: [
    ("/foo", #"["bar","baz"]"#), ("/foo/0", #""bar""#), ("/", "0"), ("/a~1b", "1"),
    ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"),
    ("/m~0n", "8"),
  ])
  func `a pointer finds the values in the example of the RFC`(
    pointer: String, value: String
  ) throws {
    let document = try JSONText(parsing: Self.document)
    #expect(try #require(JSONPointer(pointer)).find(in: document)?.text == value)
    #expect(JSONPointer("")?.find(in: document) == document)
  }

  @Test(arguments: [
    "/bar", "/foo/2", "/foo/00", "/foo/-", "/foo/+1", "/foo/", "/foo/0/x", "/ /0", "/foo/-1",
    "/foo/99999999999999999999",
  ])
  func `a pointer to a missing value finds nothing`(pointer: String) throws {
    let document = try JSONText(parsing: Self.document)
    #expect(try #require(JSONPointer(pointer)).find(in: document) == nil)
  }

  @Test(arguments: ["a", "a/b", "/a~", "/~2", "/a~/b", "#/a"])
  func `an invalid pointer is nil`(text: String) {
    #expect(JSONPointer(text) == nil)
  }

  @Test
  func `the last of two members with one name is found, also if escaped`() throws {
    let text = try JSONText(parsing: #"{"a":{"b":1},"\u0061":{"b":2}}"#)
    #expect(JSONPointer("/a/b")?.find(in: text)?.text == "2")
  }

  // MARK: Order

  @Test
  func `numbers are ordered exactly by value`() throws {
    let ordered = [
      "-1e300", "-12345678901234567891", "-12345678901234567890", "-10", "-9.5", "-1e-3", "0",
      "1e-300", "0.001", "0.0011", "1", "9", "9.99", "10", "12345678901234567890",
      "12345678901234567891", "1e300",
    ].compactMap { JSONNumber($0) }
    #expect(ordered.count == 17)
    for (i, left) in ordered.enumerated() {
      for (j, right) in ordered.enumerated() {
        #expect((left < right) == (i < j), "\(left.text) < \(right.text)")
      }
    }
    #expect(try !(#require(JSONNumber("-0")) < #require(JSONNumber("0"))))
  }

  @Test
  func `only two numbers or two strings have an order`() throws {
    func order(_ left: String, _ right: String) throws -> JSONText.Order? {
      try JSONText(parsing: left).order(to: JSONText(parsing: right))
    }
    #expect(try order("1", "1.0") == .same)
    #expect(try order("2", "10") == .less)
    #expect(try order(#""2""#, #""10""#) == .more)
    #expect(try order(#""\u00e9""#, #""é""#) == .same)
    #expect(try order(#""é""#, #""e\u0301""#) == .more)
    #expect(try order(#""\uffff""#, #""𝄞""#) == .less)
    #expect(try order("1", #""1""#) == nil)
    #expect(try order("true", "true") == nil)
    #expect(try order("null", "0") == nil)
    #expect(try order("[1]", "[1]") == nil)
  }
}
