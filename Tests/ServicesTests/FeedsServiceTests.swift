import JSON
import Journal
import Services
import Signals
import TestSupport
import Testing

final class FeedsServiceTests {
  let store = MemoryStore()
  let time = ManualScheduler()
  let web = FakeWeb()
  let host: ServiceHost
  let feeds: FeedsService
  let bag = DisposeBag()

  init() throws {
    host = ServiceHost(store: store)
    feeds = FeedsService(in: host, web: web, reader: FakeReader(), on: time)
    try host.start()
    feeds.start()
  }

  deinit {
    bag.dispose()
    feeds.stop()
  }

  /// Runs a method as a command and makes it durable.
  @discardableResult
  private func run<Value>(_ body: () throws(FeedsError) -> Value) throws -> Value {
    var value: Value?
    _ = try host.perform(Command(method: "test", caller: Caller(uid: 1, pid: 2))) {
      value = try body()
      return nil
    }
    store.commit()
    return try #require(value)
  }

  private func subscribe(_ url: String = "http://a.example/", _ id: String? = "a") throws {
    try run { () throws(FeedsError) in try feeds.subscribe(to: url, as: id) }
  }

  /// A feed that was fetched once.
  private func subscribe(fetching text: String) throws {
    try subscribe()
    time.advance(0)
    web.answer(text)
    store.commit()
  }

  private func refusal(_ body: () throws(FeedsError) -> Void) -> FeedsError? {
    do throws(Refusal) {
      _ = try host.perform(Command(method: "test", caller: Caller(uid: 1, pid: 2))) {
        try body()
        return nil
      }
    } catch {
      if case .service(let error) = error { return error as? FeedsError }
    }
    return nil
  }

  private var titles: [String] {
    feeds.ledger.shown.value.episodes(of: "a").map { "\($0.id) \($0.title)" }
  }

  private func watch(_ id: String = "a") -> (states: () -> [String], end: () -> Void) {
    final class Heard { var states: [String] = [] }
    let heard = Heard()
    let run = feeds.states(of: id).observeNext { state in heard.states.append(name(state)) }
    run.dispose(in: bag)
    return ({ heard.states }, { run.dispose() })
  }

  // MARK: Subscriptions

  @Test
  func `a feed is fetched once when it is subscribed to, and not before that is durable`() throws {
    _ = try host.perform(Command(method: "test", caller: Caller(uid: 1, pid: 2))) {
      JSONText(string: try feeds.subscribe(to: "http://a.example/"))
    }
    time.advance(0)
    #expect(web.count == 0)
    store.commit()
    time.advance(0)
    #expect(web.requests.map(\.url) == ["http://a.example/"])
    web.answer("Title\nx One")
    #expect(feeds.ledger.shown.value.feed("1")?.title == nil, "it is not durable")
    store.commit()
    let feed = try #require(feeds.ledger.shown.value.feed("1"))
    #expect(feed.title == "Title")
    #expect((feed.episodes, feed.unplayed) == (1, 1))
    #expect(time.count == 0, "nothing goes on")
  }

  @Test
  func `addresses, ids and what is there already are refused`() throws {
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
  func `the number that is free is the next id`() throws {
    try subscribe("http://a/", "2")
    #expect(try run { () throws(FeedsError) in try feeds.subscribe(to: "http://b/") } == "3")
    try run { () throws(FeedsError) in try feeds.unsubscribe("2") }
    #expect(try run { () throws(FeedsError) in try feeds.subscribe(to: "http://c/") } == "2")
  }

  // MARK: Watching

  @Test
  func `it is fetched while somebody watches, at the interval, and once for all`() throws {
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
  func `what the server does and what the text says fail apart, and it is tried again`() throws {
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
        "failed: line 1 of the feed: not a feed", "loading", "loaded 0", "reloading",
        "failed: the server answered with status 500",
      ])
    watched.end()
    #expect(name(feeds.state(of: "a")) == "failed: the server answered with status 500")
  }

