import EventSourcing
import JSON
import TestSupport
import Testing

@Suite(.leavesNothing)
struct ConditionTests {
  private static let data = #"""
    {"by":2,"name":"kim","on":true,"none":null,"in":{"a":[1,2.0]},"big":12345678901234567891}
    """#

  private func holds(_ path: String, _ test: (JSONText) -> Condition.Test, _ operand: String) throws
    -> Bool
  {
    let place = try #require(JSONPointer(path))
    return Condition(place, test(try JSONText(parsing: operand))).holds(
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
    #expect(try holds(path, { .equals($0) }, operand) == isEqual)
    #expect(try holds(path, { .differs($0) }, operand) == !isEqual)
    #expect(
      try holds(path, { .isOneOf(["9", $0.text].map { JSONText(kept: $0) }) }, operand) == isEqual)
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
    let tests: [(JSONText) -> Condition.Test] = [
      { .isLess($0) }, { .isAtMost($0) }, { .isMore($0) }, { .isAtLeast($0) },
    ]
    #expect(try tests.map { try holds(path, $0, operand) } == expected)
  }

  @Test
  func `exists is true for any value, also null`() throws {
    for (path, isThere) in [("/none", true), ("/by", true), ("/nothing", false), ("", true)] {
      #expect(try holds(path, { _ in .exists(true) }, "0") == isThere)
      #expect(try holds(path, { _ in .exists(false) }, "0") == !isThere)
    }
  }

  @Test
  func `begins-with is true only for strings`() throws {
    #expect(try holds("/name", { _ in .begins("ki") }, "0"))
    #expect(try holds("/name", { _ in .begins("") }, "0"))
    #expect(try !holds("/name", { _ in .begins("im") }, "0"))
    #expect(try !holds("/by", { _ in .begins("2") }, "0"))
    #expect(try !holds("/nothing", { _ in .begins("") }, "0"))
  }
}
