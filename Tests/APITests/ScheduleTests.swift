import API
import ServiceTestSupport
import Signals
import TestSupport
import Testing

@testable import Features

/// The times of `every`, and the changes between winter and summer time.
@Suite(.leavesNothing)
struct ScheduleTests {
  /// The time zone of central Europe in 2026: summer time from 29 March to 25 October, 01:00 UTC.
  private static func offset(_ seconds: Int64) -> Int64 {
    (1_774_746_000..<1_792_890_000).contains(seconds) ? 7200 : 3600
  }

  private func schedule(_ text: String) throws -> Schedule {
    guard
      case .every(let argument, let option) = try BindExpression("every(\(text)) ~> cells/x").source
    else { preconditionFailure("not every") }
    return try Schedule(argument, option)
  }

  /// The seconds from midnight UTC of 28 March and 24 October 2026 to the next times.
  private static let days: [(String, Int64, [Int64])] = [
    // The clock goes from 02:00 to 03:00 on 29 March.
    (#""08:00""#, 1_774_656_000, [7 * 3600, 30 * 3600, 54 * 3600]),
    // 02:30 does not exist then: the first moment after it is 03:00.
    (#""02:30""#, 1_774_656_000, [5400, 86_400 + 3600, 2 * 86_400 + 1800]),
    // The clock goes from 03:00 to 02:00 on 25 October.
    (#""08:00""#, 1_792_800_000, [6 * 3600, 31 * 3600, 55 * 3600]),
    (#""02:30""#, 1_792_800_000, [1800, 86_400 + 1800, 2 * 86_400 + 5400]),
    (#""00:00""#, 1_792_800_000, [22 * 3600, 47 * 3600, 71 * 3600]),
  ]

  @Test(arguments: days)
  func `21: a daily time follows the clock on the wall`(
    text: String, start: Int64, expected: [Int64]
  ) throws {
    let daily = try schedule(text)
    var (time, found) = (start, [Int64]())
    for _ in expected {
      time = try #require(daily.next(after: time, offset: Self.offset))
      found.append(time - start)
    }
    #expect(found == expected)
  }

  @Test
  func `a daily time is on every day once, whatever the time of the question`() throws {
    for text in [#""02:30""#, #""00:00""#, #""23:59:59""#, #""03:00""#] {
      let daily = try schedule(text)
      for start in stride(from: Int64(1_774_656_000), to: 1_774_656_000 + 4 * 86_400, by: 600) {
        let next = try #require(daily.next(after: start, offset: Self.offset))
        #expect(next > start && next <= start + 90_000)
        #expect(daily.next(after: next - 1, offset: Self.offset) == next)
      }
    }
  }

  private static let intervals: [(String, Int64, Int64)] = [
    ("5m", 0, 300), ("5m", 299, 300), ("5m", 300, 600), ("1h", 3601, 7200), ("1s", 7, 8),
    ("5m", -1, 0), ("5m", -300, 0),
  ]

  @Test(arguments: intervals)
  func `an interval counts from 1970`(text: String, after: Int64, next: Int64) throws {
    #expect(try schedule(text).next(after: after, offset: Self.offset) == next)
  }

  /// Days from 1 January 2026, a Thursday, at noon, and the days until the next times.
  private static let someDays: [(String, [Int64])] = [
    ("mon-fri 08:00", [1, 4, 5, 6, 7, 8, 11]), ("sat,sun 08:00", [2, 3, 9, 10]),
    ("fri-mon 08:00", [1, 2, 3, 4, 8]), ("thu 08:00", [7, 14]), ("mon,wed-thu 08:00", [4, 6, 7]),
    ("*-01 08:00", [31, 59, 90]), ("02-01 08:00", [31, 396]), ("*-31 08:00", [30, 89, 150]),
    // The next leap year is 2028.
    ("02-29 08:00", [789, 789 + 1461]), ("12-31 08:00", [364, 729]),
    ("*-01,*-15 08:00", [14, 31, 45, 59]), ("12-24,12-25 08:00", [357, 358, 722]),
    ("mon,*-01 08:00", [4, 11, 18, 25, 31, 32]), ("*-30 08:00", [29, 88, 119]),
    // Days of one year end with it.
    ("2026-12-24 08:00", [357]), ("2025-12-24 08:00", []), ("2026-01-01 08:00", []),
    ("2028-02-29 08:00", [789]), ("2027-*-31 08:00", [395, 454, 515, 576, 607, 668, 729]),
    ("2026-02-01,2028-02-01 08:00", [31, 761]), ("2500-01-01 08:00", [173_125]),
  ]

  @Test(arguments: someDays)
  func `a time counts on some days`(text: String, days: [Int64]) throws {
    let schedule = try schedule("\"\(text)\"")
    let begin: Int64 = 1_767_225_600
    var time = begin + 12 * 3600
    for day in days {
      time = try #require(schedule.next(after: time) { _ in 0 })
      #expect(time == begin + day * 86_400 + 8 * 3600)
    }
    if text.hasPrefix("20") || text.hasPrefix("2500") {
      #expect(schedule.next(after: time) { _ in 0 } == nil)
    }
  }

  @Test
  func `21: the time of a date follows the clock on the wall`() throws {
    // 02:30 does not exist on 29 March, and is there twice on 25 October; the first one counts.
    let texts = [
      ("03-29 02:30", 1_774_746_000), ("2026-10-25 02:30", 1_792_888_200),
      ("*-25 08:00", 1_774_422_000), ("*-29 08:00", 1_774_764_000),
    ]
    for (text, expected) in texts {
      let after: Int64 = text.contains("10-25") ? 1_792_800_000 : 1_774_400_000
      #expect(
        try schedule("\"\(text)\"").next(after: after, offset: Self.offset) == Int64(expected))
    }
    // The second 02:30 of that day is none, and the year has no other.
    #expect(
      try schedule(#""2026-10-25 02:30""#).next(after: 1_792_888_200, offset: Self.offset) == nil)
  }

  private static let rules = [
    ("02-30 08:00", "'02-30': the month has no day 30"),
    ("04-31 08:00", "'04-31': the month has no day 31"),
    ("2027-02-29 08:00", "'2027-02-29': the month has no day 29"),
    ("2100-02-29 08:00", "'2100-02-29': the month has no day 29"),
    ("13-01 08:00", "'13-01': '13' is no month from 01 to 12, and not *"),
    ("*-32 08:00", "'*-32': no month has a day 32"),
    ("*-00 08:00", "'*-00': no month has a day 00"),
    ("26-12-24 08:00", "'26' is no year from 1970 to 9999"),
    ("*-12-24 08:00", "'*' is no year from 1970 to 9999"),
    ("12-24 8:00", "'8:00' is no time from 00:00 to 23:59:59"),
    ("12-24 24:00", "'24:00' is no time from 00:00 to 23:59:59"),
    ("mon,12-4 08:00", "'12-4' is no day such as mon, mon-fri, 12-24, *-01 or 2026-12-24"),
    ("mo 08:00", "'mo' is no day such as mon, mon-fri, 12-24, *-01 or 2026-12-24"),
    (
      "12-24-26-01 08:00", "'12-24-26-01' is no day such as mon, mon-fri, 12-24, *-01 or 2026-12-24"
    ),
    ("08:00 Europe/../Berlin", "a time zone is named as in /usr/share/zoneinfo"),
  ]

  @Test(arguments: rules)
  func `30: the error of a day names the place and the rule`(text: String, rule: String) throws {
    let error = #expect(throws: BindFault.self) { try schedule("\"\(text)\"") }
    #expect(
      error?.message.hasSuffix(#", not "\#(text)": \#(rule)"#) == true, "\(error?.message ?? "")")
    #expect(error?.column == 7)
  }

  @Test(arguments: [
    "mon-fr 08:00", "08:00 mon", "mon  08:00", "13-01 08:00", "02-30 08:00", "*-32 08:00",
    "mon,,tue 08:00", "mon-tue-wed 08:00", "- 08:00", "mon 8:00", "", "Europe/Berlin",
    "mon Europe/Berlin", "08:00 Europe/../Berlin", "08:00 /Berlin", "08:00 europe/berlin",
    "08:00  UTC", "08:00 UTC UTC",
  ])
  func `other days are refused`(text: String) throws {
    #expect(throws: BindFault.self) { try schedule("\"\(text)\"") }
    #expect(throws: BindFault.self) { try schedule("\"08:00\", later") }
    #expect(throws: BindFault.self) { try schedule("\"08:00\", 5m") }
  }

  @Test
  func `a time has days and a zone of its own`() throws {
    let schedule = try schedule(#""mon-fri 07:00 Europe/Berlin""#)
    #expect(schedule.zone == "Europe/Berlin")
    let rules = try #require(ZoneRules(TimeZoneFile.berlin))
    // Friday 27 March 2026, 12:00 UTC; the clock changes on Sunday.
    var time: Int64 = 1_774_612_800
    for next in [1_774_846_800, 1_774_933_200] as [Int64] {
      time = try #require(schedule.next(after: time, offset: rules.offset))
      #expect(time == next)
    }
    #expect(try self.schedule(#""07:00 UTC""#).zone == "UTC")
    #expect(try self.schedule(#""07:00""#).zone == nil)
  }

  @Test
  func `the last time that was missed is known`() throws {
    let weekdays = try schedule(#""mon-fri 08:00", catch_up"#)
    let friday: Int64 = 1_767_225_600 + 86_400
    let missed = weekdays.last(upTo: friday + 2 * 86_400, after: friday - 3 * 86_400) { _ in 0 }
    #expect(missed == friday + 8 * 3600)
    #expect(weekdays.last(upTo: friday + 86_400, after: friday + 9 * 3600) { _ in 0 } == nil)
    #expect(try schedule("5m, catch_up").last(upTo: 1000, after: 0) { _ in 0 } == 900)
    #expect(try schedule("5m, catch_up").last(upTo: 1000, after: 950) { _ in 0 } == nil)
    // 29 February 2096; the next one is of 2104.
    let leap = try schedule(#""02-29 08:00", catch_up"#)
    let last: Int64 = 3_981_312_000 + 8 * 3600
    #expect(leap.last(upTo: last + 2920 * 86_400, after: last - 1) { _ in 0 } == last)
    #expect(
      leap.last(upTo: last + 2922 * 86_400, after: last - 1) { _ in 0 } == last + 2921 * 86_400)
    let once = try schedule(#""2026-01-02 08:00", catch_up"#)
    #expect(once.last(upTo: friday + 86_400, after: friday) { _ in 0 } == friday + 8 * 3600)
    #expect(once.last(upTo: friday + 86_400, after: friday + 9 * 3600) { _ in 0 } == nil)
    #expect(weekdays.catchesUp)
    #expect(try !schedule("5m").catchesUp)
  }
}
