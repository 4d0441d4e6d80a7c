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

@Suite(.leavesNothing)
struct ThreadsServiceTests {
  let store = MemoryStore()
  let host: ServiceHost
  let threads: ThreadsService

  init() throws {
    host = ServiceHost(store: store)
    threads = ThreadsService(in: host.library)
    try host.start()
  }

  private func value(_ source: String) -> String? { threads.ledger.value(of: source)?.text }

  @Test
  func `a thread is started, posted to, liked and read again after a start`() throws {
    #expect(try host.run { try threads.start(name: "Tea") } == 1)
    #expect(try host.run { try threads.post("Green?", to: 1, by: 7) } == 1)
    #expect(try host.run { try threads.post("Black!", to: 1, by: 8) } == 2)
    #expect(try host.run { try threads.like(1, of: 1, by: 8) } == 1)
    #expect(try host.run { try threads.like(1, of: 1, by: 9) } == 2)
    #expect(try host.run { try threads.like(1, of: 1, by: 9) } == 2)
    #expect(try host.run { try threads.unlike(1, of: 1, by: 8) } == 1)
    #expect(try host.run { try threads.unlike(2, of: 1, by: 8) } == 0)
    #expect(try host.run { try threads.edit(2, of: 1, "Black.", by: 8) } == "Black.")
    #expect(host.last == 7, "what changes nothing records nothing")
    #expect(value("threads/1") == nil)
    store.commit()
    #expect(value("threads/1") == #"{"id":1,"name":"Tea","posts":2}"#)
    #expect(
      value("threads/1/posts") == #"[{"id":1,"author":7,"body":"Green?","likes":1},"#
        + #"{"id":2,"author":8,"body":"Black.","likes":0}]"#)
    #expect(try host.run { try threads.removePost(1, of: 1, by: 7) } == "Green?")
    #expect(try host.run { try threads.post("Again", to: 1, by: 7) } == 3)
    store.commit()

    let again = ServiceHost(store: store)
    let reborn = ThreadsService(in: again.library)
    try again.start()
    let (now, then) = (reborn.ledger.committed, threads.ledger.committed)
    #expect(now.threads[1] == then.threads[1])
    #expect(now.posts[1] == then.posts[1])
    #expect(now.posts[1].map(\.id) == [2, 3])
    #expect(now.threads[1]?.posts == 2)
  }

  @Test
  func `posts are charged to the user of their thread, not to who posts last anywhere`() throws {
    func run(by user: UInt32, _ body: () throws -> Void) throws {
      _ = try host.perform(Command(method: "test", caller: Peer(uid: user))) {
        try body()
        return nil
      }
    }
    let body = String(repeating: "x", count: 1_000)
    try run(by: 7) {
      _ = try threads.start(name: "Long")
      for _ in 1...60 { _ = try threads.post(body, to: 1, by: 7) }
    }
    try run(by: 8) {
      _ = try threads.start(name: "Short")
      _ = try threads.post(body, to: 2, by: 8)
    }
    store.commit()
    #expect(host.stateBytes(of: 7) > 60_000)
    #expect(1_000..<5_000 ~= host.stateBytes(of: 8))
    try run(by: 7) { _ = try threads.remove(1, by: 7) }
    store.commit()
    #expect(host.stateBytes(of: 7) < 5_000)
    #expect(1_000..<5_000 ~= host.stateBytes(of: 8))
  }

