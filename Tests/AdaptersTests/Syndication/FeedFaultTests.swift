import AppAdapters
import Apps
import Testing

/// Feeds with faults: what is whole is kept, and the common faults are repaired.
struct FeedFaultTests {
  private func parse(_ bytes: some Sequence<UInt8>) throws(FeedTextFault) -> FeedDocument {
    try FeedText.parse(FeedPage(Array(bytes), url: "https://feed.example/news/rss.xml"))
  }

  private func rss(_ title: [UInt8], after: String = "") -> [UInt8] {
    Array("<rss><channel><item><guid>1</guid><title>".utf8) + title
      + Array("</title><link>/1</link></item></channel></rss>\(after)".utf8)
  }

  private func json(_ title: [UInt8], after: String = "") -> [UInt8] {
    Array(#"{"items":[{"id":"1","title":""#.utf8) + title
      + Array(#"","url":"/1"}]}\#(after)"#.utf8)
  }

  private func expectWhole(_ text: [UInt8], _ title: String) throws {
    let document = try parse(text)
    #expect(document.fault == nil)
    #expect(
      document.items == [FeedItem(key: "1", title: title, url: "https://feed.example/1")])
  }

  // MARK: Repaired

  @Test
  func `invalid bytes are replaced`() throws {
    for (bytes, shown) in [
      ([0xE9], "\u{FFFD}"), ([0xC3, 0xA9], "é"), ([0xE2, 0x82], "\u{FFFD}\u{FFFD}"),
      ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"), ([0xF0, 0x9F, 0x8D, 0x95], "🍕"),
      ([0x00], "\u{FFFD}"), ([0x1B], "\u{FFFD}"),
    ] as [([UInt8], String)] {
      let title = Array("caf".utf8) + bytes + Array(" 2".utf8)
      try expectWhole(rss(title), "caf\(shown) 2")
      try expectWhole(json(title), "caf\(shown) 2")
    }
  }

  @Test(arguments: [
    ("doing D&D, in a server", "doing D&D, in a server"), ("a & b", "a & b"), ("&", "&"),
    ("R&amp;B &nope; &lt;", "R&B &nope; <"),
    ("&#65;&#x42;&#0;&#xD800;&#x;", "AB\u{FFFD}\u{FFFD}&#x;"),
    ("1 < 2", "1 < 2"), ("x ]]> y", "x ]]> y"), ("&AMP; &Eacute;", "& É"),
    ("<![CDATA[a & b &amp; < c]]>", "a & b &amp; < c"), ("a<!-- & < ' -->b", "ab"),
  ])
  func `an ampersand and a less-than sign that begin nothing are text`(
    written: String, title: String
  ) throws {
    try expectWhole(rss(Array(written.utf8)), title)
  }

  @Test
  func `ampersands in attributes are text`() throws {
    let items = try parse(
      """
      <rss><channel><item><guid>1</guid>
      <enclosure url="http://a.example/x.mp3?a=1&b=2&amp;c=<3>&copy=4" type='audio/mpeg'/></item></channel></rss>
      """.utf8
    ).items
    #expect(items.first?.audio?.url == "http://a.example/x.mp3?a=1&b=2&c=<3>&copy=4")
  }

  @Test(arguments: [
    "<!-- a comment --><script>a && b</script>", "</rss>", "<rss/>", "text & more", "\u{0}", "<",
  ])
  func `text after the end of a feed is ignored`(rest: String) throws {
    try expectWhole(rss(Array("x".utf8), after: rest), "x")
    try expectWhole(json(Array("x".utf8), after: rest), "x")
  }

  @Test(arguments: [
    ("a\nb\tc", "a b c"), (#"\ud83d\ude00 \ud83d."#, "😀 \u{FFFD}."),
    (#"\udc00\\ \"x\""#, #"\#u{FFFD}\ "x""#),
  ])
  func `faults in strings of JSON are repaired`(written: String, title: String) throws {
    try expectWhole(json(Array(written.utf8)), title)
  }

  @Test
  func `a trailing comma in JSON is ignored`() throws {
    let text = #"{"items":[{"id":"1","title":"a,]",},{"id":"2","tags":[1,2, ],},\#n],}"#
    #expect(try parse(text.utf8).items.map(\.title) == ["a,]", "2"])
    #expect(try parse(text.utf8).fault == nil)
  }

  // MARK: Kept

  @Test
  func `the items before a fault are kept, with its line and column`() throws {
    let one = "<item><guid>1</guid><title>é &amp; x</title></item>"
    let text = "\n<rss><channel>\n\(one)é & <br><item><guid>2</guid></item></channel></rss>"
    let document = try parse(text.utf8)
    #expect(document.items.map(\.key) == ["1", "2"])
    let column = "\(one)é & <br><item><guid>2</guid></item></".count + 1
    #expect(document.fault == FeedTextFault(line: 3, column: column, "mismatched tag"))
    let json = #"{"items":[{"id":"1"},"# + "\n" + #"{"id":"é","tags":[]},;{"id":"3"}]}"#
    let part = try parse(json.utf8)
    #expect(part.items.map(\.key) == ["1", "é"])
    #expect(part.fault?.line == 2 && part.fault?.column == 22)
  }

  @Test
  func `a feed cut at any point has the items before the cut`() throws {
    let item = "<item><guid>1</guid><title>é &amp; x</title></item>\n"
    let text = "<rss>\n<channel>\(item)\(item)</channel></rss>"
    let firstEnd = "<rss>\n<channel>\(item)".utf8.count - 1
    let ends = [firstEnd, firstEnd + item.utf8.count]
    try expectItems(before: ends, of: text, lines: 1...4)
    let json = #"{"title":"}","items":[{"id":"é"},"# + "\n" + #"{"id":"]\""}],"x":[1,{}]}"#
    let starts = [#"{"title":"}","items":[{"id":"é"}"#, #","# + "\n" + #"{"id":"]\""}"#]
    let first = starts[0].utf8.count
    try expectItems(before: [first, first + starts[1].utf8.count], of: json, lines: 1...2)
  }

  /// Cuts a feed at each byte.
  ///
  /// - Parameter ends: The ends of the items.
  private func expectItems(
    before ends: [Int], of text: String, lines: ClosedRange<Int>
  ) throws {
    let bytes = Array(text.utf8)
    #expect(try parse(bytes).fault == nil)
    #expect(try parse(bytes).items.count == ends.count)
    for cut in bytes.indices {
      let whole = ends.count { $0 <= cut }
      do throws(FeedTextFault) {
        let document = try parse(bytes[..<cut])
        #expect(document.items.count == whole, "cut at \(cut)")
        #expect(document.fault.flatMap(\.line).map(lines.contains) == true, "cut at \(cut)")
      } catch {
        #expect(whole == 0, "cut at \(cut)")
        #expect(cut == 0 || error.line.map(lines.contains) == true, "cut at \(cut)")
      }
    }
  }

  @Test
  func `items before a limit are kept`() throws {
    let deep = String(repeating: "<a>", count: 100)
    let document = try parse("<rss><channel><item><guid>1</guid></item>\(deep)".utf8)
    #expect(document.items.map(\.key) == ["1"])
    #expect(document.fault?.what == "elements nested more than 64 deep")
  }

  // MARK: Web pages

  private static let alternate =
    #"<link type="application/atom+xml; charset=utf-8" href='../atom?a=1&amp;b=2' rel="x Alternate">"#

  @Test(arguments: [
    ("<!doctype html><title>x</title>", nil),
    (
      "\n<!-- x > y --><!DOCTYPE HTML>\n<html><head>\(alternate)",
      "https://feed.example/atom?a=1&b=2"
    ),
    (
      "<html lang=en><LINK REL=alternate TYPE=application/rss+xml HREF=/f.xml>",
      "https://feed.example/f.xml"
    ),
    (
      "<?xml version='1.0'?><html><base href='https://b.example/c/'>\(alternate)",
      "https://b.example/atom?a=1&b=2"
    ),
    ("<html><!-- \(alternate) --><link rel=stylesheet href=x.css><link", nil),
    ("<html><link rel=alternate type=application/json href=/wp-json/1>", nil),
  ])
  func `a web page is named as one, with the feed that it names`(page: String, feed: String?) {
    let what = "the address leads to a web page, not to a feed"
    #expect(
      throws: FeedTextFault(feed.map { "\(what); the page names this feed: \($0)" } ?? what)
    ) { try parse(page.utf8) }
  }

  // MARK: Dates

  @Test(arguments: [
    ("Sat, 07 Nov 2026 09:30:00 GMT", "2026-11-07T09:30:00.000000Z"),
    ("7 Nov 26 09:30 EST", "2026-11-07T14:30:00.000000Z"),
    ("Sat, 7 November 2026 09:30:00 -0130", "2026-11-07T11:00:00.000000Z"),
    ("2026-11-07T09:30:00.5Z", "2026-11-07T09:30:00.500000Z"),
    ("Sat, 07 Nov 2026 09:30:32.123 +0000", "2026-11-07T09:30:32.123000Z"),
    ("Sat,07 Nov 2026 9:30:32,5 +01:00", "2026-11-07T08:30:32.500000Z"),
    ("Sat 07 Sept. 2026 09:30:32 (local)", "2026-09-07T09:30:32.000000Z"),
    ("Saturday, 07-Nov-26 09:30:32 GMT", "2026-11-07T09:30:32.000000Z"),
    ("Sat Nov  7 09:30:32 2026", "2026-11-07T09:30:32.000000Z"),
    ("Sat Nov  7 09:30:32 CET 2026", "2026-11-07T08:30:32.000000Z"),
    ("Sat Nov 07 2026 09:30:32 GMT+0100 (CET)", "2026-11-07T08:30:32.000000Z"),
    ("November 7, 2026 9:30 PM", "2026-11-07T21:30:00.000000Z"),
    ("Nov 7, 2026 12:05am EST", "2026-11-07T05:05:00.000000Z"),
    ("2026-11-07 09:30:32", "2026-11-07T09:30:32.000000Z"),
    ("2026-11-07T09:30", "2026-11-07T09:30:00.000000Z"),
    ("2026-11-07t09:30:32.123456789+0130", "2026-11-07T08:00:32.123456Z"),
    ("2026-11-07 09:30:32 +01", "2026-11-07T08:30:32.000000Z"),
    ("2026/11/07 09:30:32 UTC", "2026-11-07T09:30:32.000000Z"),
    // No time, or not understood.
    ("Sat, 07 Nov 2026", nil), ("2026-11-07", nil), ("yesterday", nil),
    ("31 Feb 2026 09:30:00 GMT", nil), ("Sat, 07 Nov 2026 09:30:00 XYZ", nil),
    ("Sat, 07 Nov 2026 09:3a:00 GMT", nil), ("Sat, 07 Nov 2026 9:3:0 GMT", nil),
    ("Sat, 07 Nov 2026 09:30:00.1.2 GMT", nil), ("Sat, 07 Nov 2026 09:30. GMT", nil),
    ("Sat, 07 Decade 2026 09:30:00 GMT", nil), ("Sat, 07 Nov 2026 09:30:00 EST+0100", nil),
    ("Sat, 07 Nov 2026 09:30:00 13:00", nil), ("Sat, 07 08 Nov 2026 09:30:00", nil),
    ("07/11/2026 09:30:00", nil), ("Sat, 07 Nov 2026 13:30 PM", nil),
    ("Sat, 07 Nov 2026 25:30:00 GMT", nil), ("Sat, 07 Nov 2026 09:30:00 +1", nil),
    ("07 Nov 2026 2026 09:30:00", nil), ("Sat, 07 Nov -2026 09:30:00 GMT", nil),
  ])
  func `times are read in the formats of feeds`(text: String, time: String?) throws {
    let document = try parse(
      "<rss><channel><item><guid>1</guid><pubDate>\(text)</pubDate></item></channel></rss>".utf8)
    #expect(document.items.first?.published == time)
  }
}
