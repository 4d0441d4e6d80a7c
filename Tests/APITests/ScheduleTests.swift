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
      time = daily.next(after: time, offset: Self.offset)
      found.append(time - start)
    }
    #expect(found == expected)
  }

  @Test
  func `a daily time is on every day once, whatever the time of the question`() throws {
    for text in [#""02:30""#, #""00:00""#, #""23:59:59""#, #""03:00""#] {
      let daily = try schedule(text)
      for start in stride(from: Int64(1_774_656_000), to: 1_774_656_000 + 4 * 86_400, by: 600) {
        let next = daily.next(after: start, offset: Self.offset)
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
  ]

  @Test(arguments: someDays)
  func `a time counts on some days`(text: String, days: [Int64]) throws {
    let schedule = try schedule("\"\(text)\"")
    let begin: Int64 = 1_767_225_600
    var time = begin + 12 * 3600
    for day in days {
      time = schedule.next(after: time) { _ in 0 }
      #expect(time == begin + day * 86_400 + 8 * 3600)
    }
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
      time = schedule.next(after: time, offset: rules.offset)
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
    #expect(weekdays.catchesUp)
    #expect(try !schedule("5m").catchesUp)
  }
}
