import JSON
import Testing
import Wire

struct NamesTests {
  @Test(
    arguments: [
      ("1970-01-01T00:00:00.000000Z", 0), ("2026-01-02T03:04:05.678901Z", 1_767_323_045_678_901),
      ("2000-02-29T23:59:59.999999Z", 951_868_799_999_999),
      ("1969-12-31T23:59:59.000001Z", -999_999),
      ("9999-12-31T00:00:00.000000Z", 253_402_214_400_000_000),
    ] as [(String, Int64)])
  func `a time is written in UTC and read back`(text: String, microseconds: Int64) {
    #expect(Timestamp(microseconds: microseconds).text == text)
    #expect(Timestamp(text)?.microseconds == microseconds)
  }

  @Test(
    arguments: [
      (.date, "2026-12-31", "2026-12-31"), (.date, "2026-02-29", nil), (.date, "31.12.2026", nil),
      (.date, "2026-1-1", nil), (.clock, "09:00", "09:00"), (.clock, "9:00", nil),
      (.clock, "24:00", nil), (.clock, "09:00:00", nil), (.clock, "today", nil),
      (.time, "2026-12-31T19:00+01:00", "2026-12-31T18:00:00.000000Z"), (.time, "19:00", nil),
      (.secret, "", ""),
    ] as [(Shape.Format, String, String?)])
  func `strings of a format compare as they follow each other`(
    format: Shape.Format, text: String, normal: String?
  ) {
    #expect(format.normal(text) == normal)
  }

  @Test(arguments: [
    ("2026-01-02T03:04Z", "2026-01-02T03:04:00.000000Z"),
    ("2024-02-29T00:00Z", "2024-02-29T00:00:00.000000Z"),
    ("2025-12-31T23:59:60Z", "2026-01-01T00:00:00.000000Z"),
    ("2026-01-02 03:04:05+01:30", "2026-01-02T01:34:05.000000Z"),
    ("2026-01-02T03:04:05.5-02:00", "2026-01-02T05:04:05.500000Z"),
    ("2026-01-02T03:04:05+23:59", "2026-01-01T03:05:05.000000Z"),
    ("2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123456Z"),
  ])
  func `times are read in the forms of RFC 3339`(text: String, same: String) {
    #expect(Timestamp(text)?.text == same)
  }

  @Test(arguments: [
    "", "2026", "2026-13-01T00:00Z", "2026-01-02T25:00Z", "2026-01-02T03:04", "x",
    "2026-02-31T00:00Z", "2026-04-31T00:00Z", "2026-02-29T00:00Z", "1900-02-29T00:00Z",
    "2026-01-00T00:00Z", "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+00:01",
    "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05-00:60", "2026-01-02T03:04:05+99:99",
  ])
  func `an invalid time is nil`(text: String) {
    #expect(Timestamp(text) == nil)
  }

  @Test
  func `a handle is a name or a number`() throws {
    let decoder = JSONDecoder()
    #expect(try decoder.decode(Handle.self, from: JSONText(parsing: "\"s:1\"")) == .name("s:1"))
    #expect(try decoder.decode(Handle.self, from: JSONText(parsing: "7")) == .number(7))
    for bad in ["\"\"", "\"a b\"", "true", "\"" + String(repeating: "x", count: 65) + "\""] {
      #expect(throws: JSONDecodingError.self) {
        try decoder.decode(Handle.self, from: JSONText(parsing: bad))
      }
    }
  }

  @Test
  func `every error has a unique code, and is decoded from its encoded form`() throws {
    #expect(Set(ErrorName.allCases.map(\.code)).count == ErrorName.allCases.count)
    for name in ErrorName.allCases {
      let error = WireError(name, "a \"message\"", ["what": .string("x")], retry: true)
      var buffer = ByteBuffer()
      error.write(to: &buffer)
      #expect(WireError(try JSONValue(parsing: buffer.string)) == error)
    }
  }
}
