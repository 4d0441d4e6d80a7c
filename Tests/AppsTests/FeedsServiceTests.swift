import Apps
import Binder
import EventSourcing
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing

/// Subscriptions to feeds, and the times of their fetches.
@Suite(.leavesNothing)
final class FeedsServiceTests: FeedsBench {
  // MARK: Subscriptions

  @Test
  func `one user can subscribe to half of the feeds`() throws {
    var count = 0
    var refusal = ""
    for i in 0..<1_000 where refusal.isEmpty {
      do {
        try run { () throws(FeedsError) in try feeds.subscribe(to: "https://a.example/\(i)") }
        count += 1
      } catch {
        refusal = "\(error)"
      }
    }
    #expect(count == 500)
    #expect(refusal.hasPrefix("there are at most 500 feeds of one user"))
  }

  @Test
  func `a new feed is fetched once, after its subscription is durable`() throws {
    _ = try host.perform(Command(method: "test", caller: Peer(uid: 1, pid: 2))) {
      JSONText(string: try feeds.subscribe(to: "http://a.example/"))
    }
    time.advance(0)
    #expect(web.count == 0)
    store.commit()
    time.advance(0)
    #expect(web.requests.map(\.url) == ["http://a.example/"])
    web.answer("Title\nx One")
    #expect(feeds.ledger.committed.feed("1")?.title == nil, "it is not durable")
    store.commit()
    let feed = try #require(feeds.ledger.committed.feed("1"))
    #expect(feed.title == "Title")
    #expect((feed.episodes, feed.unplayed) == (1, 1))
    #expect(time.count == 0, "nothing goes on")
  }