  @Test
  func `invalid commands are refused with the reason`() throws {
    try host.run { _ = try threads.start(name: "Tea") }
    try host.run { _ = try threads.post("Green?", to: 1, by: 7) }
    func refusal(_ body: () throws -> Void) -> ThreadsError? {
      do {
        try host.run(body)
        return nil
      } catch {
        return error as? ThreadsError
      }
    }
    #expect(refusal { _ = try threads.start(name: "") } == .badName)
    #expect(refusal { _ = try threads.rename(2, to: "x") } == .unknownThread(2))
    #expect(refusal { _ = try threads.post("", to: 1, by: 1) } == .badBody)
    let long = String(repeating: "x", count: ThreadsService.maxBodyBytes + 1)
    #expect(refusal { _ = try threads.post(long, to: 1, by: 1) } == .badBody)
    // A text that is short, but long as JSON.
    #expect(refusal { _ = try threads.post("\u{1}", to: 1, by: 1) } == .badBody)
    for name in ["a" + String(repeating: "\u{301}", count: 400), "\u{7}"] {
      #expect(name.count == 1)
      #expect(refusal { _ = try threads.rename(1, to: name) } == .badName)
    }
    #expect(refusal { _ = try threads.like(2, of: 1, by: 1) } == .unknownPost(2))
    #expect(refusal { _ = try threads.edit(1, of: 1, "mine", by: 8) } == .notTheAuthor)
    #expect(refusal { _ = try threads.removePost(1, of: 1, by: 8) } == .notTheAuthor)
    #expect(host.last == 2)
    try host.run { _ = try threads.post("a line\n\tand another", to: 1, by: 7) }
  }