  @Test
  func `who asks for it anew ends the fetch that is under way`() throws {
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
  func `a feed that nobody watches is fetched when asked for, and then left alone`() throws {
    try subscribe(fetching: "T")
    try run { () throws(FeedsError) in try feeds.refresh("a") }
    #expect(web.count == 1)
    web.answer("T\nx One")
    store.commit()
    #expect(titles == ["1 One"])
    #expect(time.count == 0)
  }

  @Test
  func `a feed that goes while it is watched is not fetched any more; another may follow`() throws {
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
  func `unwatched feeds are fetched as long as that is wanted, new ones as well`() throws {
    feeds.schedule = FeedSchedule(interval: 60, unwatched: true)
    try subscribe()
    #expect(web.count == 1)
    web.answer("T")
    store.commit()
    time.advance(60)
    #expect(web.count == 1)
    feeds.schedule = FeedSchedule(interval: 60, unwatched: false)
    #expect(web.count == 0)
    time.advance(600)
    #expect(web.count == 0)
    feeds.stop()
    #expect(time.count == 0)
  }

  @Test
  func `a stopped service begins nothing`() throws {
    try subscribe()
    feeds.stop()
    time.advance(0)
    #expect(web.count == 0)
  }

  // MARK: What is kept

  @Test
  func `new episodes come first, with the highest numbers; what is known is found again`() throws {
    try subscribe(fetching: "T\nb Two\na One")
    #expect(titles == ["2 Two", "1 One"])
    let before = host.last
    _ = watch()
    web.answer("T\nb Two\na One")
    #expect(host.last == before, "nothing is new, nothing is recorded")
    time.advance(1800)
    web.answer("T\nd Four\nc Three\nc Again\nb Second\na One")
    store.commit()
    #expect(titles == ["4 Four", "3 Three", "2 Second", "1 One"])
  }

  @Test
  func `a feed that begins with the oldest is turned around by its times`() throws {
    try subscribe(fetching: "T\na One 2026-01-01\nb Two 2026-01-02\nc Same 2026-01-02")
    #expect(titles == ["3 Two", "2 Same", "1 One"])
  }

  @Test
  func `of very many episodes the newest are kept`() throws {
    let all = (0..<600).map { "\nk\($0) e\($0)" }
    try subscribe(fetching: "T" + all.dropFirst(10).joined())
    #expect(titles.count == 500)
    #expect(titles.first == "500 e10")
    _ = watch()
    web.answer("T" + all.joined())
    store.commit()
    #expect(titles.count == 500)
    #expect(titles.first == "510 e0")
    #expect(titles.last == "11 e499")
    #expect(feeds.ledger.shown.value.feed("a")?.unplayed == 500)
  }

  @Test
  func `what was played stays so when the feed says something else`() throws {
    try subscribe(fetching: "T\nb Two\na One")
    #expect(try run { () throws(FeedsError) in try feeds.mark("a", 1) } == 1)
    #expect(try run { () throws(FeedsError) in try feeds.mark("a", 1) } == 0)
    _ = watch()
    web.answer("T\nb Two\na First")
    store.commit()
    let episodes = feeds.ledger.shown.value.episodes(of: "a")
    #expect(episodes.map(\.played) == [false, true])
    #expect(episodes.map(\.title) == ["Two", "First"])
    #expect(feeds.ledger.shown.value.feed("a")?.unplayed == 1)
    #expect(try run { () throws(FeedsError) in try feeds.mark("a") } == 1)
    #expect(try run { () throws(FeedsError) in try feeds.mark("a", played: false) } == 2)
    #expect(feeds.ledger.shown.value.feed("a")?.unplayed == 2)
  }

  @Test
  func `the server is asked whether there is anything new, also after a restart`() throws {
    try subscribe()
    time.advance(0)
    #expect(web.requests[0].headers["If-None-Match"] == nil)
    web.answer("T\na One", headers: ["etag": "\"1\"", "last-modified": "Sat, 07 Nov 2026"])
    store.commit()
    let host = ServiceHost(store: store)
    let feeds = FeedsService(in: host, web: web, reader: FakeReader(), on: time)
    try host.start()
    var states: [String] = []
    feeds.states(of: "a").observeNext { states.append(name($0)) }.dispose(in: bag)
    #expect(web.requests[1].headers["If-None-Match"] == "\"1\"")
    #expect(web.requests[1].headers["If-Modified-Since"] == "Sat, 07 Nov 2026")
    let before = host.last
    web.answer(status: 304)
    #expect(host.last == before)
    #expect(states == ["reloading", "loaded 1"])
  }

  @Test
  func `the list of episodes tells each step`() throws {
    try subscribe(fetching: "T\na One")
    var heard: [(count: Int, patch: Int)] = []
    feeds.ledger.list(of: "feeds/a/episodes").observeNext {
      heard.append(($0.collection.count, $0.patch.count))
    }
    .dispose(in: bag)
    try run { () throws(FeedsError) in try feeds.refresh("a") }
    web.answer("T\nc Three\nb Two\na One")
    store.commit()
    try run { () throws(FeedsError) in try feeds.mark("a", 2) }
    try run { () throws(FeedsError) in try feeds.unsubscribe("a") }
    #expect(heard.map(\.count) == [1, 2, 3, 3, 0])
    #expect(heard.map(\.patch) == [0, 1, 1, 1, 0])
  }

  @Test
  func `a snapshot holds all, and the past of the episodes is known`() throws {
    try subscribe(fetching: "T\nb Two\na One")
    try run { () throws(FeedsError) in try feeds.mark("a", 2) }
    let coder = EventCoder()
    let state = feeds.ledger.shown.value
    let copy = try #require(Feeds(kept: state.kept(by: coder), by: coder))
    #expect(copy.all == state.all)
    #expect(copy.episodes(of: "a") == state.episodes(of: "a"))
    #expect(copy.value(of: "feeds/a/episodes") == state.value(of: "feeds/a/episodes"))
    #expect(Array(copy.sources) == ["feeds/a/episodes"])
  }

  @Test
  func `what cannot be kept is a failure, not a loss`() throws {
    try subscribe()
    let watched = watch()
    web.answer("T\na One")
    store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    #expect(watched.states() == ["loading", "failed: what was read could not be kept"])
    #expect(titles == [])
  }
}

private func name(_ state: FeedState?) -> String {
  switch state {
  case nil: "none"
  case .loading: "loading"
  case .reloading: "reloading"
  case .loaded(let feed): "loaded \(feed.episodes)"
  case .failed(let fault): "failed: \(fault)"
  }
}
