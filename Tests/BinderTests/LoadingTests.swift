import Binder
import BinderTesting
import JSON
import Signals
import TestSupport
import Testing

/// Pages of a hidden table, and their lines, which belong to them.
private struct Pages: State {
  enum Event: Codable {
    case added
    case read(line: String)
    case removed
  }

  var pages = Table<String, Int>()
  var lines = Lists<String, String>()

  static let sources = [
    Source.hidden(\Pages.pages, in: "pages/*"),
    .lists(\.lines, "pages/*/lines", "The lines of a page.", in: "pages/*"),
  ]

  mutating func apply(_ event: Event, at context: EventContext) {
    guard let name: String = context.key() else { return }
    switch event {
    case .added: pages[name] = 0
    case .read(let line):
      pages[name]? += 1
      lines.append(line, to: name)
    case .removed:
      pages[name] = nil
      lines[name] = []
    }
  }
}

/// A page could not be loaded now.
private struct NotNow: Rejecting, Equatable {
  var rejection: Rejection { .rejected("not_now", "the server is too slow") }
  var isPassing: Bool { true }
}

private final class PageService {
  typealias Loading = ObservedLoadingState<Int, NotNow>

  let ledger: Ledger<Pages>
  let host: Host
  let state = Property(Loading.loading)

  /// The observers for whom a page is loaded.
  var watchers = 0

  init(in host: Host, running: @escaping (Int) -> Void) {
    self.host = host
    ledger = Ledger("pages", in: host)
    host.whileRunning {
      running(1)
      return BlockDisposable { running(-1) }
    }
  }

  func bind(_ catalog: Catalog) {
    catalog.offer("Pages.", ledger)
    catalog.loaded(
      "pages/*", "A page, loaded while somebody watches.",
      keys: { Array(self.ledger.committed.pages.keys) },
      known: { self.ledger.committed.pages[$0] }, state: shown,
      states: { name in
        Signal { observer in
          self.watchers += 1
          let run = self.state.toSignal().observeNext { _ in observer.receive(self.shown(name)) }
          return BlockDisposable {
            self.watchers -= 1
            run.dispose()
          }
        }
      }, statesWhere: { _ in .never() })
    catalog.command("pages.add", "Adds a page.", Parameter<String>("name"), records: "added") {
      (name: String) in self.ledger.record(.added, of: \.pages, name)
    }
    catalog.list("pages.list", "The pages.", \.pages, of: ledger)
    catalog.removal(of: \.pages, ledger, as: "pages.remove") {
      self.ledger.record(.removed, of: \.pages, $0)
    }
  }

  private func shown(_ name: String) -> Loading? {
    ledger.committed.pages.contains(name) ? state.value : nil
  }

  /// Records a line under a user.
  func read(_ line: String, _ name: String, as user: UInt32?) throws {
    try host.perform("pages.read", as: user) {
      ledger.record(.read(line: line), of: \.pages, name)
    }
  }
}

/// Values that are loaded, lists that belong to rows, and work without a client.
@Suite(.leavesNothing)
struct LoadingTests {
  /// The services that were made, and those that run.
  private final class Made {
    weak var pages: PageService?
    var running = 0
  }

  private func start(_ made: Made) throws -> TestDaemon {
    try TestDaemon { host, catalog in
      let pages = PageService(in: host) { made.running += $0 }
      pages.bind(catalog)
      made.pages = pages
    }
  }

  @Test
  func `a value is loaded while it is watched, and shows errors beside what is known`() throws {
    let made = Made()
    let daemon = try start(made)
    let client = daemon.connect()
    let pages = try #require(made.pages)
    #expect(throws: CallError.notFound) { try client.get("pages/a") }
    _ = try client.call("pages.add", ["name": "a"])
    #expect(pages.watchers == 0)
    #expect(try client.subscribe("pages/a")["state"] == "loading")
    #expect(pages.watchers == 1)
    pages.state.value = .loaded(7)
    #expect(client.frames().last?["value"] == 7)
    pages.state.value = .failed(NotNow())
    let failed = try #require(client.frames().last)
    #expect(failed["state"] == "failed" && failed["value"] == 0, "what is known")
    #expect(failed["error"]?.text.text.contains(#""retry":true,"reason":"not_now""#) == true)
  }

  @Test
  func `lists are there with the row to which they belong, and share its stream`() throws {
    let made = Made()
    let daemon = try start(made)
    let client = daemon.connect()
    let pages = try #require(made.pages)
    #expect(throws: CallError.notFound) { try client.get("pages/a/lines") }
    _ = try client.call("pages.add", ["name": "a"])
    #expect(try client.get("pages/a/lines") == [])
    try pages.read("one", "a", as: 1000)
    try pages.read("two", "a", as: nil)
    daemon.advance(.zero)
    #expect(try client.get("pages/a/lines") == ["one", "two"])
    #expect(try client.call("pages.list") == [2])
    #expect(Set(daemon.events.map(\.stream)) == ["pages/a"])
    try daemon.checkReplay()
    try daemon.restart()
    #expect(try daemon.connect().get("pages/a/lines") == ["one", "two"])
  }

  @Test
  func `what is recorded is durable after the commit`() throws {
    let made = Made()
    let daemon = try start(made)
    let pages = try #require(made.pages)
    _ = try daemon.connect().call("pages.add", ["name": "a"])
    daemon.holdCommits()
    try pages.read("one", "a", as: 1000)
    var durable = 0
    let run = pages.host.durability().observe { if case .next = $0 { durable += 1 } }
    #expect(durable == 0)
    daemon.releaseCommits()
    #expect(durable == 1)
    run.dispose()
  }

  @Test
  func `what runs with the daemon ends with it`() throws {
    let made = Made()
    let daemon = try start(made)
    #expect(made.running == 1)
    try daemon.restart()
    #expect(made.running == 1, "the first one has ended")
  }
}
