import AppAdapters
import Apps
import Testing

struct FeedTextTests {
  private func parse(_ text: String) throws(FeedTextFault) -> FeedDocument {
    try parse(Array(text.utf8))
  }

  private func parse(_ bytes: [UInt8]) throws(FeedTextFault) -> FeedDocument {
    try FeedText.parse(FeedPage(bytes, url: "https://feed.example/news/rss.xml"))
  }

  private func fault(_ text: String) -> FeedTextFault? {
    do throws(FeedTextFault) {
      _ = try parse(text)
      return nil
    } catch {
      return error
    }
  }

  @Test
  func `RSS 2.0 is read with its enclosures`() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
        <channel>
          <atom:link rel="self" href="https://self.example/"/>
          <title> The
            Show </title>
          <link>https://show.example/</link>
          <image><title>not this</title></image>
          <item>
            <title><![CDATA[Two & more]]></title>
            <media:title>not this</media:title>
            <link>https://show.example/2</link>
            <guid isPermaLink="false">show-2</guid>
            <pubDate>Sat, 07 Nov 2026 09:30:00 +0100</pubDate>
            <enclosure url="https://show.example/2.mp3" type="audio/mpeg" length="1234"/>
          </item>
          <item><title>One</title><enclosure url="ftp://show.example/1.mp3" length="0"/></item>
          <item><description>nothing else to know it by</description></item>
          <item><author>nothing to know it by</author></item>
        </channel>
      </rss>
      """
    #expect(
      try parse(text)
        == FeedDocument(
          title: "The Show", link: "https://show.example/",
          items: [
            FeedItem(
              key: "show-2", title: "Two & more", url: "https://show.example/2",
              audio: Enclosure(url: "https://show.example/2.mp3", type: "audio/mpeg", bytes: 1234),
              published: "2026-11-07T08:30:00.000000Z"),
            FeedItem(key: "One", title: "One"),
            FeedItem(key: "nothing else to know it by", title: "nothing else to know it by"),
          ]))
  }

  @Test
  func `Atom is read with its links`() throws {
    let text = """
      <feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>
        <link rel="self" href="https://news.example/feed"/><link href="https://news.example/"/>
        <author><name>Kim</name></author>
        <entry><id>tag:1</id><title>First</title><updated>2026-11-07T09:30:00+01:00</updated>
          <link rel="enclosure" href="https://news.example/1.ogg" type="audio/ogg"/>
          <link rel="alternate" href="https://news.example/1"/>
          <source><title>not this</title></source></entry>
      </feed>
      """
    #expect(
      try parse(text)
        == FeedDocument(
          title: "News", link: "https://news.example/",
          items: [
            FeedItem(
              key: "tag:1", title: "First", url: "https://news.example/1",
              audio: Enclosure(url: "https://news.example/1.ogg", type: "audio/ogg"),
              published: "2026-11-07T08:30:00.000000Z")
          ]))
  }

  @Test(arguments: [
    (
      #"type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A <b>bold</b> <i>one</i><br/>two</div>"#,
      "A bold one two"
    ),
    (#"type="html">&lt;b&gt;bold&lt;/b&gt; &amp;amp; A&lt;br/&gt;B"#, "bold & A B"),
    (#"type="html"><![CDATA[<a href="x">&#x41;&#66;</a> &lt;c&gt;]]>"#, "AB <c>"),
    (#"type="html"><![CDATA[&nope; 1 < 2 & 3]]>"#, "&nope; 1 < 2 & 3"),
    (#"type="html">cut &lt;b"#, "cut"),
    (#"type="text">&lt;b&gt; &amp;amp;"#, "<b> &amp;"),
    (">&lt;b&gt;", "<b>"),
    (">a<title>b</title><entry><id>9</id></entry>c", "ab9c"),
  ])
  func `a title is plain text, without its markup`(written: String, text: String) throws {
    let title = "<title \(written)</title>"
    let document = try parse(
      """
      <feed xmlns="http://www.w3.org/2005/Atom">\(title)
        <entry><id>1</id>\(title)<link href="https://news.example/1"/></entry></feed>
      """)
    #expect(document.title == text)
    #expect(document.items == [FeedItem(key: "1", title: text, url: "https://news.example/1")])
  }

  @Test
  func `control characters are removed from titles`() throws {
    let document = try parse(
      #"""
      {"title":"a\u001b[2J\u202Eb\u0085c",
      "items":[{"id":"\u200f1","title":"\u009b31m \u007f\u2066x"}]}
      """#)
    #expect(document.title == "a[2Jb c")
    #expect(document.items == [FeedItem(key: "1", title: "31m x")])
    #expect(
      try parse("<rss><channel><title>&#x9b;m&#x202e;é</title></channel></rss>").title == "mé")
  }

  @Test
  func `RSS 1.0 is read, with its items beside the channel`() throws {
    let text = """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
        xmlns:dc="http://purl.org/dc/elements/1.1/">
        <channel><title>Old</title></channel>
        <item><title>A</title><link>http://old.example/a</link><dc:date>2026-01-02T03:04:05Z</dc:date></item>
      </rdf:RDF>
      """
    let document = try parse(text)
    #expect(document.title == "Old")
    #expect(document.items.first?.key == "http://old.example/a")
    #expect(document.items.first?.published == "2026-01-02T03:04:05.000000Z")
  }

  @Test
  func `a JSON list of podcasts and JSON Feed are read`() throws {
    #expect(
      try parse(#"{"podcasts":[{"id":7,"title":"Seven"},{"id":8,"title":"Eight"}]}"#).items
        == [FeedItem(key: "7", title: "Seven"), FeedItem(key: "8", title: "Eight")])
    let text = """
      \u{FEFF}{"version":"https://jsonfeed.org/version/1.1","title":"J","home_page_url":"https://j.example/",
      "items":[{"id":"a","url":"https://j.example/a","date_published":"2026-01-02T03:04:05Z",
      "attachments":[{"url":"https://j.example/a.mp3","mime_type":"audio/mpeg","size_in_bytes":9}]},4]}
      """
    #expect(
      try parse(text)
        == FeedDocument(
          title: "J", link: "https://j.example/",
          items: [
            FeedItem(
              key: "a", title: "https://j.example/a", url: "https://j.example/a",
              audio: Enclosure(url: "https://j.example/a.mp3", type: "audio/mpeg", bytes: 9),
              published: "2026-01-02T03:04:05.000000Z")
          ]))
  }

  @Test
  func `a text is read in its declared encoding`() throws {
    let head = Array(#"<?xml version="1.0" encoding="ISO-8859-1"?><rss><channel><title>"#.utf8)
    let bytes = head + [0xE9, 0x74, 0xE9] + Array("</title></channel></rss>".utf8)
    #expect(try parse(bytes).title == "été")
    let wide = "<rss><channel><title>ü</title></channel></rss>".utf16.flatMap {
      [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)]
    }
    #expect(try parse([0xFE, 0xFF] + wide).title == "ü")
  }

  // MARK: Faults

  @Test(arguments: [
    ("", "the document is empty"),
    (" \n ", "the document is empty"),
    ("hello", "line 1, column 1 of the feed: syntax error"),
    ("<rss>\n<channel>\n</rss>", "line 3, column 3 of the feed: mismatched tag"),
    ("<rss><channel>\n<title>", "line 2, column 8 of the feed: no element found"),
    ("\n\n<rss>\né&b;é<1 </x></rss>", "line 4, column 11 of the feed: mismatched tag"),
    (#"<?xml version="1.0" encoding="x-nope"?><rss/>"#, "unknown encoding 'x-nope'"),
    ("<opml>\n</opml>", "line 1, column 1 of the feed: neither RSS nor Atom"),
    ("<x:rss/>", "line 1, column 1 of the feed: unbound prefix"),
    ("{\"items\":[\n1 2\n]}", "line 2, column 3 of the feed: ',' or ']' is expected"),
    ("{\"x\":1}", "it has neither podcasts nor items"),
    ("{\"podcasts\":{}}", "it has neither podcasts nor items"),
  ])
  func `an invalid feed is an error with its place`(text: String, what: String) {
    #expect(fault(text).map { "\($0)" } == what)
  }

  @Test
  func `entity declarations are rejected before expansion`() {
    let bomb = (1...9).map { i in
      "<!ENTITY a\(i) \"" + String(repeating: "&a\(i - 1);", count: 10) + "\">"
    }
    let text =
      "<!DOCTYPE rss [<!ENTITY a0 \"ha\">\n" + bomb.joined(separator: "\n")
      + "]><rss><channel><title>&a9;</title></channel></rss>"
    #expect(fault(text)?.what == "it declares entities")
    let outside =
      "<!DOCTYPE rss [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><rss><channel><title>&x;</title></channel></rss>"
    #expect(fault(outside)?.what == "it declares entities")
    // The document type of old RSS names an external text, which is not fetched.
    let old =
      "<!DOCTYPE rss PUBLIC \"-//x\" \"http://127.0.0.1:1/rss.dtd\"><rss><channel><title>old</title></channel></rss>"
    #expect(throws: Never.self) { try parse(old) }
  }

  @Test
  func `attribute declarations are rejected before expansion`() {
    // A default value of 3.9 MB in 400,000 elements would take a quarter of an hour.
    let text =
      "<!DOCTYPE rss [\n<!ATTLIST i a CDATA \"" + String(repeating: "x", count: 100_000)
      + "\">]><rss><channel>" + String(repeating: "<i/>", count: 1000) + "</channel></rss>"
    #expect(fault(text)?.what == "it declares attributes")
  }

  @Test
  func `parsing stops when the result is no longer needed`() {
    let items = String(repeating: "<item><title>x</title></item>", count: 500)
    let page = FeedPage(
      Array("<rss><channel>\(items)</channel></rss>".utf8), url: "https://feed.example/")
    var asked = 0
    #expect(throws: FeedTextFault("parsing was cancelled")) {
      try FeedText.parse(page) {
        asked += 1
        return asked < 100
      }
    }
    #expect(asked == 100)
  }

  @Test
  func `depth, title length and number of items are limited`() throws {
    let deep = String(repeating: "<a>", count: 100_000)
    #expect(fault("<rss>" + deep)?.what == "elements nested more than 64 deep")
    let long = String(repeating: "é", count: 10_000)
    let title = try parse("<rss><channel><title>\(long)</title></channel></rss>").title
    #expect(title == String(repeating: "é", count: 512))
    let items = String(repeating: "<item><title>x</title></item>", count: 1500)
    #expect(try parse("<rss><channel>\(items)</channel></rss>").items.count == 1000)
  }
}
