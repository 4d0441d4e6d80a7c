import JSON
import TestSupport
import Testing

struct JSONScannerTests {
  /// The fault of a text; `nil` if the text is one valid value.
  private func fault(_ bytes: [UInt8]) -> JSONFault? {
    var scanner = JSONScanner(bytes.span)
    do throws(JSONFault) {
      _ = try scanner.value()
      try scanner.end()
      return nil
    } catch {
      return error
    }
  }

  private func fault(_ text: String) -> JSONFault? { fault(Array(text.utf8)) }

  @Test(arguments: [
    "null", "true", "false", "0", "-0", "12", "-3.5", "1e10", "1E-7", "0.0e+0", "\"\"", "[]", "{}",
    " [ ] ", "{ }", "[1,2]", "[[],[{}]]", #"{"a":1,"b":[true,null]}"#, #"{"":0}"#,
    #""\u0000\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t""#, "\"ü 漢 😀 \u{7f}\"", "\t1\r\n",
    "9007199254740993", "18446744073709551616",
  ])
  func `valid JSON by RFC 8259 is accepted`(text: String) {
    #expect(fault(text) == nil)
  }

  @Test(arguments: [
    ("", 0, JSONFault.Reason.unexpectedEnd),
    ("  ", 2, .unexpectedEnd),
    ("nul", 3, .unexpectedEnd),
    ("nulL", 3, .unexpectedByte),
    ("NaN", 0, .unexpectedByte),
    ("Infinity", 0, .unexpectedByte),
    ("-Infinity", 1, .badNumber),
    ("'a'", 0, .unexpectedByte),
    ("+1", 0, .unexpectedByte),
    (".5", 0, .unexpectedByte),
    ("01", 1, .badNumber),
    ("-", 1, .unexpectedEnd),
    ("-a", 1, .badNumber),
    ("1.", 2, .unexpectedEnd),
    ("1.e5", 2, .badNumber),
    ("1e", 2, .unexpectedEnd),
    ("1e+", 3, .unexpectedEnd),
    ("1ea", 2, .badNumber),
    ("0x10", 1, .trailingBytes),
    ("1e400", 0, .numberOverflow),
    ("-1e400", 0, .numberOverflow),
    ("[1e309]", 1, .numberOverflow),
    ("1e99999999999999999999", 0, .numberOverflow),
    ("1 2", 2, .trailingBytes),
    ("[1,]", 3, .trailingComma),
    ("[,1]", 1, .expectedValue),
    ("[1 2]", 3, .expectedCommaOrBracket),
    ("[1", 2, .unexpectedEnd),
    ("[", 1, .unexpectedEnd),
    ("]", 0, .expectedValue),
    ("[}", 1, .expectedValue),
    ("{\"a\":1,}", 7, .trailingComma),
    ("{,}", 1, .expectedKey),
    ("{a:1}", 1, .expectedKey),
    ("{1:1}", 1, .expectedKey),
    ("{\"a\" 1}", 5, .expectedColon),
    ("{\"a\":}", 5, .expectedValue),
    ("{\"a\":1 \"b\":2}", 7, .expectedCommaOrBrace),
    ("{\"a\":1", 6, .unexpectedEnd),
    ("{\"a\"", 4, .unexpectedEnd),
    ("{", 1, .unexpectedEnd),
    ("\"a", 2, .unexpectedEnd),
    ("\"a\nb\"", 2, .controlCharacter),
    ("\"\t\"", 1, .controlCharacter),
    ("\"\u{0}\"", 1, .controlCharacter),
    ("\"\\x\"", 1, .badEscape),
    ("\"\\u12g4\"", 5, .badEscape),
    ("\"\\u12", 5, .unexpectedEnd),
    ("\"\\", 2, .unexpectedEnd),
    ("\"ab\\ud800\"", 3, .loneSurrogate),
    ("\"\\udc00\"", 1, .loneSurrogate),
    ("\"\\udc00\\ud800\"", 1, .loneSurrogate),
    ("\"\\ud800\\ud800\"", 1, .loneSurrogate),
    ("\"\\ud800x\"", 1, .loneSurrogate),
    ("{\"\\ud800\":1}", 2, .loneSurrogate),
    ("\u{FEFF}1", 0, .byteOrderMark),
    ("/* */1", 0, .unexpectedByte),
    ("ü", 0, .badUTF8),
  ])
  func `invalid JSON is rejected at the byte that breaks the rule`(
    text: String, offset: Int, reason: JSONFault.Reason
  ) {
    #expect(fault(text) == JSONFault(offset: offset, reason: reason))
  }

