import Console
import JSON
import Testing
import Wire

struct TypedTests {
  @Test
  func `a value is JSON if it can be, else a string`() {
    for (typed, text) in [
      ("true", "true"), ("-5", "-5"), ("1.50", "1.50"), ("null", "null"), ("[1, 2]", "[1,2]"),
      ("\"5\"", "\"5\""), ("Kim", "\"Kim\""), ("{\"a\":", "\"{\\\"a\\\":\""), ("", "\"\""),
      ("01", "\"01\""), ("say \"hi\"", #""say \"hi\"""#),
    ] {
      #expect(JSONText(typed: typed).text == text)
    }
  }

  @Test
  func `a span of time has a unit or is in seconds`() {
    for (typed, milliseconds) in [
      ("250ms", 250), ("2s", 2000), ("1.5s", 1500), ("0.25", 250), ("30", 30_000),
      ("5m", 300_000), ("1h30m", 5_400_000), ("7d", 604_800_000), ("1w", 604_800_000), ("0", 0),
    ] as [(String, UInt64)] {
      #expect(Duration.milliseconds(typed) == milliseconds, "\(typed)")
    }
    for typed in ["", "m", "5x", "-5s", "5m3", "1e99", "nan", "inf", "5 m"] {
      #expect(Duration.milliseconds(typed) == nil, "\(typed)")
    }
  }

  @Test
  func `a moment is a seq, a time ago, a time here or elsewhere, or an end`() throws {
    let now = try #require(Timestamp("2026-01-02T03:04:05Z"))
    /// Clocks here are an hour before UTC.
    func when(_ text: String) throws -> When {
      try When(text, now: now) { Timestamp(microseconds: $0.microseconds - 3_600_000_000) }
    }
    func time(_ text: String) throws -> When { .time(try #require(Timestamp(text))) }
    #expect(try when("81234") == .seq(81234))
    #expect(try when("start") == .start)
    #expect(try when("now") == .now)
    #expect(try when("-5m") == time("2026-01-02T02:59:05Z"))
    #expect(try when("2026-11-20T20:00") == time("2026-11-20T19:00:00Z"))
    #expect(try when("2026-11-20 20:00:07.5") == time("2026-11-20T19:00:07.5Z"))
    #expect(try when("2026-11-20") == time("2026-11-19T23:00:00Z"))
    #expect(try when("2026-11-20T20:00Z") == time("2026-11-20T20:00:00Z"))
    #expect(try when("2026-11-20T20:00+02:00") == time("2026-11-20T18:00:00Z"))
    for text in ["", "yesterday", "-5x", "2026-13-01", "-"] {
      #expect(throws: UsageError.self) { try when(text) }
    }
  }

  @Test
  func `a condition in one word is taken apart`() {
    #expect(Condition("cells/lamp") == nil)
    for (text, source, comparison, value) in [
      ("a/b > 20", "a/b", .greater, "20"), ("a/b>=20", "a/b", .greaterOrEqual, "20"),
      ("a/b == on", "a/b", .equal, "\"on\""), ("a/b != null", "a/b", .notEqual, "null"),
      ("a/b<1", "a/b", .less, "1"), ("a/b <= 1", "a/b", .lessOrEqual, "1"),
    ] as [(String, String, Condition.Comparison, String)] {
      let condition = Condition(text)
      #expect(condition?.source == source)
      #expect(condition?.comparison == comparison)
      #expect(condition?.value.text == value)
    }
  }

  @Test(arguments: [
    ("a >> 5", false), ("a >", false), ("a >=", false), ("a == ==", false), ("a > 5 6", false),
    ("a <> 5", false), ("a > 5", true), ("a == Jane Doe", true), (#"a == """#, true),
    (#"a > ">5""#, true), ("a != null", true), ("a > b", true),
  ])
  func `what is typed wrong is no whole condition`(text: String, isWhole: Bool) throws {
    #expect(try #require(Condition(text)).isWhole == isWhole)
  }

  @Test
  func `a condition compares numbers by value, and like with like only`() throws {
    func holds(_ condition: String, _ value: String?) throws -> Bool {
      try #require(Condition(condition)).holds(for: value.map { JSONText(typed: $0) })
    }
    for (condition, value, result) in [
      ("a > 20", "20.5", true), ("a > 20", "20", false), ("a >= 20", "2e1", true),
      ("a < 20", "3", true), ("a <= 20", "21", false), ("a == 1", "1.0", true),
      ("a == on", "on", true), ("a == on", "off", false), ("a != on", "off", true),
      ("a > 20", "\"30\"", false), ("a < b", "a", true), ("a > 20", "true", false),
      ("a == 1", nil, false), ("a != 1", nil, true), ("a < 1", nil, false),
    ] as [(String, String?, Bool)] {
      #expect(try holds(condition, value) == result, "\(condition) with \(value ?? "nothing")")
    }
    #expect(Condition("a", is: JSONText(true)).holds(for: JSONText(true)))
  }
}
