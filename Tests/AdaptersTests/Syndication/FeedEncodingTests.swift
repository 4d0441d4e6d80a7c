import AppAdapters
import Apps
import Testing

/// The encoding of a feed, as declared by its server and by the feed itself.
struct FeedEncodingTests {
  private static func feed(_ title: [UInt8], declared: String? = nil) -> [UInt8] {
    let head = declared.map { "<?xml version='1.0' encoding='\($0)'?>" } ?? ""
    return Array((head + "<rss><channel><title>").utf8) + title
      + Array("</title></channel></rss>".utf8)
  }

  private func title(_ text: [UInt8], _ charset: String? = nil) throws(FeedTextFault) -> String? {
    try FeedText.parse(FeedPage(text, url: "http://a.example/", charset: charset)).title
  }

  @Test(
    arguments: [
      ([0xE9, 0x74, 0xE9], "ISO-8859-1", "été"),
      ([0x93, 0x61, 0x94, 0x80], "windows-1252", "“a”€"),
      ([0x93, 0xFA, 0x96, 0x7B], "Shift_JIS", "日本"),
      ([0xC6, 0xFC, 0xCB, 0xDC], "EUC-JP", "日本"),
      ([0xC4, 0xE3], "gb2312", "你"),
      ([0xF2, 0xC5], "koi8-r", "Ре"),
    ] as [([UInt8], String, String)])
  func `the encoding is declared by the server or by the text`(
    bytes: [UInt8], name: String, text: String
  ) throws {
    #expect(try title(Self.feed(bytes), name) == text)
    #expect(try title(Self.feed(bytes, declared: name)) == text)
    #expect(try title(Self.feed(bytes, declared: "x-nope"), name) == text, "the server knows it")
  }

  @Test
  func `valid UTF-8 is read as UTF-8, even if its server declares another encoding`() throws {
    let text = Array("été".utf8)
    #expect(try title(Self.feed(text, declared: "UTF-8"), "ISO-8859-1") == "été")
    #expect(try title(Self.feed(text), "us-ascii") == "été")
    #expect(try title(Self.feed(text, declared: "utf-16")) == "été")
    #expect(try title(Self.feed(text), "utf-16") == "été")
    let pairs = Self.feed(text).flatMap { byte -> [UInt8] in [byte, 0] }
    #expect(try title(pairs, "utf-16le") == "Ã©tÃ©", "and there are pairs as well")
    #expect(try title([0xEF, 0xBB, 0xBF] + Self.feed(text), "ISO-8859-1") == "été")
    #expect(try title(Self.feed([0xE9], declared: "ISO-8859-1"), "utf-8") == "é")
  }

  @Test
  func `an unknown encoding from the server is ignored`() throws {
    for name in ["binary", "utf8mb4", "x-nope", ""] {
      #expect(try title(Self.feed(Array("été".utf8)), name) == "été", "\(name)")
      #expect(try title(Self.feed([0xE9], declared: "ISO-8859-1"), name) == "é", "\(name)")
    }
    #expect(try title(Self.feed(Array("plain".utf8), declared: "US-ASCII")) == "plain")
  }

  @Test
  func `bytes that do not fit their encoding are replaced`() throws {
    let bad: [UInt8] = [0x93, 0xFA, 0xFF, 0x96, 0x7B]
    #expect(try title(Self.feed(bad, declared: "Shift_JIS")) == "日\u{FFFD}本")
    for name in ["utf-7", "ibm037", "../../x", "UTF-8//TRANSLIT", "windows-12599", ""] {
      #expect(try title(Self.feed([0x61, 0xE9]), name) == "a\u{FFFD}", "\(name)")
    }
    let wide = Self.feed(Array("ab".utf8)).flatMap { [$0, 0] as [UInt8] }
    // A high surrogate without its pair in place of the "a".
    let cut = wide.count - 2 * "ab</title></channel></rss>".utf8.count
    let broken = wide[..<cut] + [0x3D, 0xD8] + wide[(cut + 2)...]
    #expect(try title([0xFF, 0xFE] + broken) == "\u{FFFD}b")
  }
}