  /// Sequences just outside each row of table 3-7 in the Unicode Standard.
  @Test(
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x9F, 0x80],
      [0xE0, 0xA0], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xEE, 0x80, 0x41],
      [0xF0, 0x8F, 0x80, 0x80],
      [0xF0, 0x90, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
      [0xF1, 0x80, 0x80, 0xC0],
    ] as [[UInt8]])
  func `bytes that are not UTF-8 are rejected`(sequence: [UInt8]) {
    let quote = UInt8(ascii: "\"")
    #expect(fault([quote, 0x61] + sequence + [quote]) == JSONFault(offset: 2, reason: .badUTF8))
    #expect(fault([quote] + sequence)?.reason == .badUTF8)
  }

  @Test
  func `every scalar is accepted as UTF-8`() throws {
    for value in stride(from: UInt32(0x20), through: 0x10FFFF, by: 61) {
      guard let scalar = Unicode.Scalar(value), value != 0x22, value != 0x5C else { continue }
      #expect(fault("\"\(scalar)\"") == nil, "U+\(value)")
    }
  }

  @Test(arguments: [64, 65, 100_000])
  func `nesting is limited to 64 levels and does not use the stack`(depth: Int) {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      let middle = open == "[" ? "" : "0"
      let text =
        String(repeating: open, count: depth) + middle + String(repeating: close, count: depth)
      let offset = 64 * open.utf8.count
      #expect(
        fault(text) == (depth > 64 ? JSONFault(offset: offset, reason: .tooDeep) : nil))
    }
  }

  @Test
  func `an object may have 4096 members, also if many such objects follow`() {
    func object(_ count: Int) -> String {
      "{" + (0..<count).map { "\"m\($0)\":{\"x\":0}" }.joined(separator: ",") + "}"
    }
    #expect(fault(object(4096)) == nil)
    #expect(fault("[\(object(4096)),\(object(4096))]") == nil)
    #expect(fault(object(4097))?.reason == .tooManyMembers)
    #expect(fault("[\(object(1)),\(object(4097))]")?.reason == .tooManyMembers)
  }

  @Test
  func `a number may have 1024 digits and any negative exponent`() {
    let digits = String(repeating: "7", count: 1023)
    #expect(fault("0." + digits) == nil)
    #expect(fault("[0.\(digits)7]") == JSONFault(offset: 1, reason: .tooManyDigits))
    #expect(fault("1e-" + digits) == nil)
    for number in ["1e-400", "-0.1e-9223372036854775808", "1e-99999999999999999999"] {
      #expect(fault(number) == nil, "\(number)")
    }
  }

  @Test
  func `a number that is too large for a double is rejected at its offset`() {
    let digits = String(repeating: "9", count: 308)
    #expect(fault("[\(digits)]") == nil)
    #expect(fault("[\(digits)9]") == JSONFault(offset: 1, reason: .numberOverflow))
    #expect(fault("[\(digits)9.5e-3]") == nil)
    #expect(fault("[0,-\(digits)\(digits)]") == JSONFault(offset: 3, reason: .numberOverflow))
  }

  @Test
  func `a lenient scanner enforces the grammar but no limits`() throws {
    func passes(_ text: String) -> Bool {
      let bytes = Array(text.utf8)
      var scanner = JSONScanner(lenient: bytes.span)
      return (try? scanner.value()) != nil && (try? scanner.end()) != nil
    }
    let deep = String(repeating: "[", count: 100_000)
    #expect(passes(deep + String(repeating: "]", count: 100_000)))
    #expect(!passes(deep))
    #expect(
      passes(String(repeating: #"{"a":"#, count: 500) + "1" + String(repeating: "}", count: 500)))
    #expect(passes(#"{"a":[1e999,"\ud800",{}],"b":\#(String(repeating: "7", count: 5_000))}"#))
    for text in ["", "[1,]", #"{"a":}"#, #"{"a":1]"#, "1 2", #""\ud8""#, "[01]", "[\"\u{1}\"]"] {
      #expect(!passes(text), "\(text)")
    }
  }

  @Test
  func `a document cut at any point is rejected, at an offset within it`() {
    var random = SeededRandom(seed: 1)
    for _ in 0..<200 {
      let bytes = Array("[\(randomDocument(&random))]".utf8)
      #expect(fault(bytes) == nil, "\(String(decoding: bytes, as: UTF8.self))")
      for end in bytes.indices {
        let found = fault(Array(bytes[..<end]))
        #expect(found != nil, "\(String(decoding: bytes[..<end], as: UTF8.self))")
        #expect((found?.offset ?? 0) <= end)
      }
    }
  }

  @Test
  func `the members of an object are visited in order`() throws {
    let text = #" { "id" : 7 , "p" : { "x" : [ 1 ] } , "\u006be\u0079" : "v" } "#
    let bytes = Array(text.utf8)
    var scanner = JSONScanner(bytes.span)
    var members: [String: String] = [:]
    var more = try scanner.enterObject()
    while more {
      let name = scanner.text(try scanner.key())
      scanner.skipWhitespace()
      let start = scanner.position
      _ = try scanner.value()
      members[name] = String(decoding: bytes[start..<scanner.position], as: UTF8.self)
      more = try scanner.nextMember()
    }
    try scanner.end()
    #expect(members == ["id": "7", "p": #"{ "x" : [ 1 ] }"#, "key": #""v""#])
  }

  /// Strings are scanned by words of eight bytes.
  @Test(arguments: 0..<20)
  func `a byte that is not plain is found at each place of a string`(place: Int) {
    for byte in UInt8.min ... .max {
      var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 20)
      bytes[place] = byte
      let text = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
      let isPlain =
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      var scanner = JSONScanner(text.span)
      let token = try? scanner.string()
      if isPlain {
        #expect(token?.isPlain == true && token?.end == 21)
      } else if byte == UInt8(ascii: "\"") {
        #expect(token?.end == place + 1)
      } else {
        #expect(token?.isPlain != true)
      }
    }
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("-9223372036854775808", Int64.min), ("9223372036854775807", .max),
      ("1.0", 1), ("1e2", 100), ("12.50e1", 125), ("9223372036854775808", nil), ("1.5", nil),
      ("1e19", nil), ("0e999", 0),
    ] as [(String, Int64?)])
  func `an integer is known by its value`(text: String, value: Int64?) {
    let bytes = Array(text.utf8)
    #expect(JSONScanner(bytes.span).integer(0..<bytes.count) == value)
  }
}
