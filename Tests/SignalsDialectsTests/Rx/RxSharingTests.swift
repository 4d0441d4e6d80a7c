import RxDialect
import SignalsTestSupport
import TestSupport
import Testing

private let scopes: [SubjectLifetimeScope] = [.whileConnected, .forever]

@Suite(.leavesNothing)
struct RxSharingTests {
  @Test(arguments: scopes)
  func `all subscribers share a run, from the first until the last one leaves`(
    scope: SubjectLifetimeScope
  ) {
    let source = Source<Int>()
    let shared = source.events.share(replay: 0, scope: scope)
    #expect(source.started == 0)
    let (a, b) = (Watcher(shared), Watcher(shared))
    source.send(1)
    a.leave()
    source.send(2)
    #expect(source.started == 1 && source.ended == 0)
    b.leave()
    #expect(source.ended == 1)
    #expect(a.log == ["1"] && b.log == ["1", "2"])
  }

  @Test
  func `share without arguments replays nothing, and starts again after the end`() {
    let source = Source<Int>()
    source.first = [.next(1), .completed]
    let shared = source.events.share()
    #expect(Watcher(shared).log == ["1", "completed"])
    #expect(Watcher(shared).log == ["1", "completed"])
    #expect(source.started == 2)
    source.first = [.next(5)]
    let (a, b) = (Watcher(shared), Watcher(shared))
    #expect(a.log == ["5"] && b.log == [])
    a.leave()
    b.leave()
  }

  @Test(arguments: scopes)
  func `a late subscriber receives the newest elements first`(scope: SubjectLifetimeScope) {
    let source = Source<Int>()
    let shared = source.events.share(replay: 2, scope: scope)
    let a = Watcher(shared)
    (1...3).forEach(source.send)
    let b = Watcher(shared)
    source.send(4)
    #expect(a.log == ["1", "2", "3", "4"] && b.log == ["2", "3", "4"])
    a.leave()
    b.leave()
    #expect(source.ended == 1)
  }

  @Test
  func `while connected, elements are forgotten with the last subscriber`() {
    let source = Source<Int>()
    let shared = source.events.share(replay: 1, scope: .whileConnected)
    let a = Watcher(shared)
    source.send(1)
    a.leave()
    let b = Watcher(shared)
    #expect(b.log == [] && source.started == 2)
    source.send(2)
    #expect(b.log == ["2"])
    b.leave()
  }

  @Test
  func `forever, elements outlive the last subscriber, and a new run begins`() {
    let source = Source<Int>()
    let shared = source.events.share(replay: 1, scope: .forever)
    let a = Watcher(shared)
    source.send(1)
    a.leave()
    let b = Watcher(shared)
    #expect(b.log == ["1"] && source.started == 2)
    source.send(2)
    #expect(b.log == ["1", "2"])
    b.leave()
    #expect(source.ended == 2)
  }

  @Test(arguments: scopes)
  func `after the end, only a scope of connections starts a new run`(scope: SubjectLifetimeScope) {
    for end in [Event<Int>.completed, .error(Broken())] {
      let source = Source<Int>()
      let shared = source.events.share(replay: 1, scope: scope)
      let a = Watcher(shared)
      source.send(1)
      source.send(end)
      let b = Watcher(shared)
      #expect(a.log.count == 2)
      if scope == .forever {
        #expect(b.log == a.log && source.started == 1)
      } else {
        #expect(b.log == [] && source.started == 2)
      }
      b.leave()
      #expect(source.started == source.ended)
    }
  }

  @Test
  func `a subscriber that answers the end with a subscription starts a new run`() {
    let source = Source<Int>()
    let shared = source.events.share(replay: 1, scope: .whileConnected)
    let watcher = Watcher(shared.retry(2))
    source.send(1)
    source.send(.error(Broken()))
    #expect(source.started == 2 && watcher.log == ["1"])
    source.send(2)
    source.send(.completed)
    #expect(watcher.log == ["1", "2", "completed"])
    // A shared sequence that keeps its end fails again at once.
    let lasting = Source<Int>()
    let failed = Watcher(lasting.events.share(replay: 1, scope: .forever).retry(3))
    lasting.send(1)
    lasting.send(.error(Broken()))
    #expect(failed.log == ["1", "1", "1", "error Broken()"] && lasting.started == 1)
  }

  @Test
  func `a subscriber that has enough with the replayed element leaves no run`() {
    let source = Source<Int>()
    let shared = source.events.share(replay: 1, scope: .forever)
    let a = Watcher(shared)
    source.send(1)
    a.leave()
    #expect(Watcher(shared.take(1)).log == ["1", "completed"])
    #expect(source.started == source.ended)
    let b = Watcher(shared)
    #expect(source.started == source.ended + 1)
    b.leave()
  }

  @Test
  func `a source that ends at once leaves nothing, and a new subscriber starts again`() {
    let source = Source<Int>()
    source.first = [.next(1), .next(2), .completed]
    let shared = source.events.share(replay: 1, scope: .whileConnected)
    #expect(Watcher(shared.take(1)).log == ["1", "completed"])
    #expect(source.started == 1 && source.ended == 1)
    #expect(Watcher(shared).log == ["1", "2", "completed"])
  }

  @Test
  func `a subscriber of a subscriber's element joins the run`() {
    let source = Source<Int>()
    source.first = [.next(1)]
    let shared = source.events.share(replay: 1, scope: .whileConnected)
    let (a, b) = (Watcher<Int>(), Watcher<Int>())
    a.watch(shared.do(onNext: { if $0 == 1 { b.watch(shared) } }))
    source.send(2)
    #expect(source.started == 1 && a.log == ["1", "2"] && b.log == ["1", "2"])
    a.leave()
    b.leave()
  }
}
