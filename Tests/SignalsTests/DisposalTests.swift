import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct DisposalTests {
  /// A disposable that logs its disposal.
  final class Log {
    var names: [String] = []

    func disposable(_ name: String) -> BlockDisposable {
      BlockDisposable { self.names.append(name) }
    }
  }

  let log = Log()

  @Test
  func `a block disposable runs its block once`() {
    let disposable = log.disposable("a")
    #expect(!disposable.isDisposed)
    disposable.dispose()
    disposable.cancel()
    #expect(disposable.isDisposed)
    #expect(log.names == ["a"])
  }

  @Test
  func `a non-disposable is never disposed`() {
    NonDisposable.instance.dispose()
    #expect(!NonDisposable.instance.isDisposed)
  }

  @Test
  func `a simple disposable records its disposal`() {
    let disposable = SimpleDisposable()
    #expect(!disposable.isDisposed)
    disposable.dispose()
    #expect(disposable.isDisposed)
    #expect(SimpleDisposable(isDisposed: true).isDisposed)
  }

  @Test
  func `a composite disposes in order, and late additions at once`() {
    let composite = CompositeDisposable([log.disposable("a")])
    composite += log.disposable("b")
    composite.dispose()
    composite += log.disposable("c")
    #expect(log.names == ["a", "b", "c"])
    #expect(composite.isDisposed)
  }

  @Test
  func `a composite and a bag release ended disposables`() {
    let composite = CompositeDisposable()
    let bag = DisposeBag()
    for _ in 0..<100_000 {
      let disposable = SimpleDisposable()
      composite += disposable
      bag += disposable
      disposable.dispose()
    }
    #expect(composite.count < 100)
    #expect(bag.count < 100)
  }

  @Test
  func `a serial disposable disposes the newest one, and late additions at once`() {
    let serial = SerialDisposable(otherDisposable: log.disposable("a"))
    serial.otherDisposable = log.disposable("b")
    #expect(log.names.isEmpty)
    serial.dispose()
    #expect(log.names == ["b"])
    serial.otherDisposable = log.disposable("c")
    #expect(log.names == ["b", "c"])
  }

  @Test
  func `a disposable is disposed when its deinit disposable is released`() {
    var disposable: DeinitDisposable? = DeinitDisposable(disposable: log.disposable("a"))
    #expect(disposable?.isDisposed == false)
    disposable = nil
    #expect(log.names == ["a"])
  }

  @Test
  func `a bag disposes the newest first, and late additions at once`() {
    let bag = DisposeBag()
    for name in ["a", "b"] { log.disposable(name).dispose(in: bag) }
    bag += [log.disposable("c"), log.disposable("d")]
    bag.dispose()
    log.disposable("e").store(in: bag)
    #expect(log.names == ["d", "c", "b", "a", "e"])
    #expect(bag.isDisposed)
  }

  @Test
  func `a released bag disposes its content and completes`() {
    var bag: DisposeBag? = DisposeBag()
    let recorder = Recorder<Void, Never>()
    let run = bag?.deallocated.observe(with: recorder.tell)
    bag?.add(disposable: log.disposable("a"))
    bag = nil
    #expect(log.names == ["a"])
    #expect(recorder.isComplete)
    run?.dispose()
  }

  @Test
  func `a reusable bag follows the rule of ReactiveKit`() {
    let bag = DisposeBag(isReusable: true)
    #expect(bag.isDisposed)
    for name in ["a", "b"] { log.disposable(name).dispose(in: bag) }
    #expect(!bag.isDisposed)
    bag.dispose()
    #expect(log.names == ["a", "b"])
    log.disposable("c").dispose(in: bag)
    #expect(log.names == ["a", "b"])
    bag.dispose()
    #expect(log.names == ["a", "b", "c"])
  }
}
