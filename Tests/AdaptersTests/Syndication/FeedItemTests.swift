import AppAdapters
import Apps
import Testing

/// Items with missing elements.
struct FeedItemTests {
  private func items(
    _ text: String, at url: String = "https://a.example/news/feed.xml"
  ) throws -> [FeedItem] {
    try FeedText.parse(FeedPage(Array(text.utf8), url: url)).items
  }

  private func rss(_ items: String) -> String { "<rss><channel>\(items)</channel></rss>" }

  // MARK: Titles

  @Test
  func `an item without a title uses the beginning of its description`() throws {
    let long = String(repeating: "many words ", count: 40)
    let items = try items(
      rss(
        """
        <item><guid>1</guid><description>&lt;p&gt;It is &lt;b&gt;late&lt;/b&gt;.&lt;/p&gt;</description></item>
        <item><link>/2</link><description>\(long)</description></item>
        <item><description>only this</description></item>
        <item xmlns:c="http://purl.org/rss/1.0/modules/content/"><c:encoded>whole</c:encoded></item>
        """))
    #expect(
      items.map(\.title) == [
        "It is late.", String(repeating: "many words ", count: 6) + "many words…", "only this",
        "whole",
      ])
    #expect(items.map(\.key).suffix(2) == ["only this", "whole"])
  }

  @Test
  func `the key of an item does not depend on the address of its feed`() throws {
    for text in [
      rss("<item><link>/posts/1</link></item><item><enclosure url='a.mp3'/></item>"),
      #"{"items":[{"url":"/posts/1"},{"attachments":[{"url":"a.mp3"}]}]}"#,
    ] {
      let here = try items(text, at: "https://one.example/feed")
      let there = try items(text, at: "https://two.example/feed")
      #expect(here.map(\.key) == there.map(\.key))
      #expect(here.first?.url == "https://one.example/posts/1")
      #expect(there.last?.audio?.url == "https://two.example/a.mp3")
    }
  }

  @Test
  func `two items with the same beginning have different keys`() throws {
    let text = String(repeating: "the same ", count: 30)
    let items = try items(
      rss(
        "<item><description>\(text)a</description></item>"
          + "<item><description>\(text)b</description></item>"))
    #expect(Set(items.map(\.key)).count == 2)
  }

  @Test
  func `items of Atom and JSON Feed without a title use their content`() throws {
    let atom = try items(
      """
      <feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><summary>short</summary>
      <content type="html">&lt;p&gt;long</content></entry>
      <entry><id>2</id><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">x<p>y</p></div>
      </content></entry></feed>
      """)
    #expect(atom.map(\.title) == ["short", "x y"])
    let json = try items(
      #"{"items":[{"content_text":"a\nb"},{"id":"2","content_html":"<p>c</p>"},{"summary":"s"}]}"#)
    #expect(json.map(\.title) == ["a b", "c", "s"])
    #expect(json.map(\.key) == ["a b", "2", "s"])
  }

  // MARK: Addresses

  @Test
  func `addresses are relative to the address of the feed`() throws {
    let items = try items(
      rss(
        """
        <item><link>/posts/1</link><enclosure url="../1.mp3"/></item>
        <item><link>//b.example/2</link></item>
        <item><link>?p=3#end</link></item>
        <item><link>./4/./5/../6</link></item>
        <item><link>https://c.example/../7</link></item>
        """))
    #expect(
      items.map(\.url) == [
        "https://a.example/posts/1", "https://b.example/2",
        "https://a.example/news/feed.xml?p=3#end",
        "https://a.example/news/4/6", "https://c.example/../7",
      ])
    #expect(items.first?.audio?.url == "https://a.example/1.mp3")
  }

  @Test(arguments: ["mailto:kim@a.example", "javascript:alert(1)", "file:///etc/passwd"])
  func `a link that is not a web address is dropped`(link: String) throws {
    let items = try items(rss("<item><guid>1</guid><link>\(link)</link></item>"))
    #expect(items.map(\.url) == [nil])
  }

  @Test(arguments: [
    (" a b.mp3 ", "https://a.example/news/a%20b.mp3"),
    ("a  b.mp3", "https://a.example/news/a%20%20b.mp3"),
    ("http://b.example/x y?q=1 2", "http://b.example/x%20y?q=1%202"),
  ])
  func `a space in the address of a file is escaped`(written: String, address: String) throws {
    let xml = rss("<item><guid>1</guid><enclosure url='\(written)' type='audio/mpeg'/></item>")
    let json = #"{"items":[{"id":1,"attachments":[{"url":"\#(written)"}]}]}"#
    #expect(try items(xml).map(\.audio?.url) == [address])
    // A line of JSON has single spaces.
    let single = address.replacing("%20%20", with: "%20")
    #expect(try items(json).map(\.audio?.url) == [single])
  }

  @Test
  func `the recording is the first enclosure of audio or video, and the first one is the key`()
    throws
  {
    let enclosures = """
      <enclosure url="/a.jpg" type="image/jpeg"/><enclosure url="/b.pdf" type="application/pdf"/>
      <enclosure url="/c.mp3" type="audio/mpeg"/><enclosure url="/d.mp4" type="video/mp4"/>
      """
    let items = try items(
      rss(
        "<item>\(enclosures)</item>"
          + "<item><enclosure url='/a.jpg' type='image/jpeg'/><enclosure url='/e'/></item>"
          + "<item><enclosure url='/a.jpg' type='image/jpeg'/></item>"))
    #expect(
      items.map(\.audio?.url) == [
        "https://a.example/c.mp3", "https://a.example/e", "https://a.example/a.jpg",
      ])
    #expect(items.map(\.key) == ["/a.jpg", "/a.jpg", "/a.jpg"])
    let json = try self.items(
      """
      {"items":[{"attachments":[{"url":"/a.jpg","mime_type":"image/jpeg"},
      {"url":"/c.mp3","mime_type":"audio/mpeg"},{"url":"/d.mp4","mime_type":"video/mp4"}]}]}
      """)
    #expect(json.map(\.audio?.url) == ["https://a.example/c.mp3"])
    #expect(json.map(\.key) == ["/a.jpg"])
  }

  @Test
  func `an element may declare the base of its addresses`() throws {
    let text = """
      <feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://b.example/blog/">
      <link href="home"/>
      <entry xml:base="2026/"><id>1</id><title>1</title><link href="x"/></entry>
      <entry><id>2</id><title>2</title><link href="y"/></entry></feed>
      """
    #expect(
      try items(text).map(\.url) == [
        "https://b.example/blog/2026/x", "https://b.example/blog/y",
      ])
    let document = try FeedText.parse(FeedPage(Array(text.utf8), url: "http://a.example"))
    #expect(document.link == "https://b.example/blog/home")
    #expect(
      try items(rss("<item><link>x</link></item>"), at: "http://a.example").map(\.url)
        == ["http://a.example/x"])
  }

  @Test
  func `addresses in JSON Feed are relative to the address of the feed`() throws {
    let items = try items(#"{"items":[{"url":"/1","attachments":[{"url":"1.mp3"}]}]}"#)
    #expect(items.first?.url == "https://a.example/1")
    #expect(items.first?.audio?.url == "https://a.example/news/1.mp3")
  }

  // MARK: Invalid XML that is accepted

  @Test
  func `HTML entities are decoded without a declaration`() throws {
    let title = "<title>a&nbsp;b &eacute;&Eacute;&hellip;&Omega;&omega;&sigma; &amp;</title>"
    for head in ["", "\n \n<?xml version='1.0'?>\n"] {
      let items = try items(head + rss("<item>\(title)</item>"))
      #expect(items.map(\.title) == ["a b éÉ…Ωωσ &"])
    }
    let html = "<title type='html'>&amp;ndash;&amp;Eacute;&amp;AMP;</title>"
    let atom = try items(
      "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id>\(html)</entry></feed>")
    #expect(atom.map(\.title) == ["–É&"])
  }
}
