import Console
import JSON
import Model
import Testing
import Wire

struct TypedTests {
  @Test
  func `a value is read as JSON if possible, otherwise as a string`() {
    for (typed, text) in [
      ("true", "true"), ("-5", "-5"), ("1.50", "1.50"), ("null", "null"), ("[1, 2]", "[1,2]"),
      ("\"5\"", "\"5\""), ("Kim", "\"Kim\""), ("{\"a\":", "\"{\\\"a\\\":\""), ("", "\"\""),
      ("01", "\"01\""), ("say \"hi\"", #""say \"hi\"""#),
    ] {
      #expect(JSONText(typed: typed).text == text)
    }
  }

  @Test
  func `JSON that is too large for the daemon is not read as a string`() {
    let object = "{" + (0..<5_000).map { #""k\#($0)":1"# }.joined(separator: ",") + "}"
    #expect(JSONText(typed: object).text == object)
  }

  @Test
  func `a duration has a unit or is in seconds`() {
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

  /// A local clock that is one hour ahead of UTC.
  private static var clock: LocalClock {
    LocalClock(
      now: Timestamp("2026-01-02T03:04:05.5Z") ?? Timestamp(microseconds: 0),
      shown: { Timestamp(microseconds: $0.microseconds + 3_600_000_000) },
      moment: { Timestamp(microseconds: $0.microseconds - 3_600_000_000) })
  }

  @Test(arguments: [
    ("-5m", "2026-01-02T02:59:05.5Z"), ("-1h30m", "2026-01-02T01:34:05.5Z"),
    ("1h ago", "2026-01-02T02:04:05.5Z"), ("5 minutes ago", "2026-01-02T02:59:05.5Z"),
    ("1 day 2h ago", "2026-01-01T01:04:05.5Z"), ("10s ago", "2026-01-02T03:03:55.5Z"),
    ("2 weeks ago", "2025-12-19T03:04:05.5Z"), ("1hour ago", "2026-01-02T02:04:05.5Z"),
    ("@1795313984", "2026-11-22T02:19:44Z"), ("@1795313984.25", "2026-11-22T02:19:44.25Z"),
    ("08:30", "2026-01-02T07:30:00Z"), ("8:30", "2026-01-02T07:30:00Z"),
    ("23:59:59.5", "2026-01-02T22:59:59.5Z"),
    ("today", "2026-01-01T23:00:00Z"), ("yesterday", "2025-12-31T23:00:00Z"),
    ("Yesterday 18:00", "2026-01-01T17:00:00Z"), ("today 9:00", "2026-01-02T08:00:00Z"),
    ("tomorrow", "2026-01-02T23:00:00Z"),
    ("2026-11-20T20:00", "2026-11-20T19:00:00Z"),
    ("2026-11-20 20:00:07.5", "2026-11-20T19:00:07.5Z"), ("2026-11-20", "2026-11-19T23:00:00Z"),
    ("2026-11-20T20:00Z", "2026-11-20T20:00:00Z"),
    ("2026-11-20T20:00+02:00", "2026-11-20T18:00:00Z"),
  ])
  func `a time is relative, a day, local, with a zone or a Unix time`(
    typed: String, time: String
  ) throws {
    #expect(try When(typed, Self.clock) == .time(try #require(Timestamp(time))))
  }

  @Test
  func `a moment is also a position or an end of the journal`() throws {
    #expect(try When("81234", Self.clock) == .seq(81234))
    #expect(try When("start", Self.clock) == .start)
    #expect(try When("now", Self.clock) == .now)
  }

  @Test(arguments: [
    "", "noon", "-5x", "2026-13-01", "-", "ago", "5 ago", "24:00", "8:3", "08:61", "today 8",
    "yesterday-", "@", "@x", "@-1", "@1e5", "1h agoo", "2026-02-30", "08:30 today",
  ])
  func `an invalid time is rejected with a reference to the help`(typed: String) {
    let error = #expect(throws: UsageError.self) { try When(typed, Self.clock) }
    #expect(error?.command == "when")
    #expect(
      error?.description
        == "'\(typed)' is not a time; for example: 81234 (a position), -5m, 08:30, yesterday")
  }

  @Test
  func `a duration alone is a time before now without its sign`() {
    let error = #expect(throws: UsageError.self) { try When("1h30m", Self.clock) }
    #expect(error?.description == "'1h30m' is not a time; did you mean '-1h30m'?")
  }
}