  @Test
  func `invalid addresses, invalid ids and duplicates are refused`() throws {
    try subscribe()
    for url in ["", "http://", "ftp://x/", "http://a b/", "http://\u{7F}/", "/etc/passwd"] {
      #expect(refusal { () throws(FeedsError) in _ = try feeds.subscribe(to: url) } == .badAddress)
    }
    let long = "http://" + String(repeating: "x", count: 1024)
    #expect(refusal { () throws(FeedsError) in _ = try feeds.subscribe(to: long) } == .badAddress)
    for id in ["", "a/b", "ü", String(repeating: "x", count: 65)] {
      #expect(
        refusal { () throws(FeedsError) in _ = try feeds.subscribe(to: "http://b/", as: id) }
          == .badID)
    }
    #expect(
      refusal { () throws(FeedsError) in _ = try feeds.subscribe(to: "http://b/", as: "a") }
        == .exists(id: "a"))
    #expect(
      refusal { () throws(FeedsError) in _ = try feeds.subscribe(to: "http://a.example/") }
        == .subscribed(url: "http://a.example/", id: "a"))
    #expect(
      refusal { () throws(FeedsError) in _ = try feeds.unsubscribe("b") } == .unknown(id: "b"))
    #expect(refusal { () throws(FeedsError) in _ = try feeds.refresh("b") } == .unknown(id: "b"))
    #expect(
      refusal { () throws(FeedsError) in _ = try feeds.mark("a", 7) } == .noEpisode(7, id: "a"))
  }

  @Test
  func `an address is stored in its normal form, with lowercase scheme and host`() throws {
    try run { () throws(FeedsError) in
      try feeds.subscribe(to: "HTTP://News.Example:8080/Path?Q=A#F", as: "n")
    }
    store.commit()
    time.advance(0)
    #expect(web.requests.map(\.url) == ["http://news.example:8080/Path?Q=A#F"])
    web.answer("T")
    #expect(
      refusal { () throws(FeedsError) in
        _ = try feeds.subscribe(to: "Http://NEWS.example:8080/Path?Q=A#F")
      } == .subscribed(url: "http://news.example:8080/Path?Q=A#F", id: "n"))
    for url in ["https:///x", "https://?x", "HTTPS://#"] {
      #expect(refusal { () throws(FeedsError) in _ = try feeds.subscribe(to: url) } == .badAddress)
    }
  }

  @Test(arguments: [
    "http://kim:secret@a.example/", "https://kim@a.example", "HTTPS://:x@a.example?q",
    "http://a.example@b.example/",
  ])
  func `an address with a user or a password is refused`(
    url: String
  ) throws {
    #expect(
      refusal { () throws(FeedsError) in _ = try feeds.subscribe(to: url) }?.rejection
        == .invalid(
          "url", "no user and no password: an address is journaled, and shown to everybody"))
    try subscribe("http://a.example/@kim?to=a@b", "at")
  }

  @Test
  func `the next id is the next free number`() throws {
    try subscribe("http://a/", "2")
    #expect(try run { () throws(FeedsError) in try feeds.subscribe(to: "http://b/") } == "3")
    try run { () throws(FeedsError) in try feeds.unsubscribe("2") }
    #expect(try run { () throws(FeedsError) in try feeds.subscribe(to: "http://c/") } == "2")
  }

  // MARK: Watching

  @Test
  func `an observed feed is fetched at the interval, once for all observers`() throws {
    try subscribe(fetching: "T\nx One")
    let (first, second) = (watch(), watch())
    #expect(web.requests.count == 2)
    web.answer("T\ny Two\nx One")
    store.commit()
    #expect(first.states() == ["reloading", "loaded 2"])
    #expect(second.states() == ["reloading", "loaded 2"])
    time.advance(1799)
    #expect(web.requests.count == 2)
    time.advance(1)
    #expect(web.requests.count == 3)
    first.end()
    #expect(web.count == 1)
    second.end()
    #expect(web.count == 0, "nobody watches any more")
    #expect(time.count == 0)
    #expect(name(feeds.state(of: "a")) == "loaded 2", "as it was before")
  }

  @Test
  func `server errors and parse errors differ, and the fetch is retried`() throws {
    try subscribe()
    let watched = watch()
    web.fail(.timedOut)
    time.advance(1800)
    web.answer("?")
    time.advance(1800)
    web.answer("T")
    store.commit()
    time.advance(1800)
    web.fail(.status(500))
    #expect(
      watched.states() == [
        "loading", "failed: the server was too slow", "loading",
        "failed: line 1, column 1 of the feed: not a feed", "loading", "loaded 0", "reloading",
        "failed: the server answered with status 500",
      ])
    watched.end()
    #expect(name(feeds.state(of: "a")) == "failed: the server answered with status 500")
  }

  @Test
  func `a refresh cancels the fetch in progress`() throws {
    try subscribe()
    let watched = watch()
    #expect(web.requests.count == 1)
    #expect(try run { () throws(FeedsError) in try feeds.refresh() } == 1)
    #expect((web.requests.count, web.count) == (2, 1))
    web.answer("T\nx One")
    store.commit()
    #expect(watched.states() == ["loading", "loaded 1"])
  }

  @Test
  func `a server slower than the interval gets one request at a time`() throws {
    feeds.schedule = FeedsService.Schedule(interval: 10)
    try subscribe()
    time.advance(0)
    time.advance(25)
    #expect(web.requests.count == 1)
    web.fail(.timedOut)
    #expect(time.count == 0, "with nobody watching it was one attempt")
    let watched = watch()
    time.advance(25)
    #expect(web.requests.count == 2)
    web.answer("T\nx One")
    store.commit()
    #expect(watched.states() == ["loading", "loaded 1"])
    time.advance(5)
    #expect(web.requests.count == 3, "from then on at the interval")
    watched.end()
  }

  @Test
  func `a feed is parsed with the charset and the final URL of the response`() throws {
    try subscribe()
    time.advance(0)
    web.answer(
      "T", headers: ["content-type": "text/xml; Charset=\"ISO-8859-1\""],
      from: "http://b.example/feed")
    #expect(
      reader.pages == [
        FeedPage(Array("T".utf8), url: "http://b.example/feed", charset: "ISO-8859-1")
      ])
    #expect(WebResponse(headers: ["content-type": "text/xml"]).charset == nil)
    #expect(WebResponse(headers: ["content-type": "text/xml;charset="]).charset == nil)
  }

  @Test
  func `transient errors are distinguished from permanent ones`() {
    let passing: [WebError] = [
      .unknownHost, .cannotConnect, .timedOut, .broken, .status(429), .status(500), .status(503),
    ]
    for error in passing { #expect(FeedFault.server(error).isPassing, "\(error)") }
    let lasting: [WebError] = [
      .badAddress, .refusedAddress, .tooLarge(max: 1), .untrusted, .status(404), .status(410),
    ]
    for error in lasting { #expect(!FeedFault.server(error).isPassing, "\(error)") }
    #expect(!FeedFault.text(FeedTextFault("")).isPassing)
    #expect(
      ServiceRejection(FeedFault.server(.timedOut)).kind == .rejected(reason: "upstream_timeout"))
  }

  @Test
  func `an unobserved feed is fetched on request only`() throws {
    try subscribe(fetching: "T")
    try run { () throws(FeedsError) in try feeds.refresh("a") }
    #expect(web.count == 1)
    web.answer("T\nx One")
    store.commit()
    #expect(titles == ["1 One"])
    #expect(time.count == 0)
  }

  @Test
  func `a removed feed is not fetched any more, and another can take its id`() throws {
    try subscribe()
    let watched = watch()
    try run { () throws(FeedsError) in try feeds.unsubscribe("a") }
    #expect(web.count == 0)
    time.advance(0)
    #expect(web.count == 0)
    try subscribe("http://other.example/")
    #expect(web.requests.last?.url == "http://other.example/")
    #expect(watched.states() == ["loading", "none", "loading"])
  }

  @Test
  func `unobserved feeds, also new ones, are fetched while the schedule says so`() throws {
    feeds.schedule = FeedsService.Schedule(interval: 60, unwatched: true)
    try subscribe()
    #expect(web.count == 1)
    web.answer("T")
    store.commit()
    time.advance(60)
    #expect(web.count == 1)
    feeds.schedule = FeedsService.Schedule(interval: 60, unwatched: false)
    #expect(web.count == 0)
    time.advance(600)
    #expect(web.count == 0)
    feeds.stop()
    #expect(time.count == 0)
  }

  @Test
  func `a stopped service starts no fetch`() throws {
    try subscribe()
    feeds.stop()
    time.advance(0)
    #expect(web.count == 0)
  }
}
