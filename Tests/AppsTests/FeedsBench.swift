import API
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

/// The feeds service on a memory store, with a web client whose answers the test controls.
class FeedsBench {
  let store = MemoryStore()
  let time = ManualScheduler()
  let web = FakeWeb()
  let reader = FakeReader()
  let host: ServiceHost
  let feeds: FeedsService
  private let feature: Feature
  let bag = DisposeBag()

  init() throws {
    host = ServiceHost(store: store)
    let library = Host(host, on: time)
    let feeds = FeedsService(in: library, web: web, reader: reader)
    self.feeds = feeds
    feature = try Daemon.feature(library) { bindFeeds($1, to: feeds) }
    try host.start()
    feature.begin()
  }

  deinit {
    bag.dispose()
    feature.stop()
  }

  /// Runs a method as a command and makes it durable.
  @discardableResult
  func run<Value>(_ body: () throws(FeedsError) -> Value) throws -> Value {
    defer { store.commit() }
    return try host.run(body)
  }

  func subscribe(_ url: String = "http://a.example/", _ id: String? = "a") throws {
    try run { () throws(FeedsError) in try feeds.subscribe(to: url, as: id) }
  }

  /// Subscribes to a feed and fetches it once.
  func subscribe(fetching text: String) throws {
    try subscribe()
    time.advance(0)
    web.answer(text)
    store.commit()
  }

  func refusal(_ body: () throws(FeedsError) -> Void) -> FeedsError? {
    do { try host.run(body) } catch { return error as? FeedsError }
    return nil
  }

  var titles: [String] {
    feeds.ledger.committed.episodes(of: "a").map { "\($0.id) \($0.title)" }
  }

  func watch(_ id: String = "a") -> (states: () -> [String], end: () -> Void) {
    final class Heard { var states: [String] = [] }
    let heard = Heard()
    let run = feeds.states(of: id).observeNext { state in heard.states.append(name(state)) }
    run.dispose(in: bag)
    return ({ heard.states }, { run.dispose() })
  }
}

/// Returns a state as a short text.
func name(_ state: FeedState?) -> String {
  switch state {
  case nil: "none"
  case .loading: "loading"
  case .reloading: "reloading"
  case .loaded(let feed): "loaded \(feed.episodes)"
  case .failed(let fault): "failed: \(fault)"
  }
}
