import Apps
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
  let bag = DisposeBag()

  init() throws {
    host = ServiceHost(store: store)
    feeds = FeedsService(in: host, web: web, reader: reader, on: time)
    try host.start()
    feeds.start()
  }

  deinit {
    bag.dispose()
    feeds.stop()
  }

  /// Runs a method as a command and makes it durable.
  @discardableResult
  func run<Value>(_ body: () throws(FeedsError) -> Value) throws -> Value {
    var value: Value?
    _ = try host.perform(Command(method: "test", caller: Peer(uid: 1, pid: 2))) {
      value = try body()
      return nil
    }
    store.commit()
    return try #require(value)
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
    do throws(Refusal) {
      _ = try host.perform(Command(method: "test", caller: Peer(uid: 1, pid: 2))) {
        try body()
        return nil
      }
    } catch {
      if case .service(let error) = error { return error as? FeedsError }
    }
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
