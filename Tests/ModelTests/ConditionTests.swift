import JSON
import Model
import TestSupport
import Testing

@Suite(.leavesNothing)
struct ConditionTests {
  private static let data = #"""
    {"by":2,"name":"kim","on":true,"none":null,"in":{"a":[1,2.0]},"big":12345678901234567891}
    """#

  private func holds(_ path: String, _ op: String, _ operand: String) throws -> Bool {
    try Condition(at: path, op, JSONText(parsing: operand)).holds(
      for: try JSONText(parsing: Self.data))
  }

  @Test(arguments: [
    ("/by", "2", true), ("/by", "2.0", true), ("/by", "20e-1", true), ("/by", "3", false),
    ("/by", #""2""#, false), ("/name", #""kim""#, true), ("/name", #""\u006bim""#, true),
    ("/name", #""ki""#, false), ("/on", "true", true), ("/on", "false", false),
    ("/on", "1", false), ("/none", "null", true), ("/nothing", "null", false),
    ("/in", #"{"a":[1.0,2]}"#, true), ("/in/a", "[1,2]", true), ("/in/a", "[2,1]", false),
    ("/in/a", #"{"0":1,"1":2}"#, false), ("/big", "12345678901234567891", true),
    ("/big", "12345678901234567890", false),
  ])
  func `values are either equal or different, and a missing value differs`(
    path: String, operand: String, isEqual: Bool
  ) throws {
    #expect(try holds(path, "==", operand) == isEqual)
    #expect(try holds(path, "!=", operand) == !isEqual)
    #expect(try holds(path, "in", "[9,\(operand)]") == isEqual)
  }

  @Test(arguments: [
    ("/by", "1", [false, false, true, true]), ("/by", "2.0", [false, true, false, true]),
    ("/by", "3", [true, true, false, false]), ("/name", #""kin""#, [true, true, false, false]),
    ("/name", #""kim""#, [false, true, false, true]),
    ("/by", #""1""#, [false, false, false, false]),
    ("/name", "1", [false, false, false, false]), ("/on", "1", [false, false, false, false]),
    ("/none", "1", [false, false, false, false]), ("/nothing", "1", [false, false, false, false]),
    ("/in", "1", [false, false, false, false]),
  ])
  func `values without an order are neither less nor greater`(
    path: String, operand: String, expected: [Bool]
  ) throws {
    #expect(try ["<", "<=", ">", ">="].map { try holds(path, $0, operand) } == expected)
  }

  @Test
  func `exists is true for any value, also null`() throws {
    for (path, isThere) in [("/none", true), ("/by", true), ("/nothing", false), ("", true)] {
      #expect(try holds(path, "exists", "true") == isThere)
      #expect(try holds(path, "exists", "false") == !isThere)
    }
  }

  @Test
  func `begins-with is true only for strings`() throws {
    #expect(try holds("/name", "prefix", #""ki""#))
    #expect(try holds("/name", "prefix", #""""#))
    #expect(try !holds("/name", "prefix", #""im""#))
    #expect(try !holds("/by", "prefix", #""2""#))
    #expect(try !holds("/nothing", "prefix", #""""#))
  }

  @Test(arguments: [
    ("=", "1", "'='"), ("<", "true", "bool"), (">=", "null", "null"), ("in", "1", "number"),
    ("in", "[]", "an empty array"), ("exists", "1", "number"), ("prefix", "[1]", "array"),
    ("==", nil, "nothing"), ("in", nil, "nothing"),
  ])
  func `an operand that does not fit is refused by its kind`(
    op: String, operand: String?, got: String
  ) throws {
    let operand = try operand.map { try JSONText(parsing: $0) }
    let fault = #expect(throws: Condition.Fault.self) { try Condition(at: "/a", op, operand) }
    #expect(fault?.got == got)
  }

  @Test
  func `a condition in one word is parsed`() throws {
    #expect(try SourceCondition(typed: "cells/lamp") == nil)
    for (text, source, comparison, value) in [
      ("a/b > 20", "a/b", .greater, "20"), ("a/b>=20", "a/b", .greaterOrEqual, "20"),
      ("a/b == on", "a/b", .equal, "\"on\""), ("a/b != null", "a/b", .notEqual, "null"),
      ("a/b<1", "a/b", .less, "1"), ("a/b <= 1", "a/b", .lessOrEqual, "1"),
      ("a/b exists", "a/b", .exists, "true"), (" a/b  !exists", "a/b", .exists, "false"),
    ] as [(String, String, Condition.Operator, String)] {
      let typed = try SourceCondition(typed: text)
      #expect(typed?.source == source)
      #expect(typed?.condition.comparison == comparison)
      #expect(typed?.condition.operand.text == value)
    }
  }

  @Test(arguments: [
    ("a >> 5", false), ("a >", false), ("a >=", false), ("a == ==", false), ("a > 5 6", false),
    ("a <> 5", false), ("a > 5", true), ("a == Jane Doe", true), (#"a == """#, true),
    (#"a > ">5""#, true), ("a != null", true), ("a > b", true),
    ("> 5", false), ("a > true", false), ("a <= null", false), ("a < [1]", false),
    ("a == true", true),
  ])
  func `an incomplete condition is refused`(text: String, isWhole: Bool) throws {
    #expect(((try? SourceCondition(typed: text)) != nil) == isWhole)
  }

  @Test
  func `a condition compares numbers by value, and only values of one type`() throws {
    func holds(_ condition: String, _ value: String?) throws -> Bool {
      try #require(try SourceCondition(typed: condition)).holds(
        for: value.map { JSONText(typed: $0) })
    }
    for (condition, value, result) in [
      ("a > 20", "20.5", true), ("a > 20", "20", false), ("a >= 20", "2e1", true),
      ("a < 20", "3", true), ("a <= 20", "21", false), ("a == 1", "1.0", true),
      ("a == on", "on", true), ("a == on", "off", false), ("a != on", "off", true),
      ("a > 20", "\"30\"", false), ("a < b", "a", true), ("a > 20", "true", false),
      ("a == 1", nil, false), ("a != 1", nil, true), ("a < 1", nil, false),
      // Above 2^53, where a double cannot represent odd numbers.
      ("a > 9007199254740992", "9007199254740993", true),
      ("a >= 9007199254740993", "9007199254740992", false),
      ("a <= 9007199254740992", "9007199254740993", false),
      ("a < 0.1", "0.10000000000000000001", false), ("a == 1e3", "1000", true),
      ("a exists", nil, false), ("a exists", "null", true), ("a !exists", nil, true),
      (#"a < "b""#, "\"\\u0061\"", true), ("a != 1", "[1]", true),
    ] as [(String, String?, Bool)] {
      #expect(try holds(condition, value) == result, "\(condition) with \(value ?? "nothing")")
    }
    #expect(SourceCondition("a", is: JSONText(true)).holds(for: JSONText(true)))
  }
}
