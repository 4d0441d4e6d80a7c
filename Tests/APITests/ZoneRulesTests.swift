import TestSupport
import Testing

@testable import Features

/// Files of the time zone database.
@Suite(.leavesNothing)
struct ZoneRulesTests {
  /// Rules, and the hours ahead of UTC at noon of 15 January and 15 July 2040, both in UTC.
  private static let footers: [(String, Double, Double)] = [
    ("CET-1CEST,M3.5.0,M10.5.0/3", 1, 2), ("EST5EDT,M3.2.0,M11.1.0", -5, -4),
    ("AEST-10AEDT,M10.1.0,M4.1.0/3", 11, 10), ("IST-5:30", 5.5, 5.5),
    ("IST-1GMT0,M10.5.0,M3.5.0/1", 0, 1), ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -2, -1),
    ("<+0330>-3:30<+0430>,J79/24,J263/24", 3.5, 4.5), ("<+00>0<+02>-2,60,300", 0, 2),
    ("UTC0", 0, 0),
  ]

  @Test(arguments: footers)
  func `a rule gives the offsets after the last change`(
    footer: String, january: Double, july: Double
  ) throws {
    let rules = try #require(ZoneRules(TimeZoneFile.bytes([], footer)))
    #expect(rules.offset(at: 2_210_241_600) == Int64(january * 3600))
    #expect(rules.offset(at: 2_225_966_400) == Int64(july * 3600))
  }

  @Test
  func `the offset changes in the second that the file or its rule says`() throws {
    let rules = try #require(ZoneRules(TimeZoneFile.berlin))
    // Changes of the file in 2026; then changes by the rule, in 2027 and in the leap year 2028.
    for (time, before, after) in [
      (1_774_746_000, 3600, 7200), (1_792_890_000, 7200, 3600), (1_806_195_600, 3600, 7200),
      (1_824_944_400, 7200, 3600), (1_837_645_200, 3600, 7200), (1_856_394_000, 7200, 3600),
    ] as [(Int64, Int64, Int64)] {
      #expect(rules.offset(at: time - 1) == before, "\(time)")
      #expect(rules.offset(at: time) == after, "\(time)")
    }
    #expect(rules.offset(at: -5_000_000_000) == 3600, "before the first change")
  }

  @Test
  func `30: a damaged file is no zone`() {
    let whole = TimeZoneFile.berlin
    for count in whole.indices { #expect(ZoneRules(Array(whole.prefix(count))) == nil, "\(count)") }
    // Any change of a byte is refused or gives other offsets, and never more than that.
    for i in whole.indices {
      for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
        var bytes = whole
        bytes[i] = value
        for time: Int64 in [.min / 4, 0, 1_800_000_000, .max / 4] {
          _ = ZoneRules(bytes)?.offset(at: time)
        }
      }
    }
    for footer in [
      "CET", "CET-1CEST", "CET-1CEST,M13.1.0,M1.1.0", "CET-200", "C-1", "CET-1,", "<CET-1",
    ] {
      #expect(ZoneRules(TimeZoneFile.bytes([], footer)) == nil, "\(footer)")
    }
  }
}

/// Files in the form of the time zone database.
enum TimeZoneFile {
  /// Central Europe, with the changes of 2026 and the rule for later years.
  static let berlin = bytes(
    [(1_774_746_000, 7200), (1_792_890_000, 3600)], "CET-1CEST,M3.5.0,M10.5.0/3")

  /// - Parameters:
  ///   - changes: The times in seconds since 1970, and the offset from then on; 3600 before.
  ///   - footer: The rule after the last change.
  static func bytes(_ changes: [(time: Int64, offset: Int32)], _ footer: String) -> [UInt8] {
    func big(_ value: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: value.bigEndian, Array.init)
    }
    func header(_ times: Int, _ types: Int, _ characters: Int) -> [UInt8] {
      Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
        + [0, 0, 0, times, types, characters].flatMap { big(Int32($0)) }
    }
    let offsets = [3600] + changes.map(\.offset)
    var bytes = header(0, 1, 4) + big(Int32(0)) + [0, 0] + Array("ABC\0".utf8)
    bytes += header(changes.count, offsets.count, 4)
    bytes += changes.flatMap { big($0.time) }
    bytes += changes.indices.map { UInt8($0 + 1) }
    for offset in offsets { bytes += big(offset) + [0, 0] }
    return bytes + Array("ABC\0\n\(footer)\n".utf8)
  }
}