  @Test
  func `a thread belongs to its author, and one without a known author to everyone`() throws {
    try host.run { _ = try threads.start(name: "Tea", by: 7) }
    try host.run { _ = try threads.start(name: "Tea", by: 7, as: "kim") }
    try host.run { _ = try threads.start(name: "Tea") }
    store.commit()
    let old: Threads.Event? = EventCoder().event(
      "started", try JSONText(parsing: #"{"name":"Tea"}"#))
    #expect(old == .started(name: "Tea"))
    func may(_ id: Int, _ user: UInt32?, _ name: String?) -> Bool {
      (try? host.run { try threads.rename(id, to: "Tea", by: user, as: name) }) != nil
    }
    #expect(may(1, 7, nil) && may(1, 7, "lee") && !may(1, 8, nil) && !may(1, nil, nil))
    #expect(may(2, 9, "kim") && !may(2, 7, nil) && !may(2, 7, "lee"))
    #expect(may(3, 8, nil) && may(3, nil, nil))
    #expect(throws: ThreadsError.notTheStarter) {
      try host.run { _ = try threads.remove(2, by: 7) }
    }
    #expect(try host.run { try threads.remove(2, by: 7, isAnyAllowed: true) } == 0)
  }

  @Test
  func `each change of the posts is one step, and a like changes only the count`() throws {
    var steps: [CollectionChange] = []
    var heads: [String?] = []
    let bag = DisposeBag()
    threads.ledger.engine.changes(of: "threads/1/posts").observeNext {
      if let step = $0.step { steps.append(step) }
    }
    .dispose(in: bag)
    threads.ledger.engine.changes(of: "threads/1").observeNext { heads.append($0.value?.text) }
      .dispose(in: bag)
    try host.run { _ = try threads.start(name: "Tea") }
    for body in ["a", "b", "c"] { try host.run { _ = try threads.post(body, to: 1, by: 7) } }
    try host.run { _ = try threads.like(2, of: 1, by: 8) }
    try host.run { _ = try threads.edit(3, of: 1, "C", by: 7) }
    try host.run { _ = try threads.removePost(1, of: 1, by: 7) }
    try host.run { _ = try threads.like(2, of: 1, by: 9) }
    try host.run { _ = try threads.remove(1) }
    store.commit()
    let likes = try JSONText(parsing: #"{"likes":1}"#)
    #expect(
      Array(steps[3...5]) == [
        .merge(at: 1, likes), .merge(at: 2, try JSONText(parsing: #"{"body":"C"}"#)),
        .remove(at: 0),
      ])
    #expect(
      Array(steps[6...]) == [
        .merge(at: 0, try JSONText(parsing: #"{"likes":2}"#)), .reset(JSONText(elements: [])),
      ])
    #expect(heads.count == 6)
    #expect(heads.first == #"{"id":1,"name":"Tea","posts":0}"#)
    #expect(heads.last == .some(nil))
    bag.dispose()
  }

  /// Returns a change of a list as text.
  private func text<Key, Row>(_ change: RowList<Key, Row>.Change) -> String {
    switch change {
    case .rows(let keys): "\(keys)"
    case .all: "all"
    }
  }

  @Test
  func `an event changes only the affected rows of threads and posts`() throws {
    try host.run { _ = try threads.start(name: "Tea") }
    try host.run { _ = try threads.post("a", to: 1, by: 7) }
    store.commit()
    let posts = threads.posts(of: 1)
    let rows = threads.ledger.rows(\.threads)
    var told: [String] = []
    let bag = DisposeBag()
    rows.changes.observeNext { [self] in told.append("threads " + text($0)) }
      .dispose(in: bag)
    posts.changes.observeNext { [self] in told.append("posts " + text($0)) }.dispose(in: bag)
    try host.run { _ = try threads.post("b", to: 1, by: 7) }
    try host.run { _ = try threads.like(1, of: 1, by: 8) }
    try host.run { _ = try threads.start(name: "Milk") }
    try host.run { _ = try threads.post("c", to: 2, by: 7) }
    store.commit()
    try host.run { _ = try threads.removePost(2, of: 1, by: 7) }
    store.commit()
    #expect(posts.keys() == [1])
    #expect(posts.row(1)?.likes == 1)
    #expect(posts.row(2) == nil)
    try host.run { _ = try threads.remove(1) }
    store.commit()
    #expect(
      told.filter { $0.hasPrefix("posts") } == ["posts [2]", "posts [1]", "posts [2]", "posts all"])
    #expect(
      told.filter { $0.hasPrefix("threads") } == [
        "threads [1]", "threads [2]", "threads [2]", "threads [1]", "threads [1]",
      ])
    #expect(posts.keys() == [])
    #expect(rows.keys() == [2])
    bag.dispose()
  }

  @Test
  func `a snapshot of the first form is read`() throws {
    let store = MemoryStore()
    let post = #"{"id":2,"author":7,"name":"kim","body":"a","likers":[8]}"#
    let thread = #"{"id":3,"name":"Tea","posts":[\#(post)],"lastPost":4,"starter":7}"#
    store.save(
      Snapshot(
        service: "threads", seq: 0, schema: 1,
        data: #"{"threads":{"3":\#(thread)},"lastID":5}"#))
    let host = ServiceHost(store: store)
    let threads = ThreadsService(in: host.library)
    try host.start()
    #expect(
      threads.ledger.value(of: "threads/3")?.text == #"{"id":3,"name":"Tea","posts":1}"#)
    #expect(
      threads.ledger.value(of: "threads/3/posts")?.text
        == #"[{"id":2,"author":7,"name":"kim","body":"a","likes":1}]"#)
    #expect(try host.run { try threads.post("b", to: 3, by: 7) } == 5)
    #expect(try host.run { try threads.start(name: "Milk") } == 6)
  }

  @Test
  func `past changes are the same steps as live ones`() throws {
    try host.run { _ = try threads.start(name: "Tea") }
    for body in ["a", "b"] { try host.run { _ = try threads.post(body, to: 1, by: 7) } }
    try host.run { _ = try threads.like(2, of: 1, by: 8) }
    store.commit()
    var pages: [Page<SourceChange>] = []
    let reading = host.readChanges(
      in: "threads", after: 2, where: { $0 == "threads/1/posts" }, as: { $0 }
    ).observe {
      if case .next(let page) = $0 { pages.append(page) }
    }
    store.read()
    #expect(pages.count == 1)
    #expect(pages.first?.entries.map(\.seq) == [3, 4])
    #expect(
      pages.first?.entries.last?.step == .merge(at: 1, try JSONText(parsing: #"{"likes":1}"#)))
    reading.dispose()
  }
}
