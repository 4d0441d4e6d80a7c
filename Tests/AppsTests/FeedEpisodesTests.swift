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

/// The stored episodes of feeds.
@Suite(.leavesNothing)
final class FeedEpisodesTests: FeedsBench {
  @Test
  func `new episodes come first with the highest numbers, and known ones keep theirs`() throws {
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
  func `a feed that begins with the oldest episode is reversed by its times`() throws {
    try subscribe(fetching: "T\na One 2026-01-01\nb Two 2026-01-02\nc Same 2026-01-02")
    #expect(titles == ["3 Two", "2 Same", "1 One"])
  }

  @Test
  func `only the newest 500 episodes are kept`() throws {
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
    #expect(feeds.ledger.committed.feed("a")?.unplayed == 500)
  }

  @Test
  func `played episodes stay played when the feed changes`() throws {
    try subscribe(fetching: "T\nb Two\na One")
    #expect(try run { () throws(FeedsError) in try feeds.mark("a", 1) } == 1)
    #expect(try run { () throws(FeedsError) in try feeds.mark("a", 1) } == 0)
    _ = watch()
    web.answer("T\nb Two\na First")
    store.commit()
    let episodes = feeds.ledger.committed.episodes(of: "a")
    #expect(episodes.map(\.played) == [false, true])
    #expect(episodes.map(\.title) == ["Two", "First"])
    #expect(feeds.ledger.committed.feed("a")?.unplayed == 1)
    #expect(try run { () throws(FeedsError) in try feeds.mark("a") } == 1)
    #expect(try run { () throws(FeedsError) in try feeds.mark("a", played: false) } == 2)
    #expect(feeds.ledger.committed.feed("a")?.unplayed == 2)
  }

  @Test
  func `the fetch is conditional, also after a restart`() throws {
    try subscribe()
    time.advance(0)
    #expect(web.requests[0].headers["If-None-Match"] == nil)
    web.answer("T\na One", headers: ["etag": "\"1\"", "last-modified": "Sat, 07 Nov 2026"])
    store.commit()
    let host = ServiceHost(store: store)
    let feeds = FeedsService(in: host.library(on: time), web: web, reader: FakeReader())
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
  func `the episodes before a fault are kept, and the fault is shown beside them`() throws {
    try subscribe(fetching: "Title\nb Two\na One")
    let watched = watch()
    time.advance(1800)
    web.answer("Title\nc Three\n!\nb Two", headers: ["etag": "\"1\""])
    store.commit()
    #expect(titles == ["3 Three", "2 Two", "1 One"])
    #expect(watched.states().last == "failed: line 3, column 1 of the feed: cut")
    #expect(feeds.ledger.committed.feed("a")?.episodes == 3)
    time.advance(1800)
    #expect(web.requests.last?.headers["If-None-Match"] == nil, "the whole feed is sent again")
    web.answer("Title\nc Three\nb Two\na One")
    store.commit()
    #expect(watched.states().last == "loaded 3")
  }

  @Test
  func `the list of episodes emits each step`() throws {
    try subscribe(fetching: "T\na One")
    var heard: [(count: Int, step: CollectionChange?)] = []
    let newest = feeds.episodes(of: "a", newest: 2)
    feeds.ledger.engine.changes(of: "feeds/a/episodes").observeNext {
      heard.append((newest.value().count, $0.step))
    }
    .dispose(in: bag)
    try run { () throws(FeedsError) in try feeds.refresh("a") }
    web.answer("T\nc Three\nb Two\na One")
    store.commit()
    try run { () throws(FeedsError) in try feeds.mark("a", 2) }
    try run { () throws(FeedsError) in try feeds.unsubscribe("a") }
    #expect(heard.map(\.count) == [2, 2, 2, 0])
    #expect(heard.allSatisfy { $0.step != nil })
  }

  @Test
  func `a snapshot holds all episodes, and their past values are known`() throws {
    try subscribe(fetching: "T\nb Two\na One")
    try run { () throws(FeedsError) in try feeds.mark("a", 2) }
    let state = feeds.ledger.engine.committed
    let copy: Feeds = try JSONDecoder().decode(
      from: try JSONEncoder().text(feeds.ledger.committed))
    #expect(copy.ids.map(\.self) == ["a"] && copy.feed("a") == feeds.ledger.committed.feed("a"))
    #expect(copy.episodes(of: "a") == feeds.ledger.committed.episodes(of: "a"))
    #expect(state.sources == ["feeds/a/episodes"])
  }

  @Test
  func `a snapshot of the first form is read`() throws {
    let store = MemoryStore()
    let episode = { (id: Int, played: Bool) in
      #"{"id":\#(id),"title":"e\#(id)","played":\#(played),"key":"k\#(id)"}"#
    }
    store.save(
      Snapshot(
        service: "feeds", seq: 0, schema: 1,
        data: #"{"a":{"url":"http://a/","title":"A","validators":{"etag":"\"1\""},"#
          + #""episodes":[\#(episode(4, false)),\#(episode(2, true))],"lastID":4,"unplayed":1,"#
          + #""maker":7},"b":{"url":"http://b/","validators":{},"episodes":[],"lastID":0,"#
          + #""unplayed":0}}"#))
    let host = ServiceHost(store: store)
    let feeds = FeedsService(in: host.library(on: time), web: web, reader: FakeReader())
    try host.start()
    let state = feeds.ledger.committed
    #expect(state.feed("a").map { [$0.episodes, $0.unplayed] } == [2, 1])
    #expect(state.feed("a")?.title == "A")
    #expect(state.episodes(of: "a").map(\.title) == ["e4", "e2"])
    #expect(state.feed("b")?.episodes == 0)
    #expect(feeds.ledger.engine.committed.sources == ["feeds/a/episodes"])
    #expect(host.stateBytes(of: 7) == 0, "the snapshot has no streams")
    feeds.states(of: "a").observeNext { _ in }.dispose(in: bag)
    #expect(web.requests.last?.headers["If-None-Match"] == "\"1\"")
    web.answer("A\nk5 e5\nk4 e4\nk2 e2")
    store.commit()
    #expect(feeds.ledger.committed.episodes(of: "a").map(\.id) == [5, 4, 2])
    bag.dispose()
  }

  @Test
  func `the bytes charged for a feed equal its stored bytes`() throws {
    let url = "http://a.example/"
    try subscribe(url)
    func size() -> Int { feeds.ledger.engine.pending.size(of: Stream(named: "feeds/a")) }
    #expect(size() > url.utf8.count)
    let stream = host.stateBytes - size()
    func check(_ step: String) { #expect(host.stateBytes - size() == stream, "\(step)") }
    time.advance(0)
    web.answer("Title\nb Two\na One")
    store.commit()
    check("a title, and new episodes")
    let before = size()
    try run { () throws(FeedsError) in try feeds.mark("a", 1) }
    #expect(size() == before - 1)
    check("one was played")
    try run { () throws(FeedsError) in try feeds.mark("a") }
    try run { () throws(FeedsError) in try feeds.mark("a", 2, played: false) }
    check("one was played and the other not")
    _ = watch()
    web.answer("A longer title\nc Three\nb Second\na One")
    store.commit()
    check("another title, a new episode and a changed one")
    time.advance(1800)
    web.answer("T" + (0..<501).map { "\nk\($0) e\($0)" }.joined())
    store.commit()
    check("more episodes than are kept")
    try run { () throws(FeedsError) in try feeds.unsubscribe("a") }
    #expect(size() == 0)
    #expect(host.stateBytes == 0)
  }

  @Test
  func `fetched episodes are recorded under and charged to the subscribing user`() throws {
    try subscribe()
    let before = host.stateBytes(of: 1)
    time.advance(0)
    web.answer("T\na One")
    store.commit()
    var metas: [String] = []
    store.replay(after: 0) { metas = $0.records.compactMap(\.meta) }
    #expect(metas.last == #"{"uid":1,"pid":0,"method":"feeds.fetch"}"#)
    #expect(host.stateBytes(of: 1) > before)
    #expect(host.stateBytes(of: 0) == 0)
  }

  @Test
  func `fetched episodes count toward the quota of the subscribing user`() throws {
    try subscribe()
    let watched = watch()
    host.quota = StateQuota(total: 1 << 20, ofUser: host.stateBytes(of: 1))
    web.answer("T\na One")
    #expect(watched.states() == ["loading", "failed: the feed could not be saved"])
    #expect(titles == [])
  }

  @Test
  func `a fetch whose result cannot be stored fails`() throws {
    try subscribe()
    let watched = watch()
    web.answer("T\na One")
    store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    #expect(watched.states() == ["loading", "failed: the feed could not be saved"])
    #expect(titles == [])
  }
}
