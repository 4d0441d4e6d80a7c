import JSON
import TestSupport
import Testing

struct JSONNumberTests {
  private func number(_ text: String) throws -> JSONNumber { try #require(JSONNumber(text)) }

  @Test(arguments: ["1", "-0", "1.50", "1E+2", "12345678901234567890.12345678901234567890"])
  func `a number keeps its text`(text: String) throws {
    #expect(try number(text).text == text)
  }

  @Test(arguments: ["", "01", "+1", "1.", "1e", "a", "1 ", "1e999", "0x1"])
  func `an invalid number is nil`(text: String) {
    #expect(JSONNumber(text) == nil)
  }

  @Test(arguments: [
    ("1", "1.0", true), ("100", "1e2", true), ("0", "-0", true), ("0.10", "1E-1", true),
    ("9007199254740993", "9007199254740992", false), ("1", "-1", false),
    ("0", "0e99999999999999999999", true), ("0", "0.0e-9223372036854775808", true),
    ("5e-324", "0", false),
  ])
  func `numbers are compared exactly by value`(left: String, right: String, same: Bool) throws {
    let (left, right) = (try number(left), try number(right))
    #expect((left == right) == same)
    if same { #expect(left.hashValue == right.hashValue) }
  }

  @Test(
    arguments: [
      ("1", "1", "2"), ("0.1", "0.2", "0.3"), ("-5", "3", "-2"), ("1e2", "1", "101"),
      ("9223372036854775807", "1", "9223372036854775808"), ("0.5", "0.5", "1"),
      ("1", "-1", "0"), ("-0", "0", "0"), ("99.99", "0.01", "100"), ("1e60", "1e-3", "1e60+"),
      ("1e308", "1e308", nil), ("1e-323", "-9.9e-324", "1e-325"),
      ("1", "0e-9223372036854775808", "1"),
      ("1e300", "1e300", "2e300"), ("1e300", "1", nil), ("0", "1e300", "1e300"),
      ("123456789012345678901234567890", "1", "123456789012345678901234567891"),
    ] as [(String, String, String?)])
  func `a sum is exact or nil`(left: String, right: String, sum: String?) throws {
    let result = try number(left).adding(number(right))
    if sum == "1e60+" {
      #expect(result?.text == "1" + String(repeating: "0", count: 60) + ".001")
    } else {
      #expect(result?.text == sum)
    }
  }

  @Test
  func `sums agree with integer arithmetic`() throws {
    var random = SeededRandom(seed: 5)
    for _ in 0..<2_000 {
      let a = Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random)
      let b = Int64.random(in: -1_000_000...1_000_000, using: &random)
      // In thousandths, to test the decimal path.
      let left = try number("\(a)e-3"), right = try number("\(b)e-3")
      #expect(left.adding(right) == JSONNumber("\(a + b)e-3"))
    }
  }

  @Test
  func `numbers too small for a double are compared, but not added to larger ones`() throws {
    let inOrder = [
      "-1e-400", "-1e-99999999999999999999", "-1e-199999999999999999999", "0",
      "1e-199999999999999999999", "1e-99999999999999999999", "9e-99999999999999999999",
      "1e-1000000000000", "1e-5000", "1e-400", "1.5e-400", "1e-300",
    ]
    for (i, left) in inOrder.enumerated() {
      for (k, right) in inOrder.enumerated() {
        let (left, right) = (try number(left), try number(right))
        #expect((left < right) == (i < k), "\(left.text) \(right.text)")
        #expect((left == right) == (i == k), "\(left.text) \(right.text)")
      }
    }
    #expect(try number("10e-401") == (try number("1e-400")))
    #expect(try number("1.0e-00099999999999999999999") == (try number("1e-99999999999999999999")))
    #expect(try number("1e-400").isTooSmallForDouble)
    #expect(try !number("0e-400").isTooSmallForDouble)
    #expect(try number("1e-400").adding(number("2e-400")) == (try number("3e-400")))
    #expect(try number("1").adding(number("1e-400")) == nil)
    #expect(try number("1").adding(number("1e-99999999999999999999")) == nil)
    #expect(try number(String(repeating: "9", count: 65)).adding(number("1")) != nil)
    #expect(try number(String(repeating: "7", count: 65)).adding(number("1")) == nil)
    #expect(try number("1e-400").int64 == nil)
  }
}
