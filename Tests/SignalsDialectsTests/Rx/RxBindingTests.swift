import RxDialect
import Signals
import SignalsDialects
import SignalsTestSupport
import TestSupport
import Testing

private final class View: DisposeBagProvider {
  let bag = RxDialect.DisposeBag()
  let term = Variable("")
}

@Suite(.leavesNothing)
struct RxBindingTests {
  @Test
  func `a bound observer receives the end, a bound variable does not`() {
    let source = PublishSubject<Int>()
    let (observer, variable) = (PublishSubject<Int>(), Variable(0))
    let (a, b) = (Watcher(observer), Watcher(variable.asObservable()))
    let bag = RxDialect.DisposeBag()
    source.bind(to: observer).disposed(by: bag)
    source.bind(to: variable).disposed(by: bag)
    source.onNext(1)
    source.onCompleted()
    #expect(a.log == ["1", "completed"] && b.log == ["0", "1"])
    b.leave()
  }

  @Test
  func `the older names do the same`() {
    let (source, view) = (PublishSubject<String>(), View())
    let (relay, watcher) = (PublishSubject<String>(), Watcher<String>())
    let relayed = Watcher(relay)
    source.bindTo(view.term).addDisposableTo(view.rx_disposeBag)
    source.bindTo(relay).addDisposableTo(view.rx_disposeBag)
    source.subscribeNext(watcher.note).addDisposableTo(view.rx_disposeBag)
    source.bindNext(watcher.note).addDisposableTo(view.rx_disposeBag)
    source.subscribeCompleted { watcher.note("end") }.addDisposableTo(view.rx_disposeBag)
    source.onNext("a")
    #expect(view.term.value == "a" && watcher.log == ["a", "a"])
    source.onCompleted()
    #expect(watcher.log == ["a", "a", "end"] && relayed.log == ["a", "completed"])
    let failed = Watcher<String>()
    Observable<String>.error(Broken()).subscribeError { failed.note("\($0)") }.dispose()
    #expect(failed.log == ["Broken()"])
  }

  @Test
  func `elements bind to optionals`() {
    let source = PublishSubject<Int>()
    let (variable, relay) = (Variable<Int?>(nil), PublishSubject<Int?>())
    let watcher = Watcher(relay)
    let runs = [source.bind(to: variable), source.bind(to: relay)]
    source.onNext(1)
    #expect(variable.value == 1 && watcher.log == ["Optional(1)"])
    runs.forEach { $0.dispose() }
    watcher.leave()
  }

  @Test
  func `a closure without parameters binds to a sequence without values`() {
    let appeared = Variable<Void>(())
    let watcher = Watcher<Int>()
    let run = appeared.asObservable().bind { watcher.note("appeared") }
    appeared.value = ()
    #expect(watcher.log == ["appeared", "appeared"])
    run.dispose()
  }

  @Test
  func `a bag ends its bindings when its object is deallocated`() {
    let (source, watcher) = (PublishSubject<String>(), Watcher<String>())
    var view: View? = View()
    if let view {
      source.subscribe(onNext: watcher.note).disposed(by: view.rx_disposeBag)
      source.bind(to: view.term).disposed(by: view.rx_disposeBag)
    }
    source.onNext("a")
    view = nil
    source.onNext("b")
    #expect(watcher.log == ["a"] && !source.hasObservers)
  }

  @Test
  func `the operators of RxSugar bind sequences`() {
    let (view, source) = (View(), PublishSubject<String>())
    let (relay, watcher) = (PublishSubject<String>(), Watcher<String>())
    let relayed = Watcher(relay)
    view.rxs.disposeBag
      ++ view.term <~ source
      ++ relay.asObserver() <~ source
      ++ watcher.note <~ source
    source.onNext("a")
    #expect(view.term.value == "a" && relayed.log == ["a"] && watcher.log == ["a"])
    view.bag.dispose()
    #expect(!source.hasObservers)
    relayed.leave()
  }

  @Test
  func `a signal and a sequence convert into each other`() {
    let property = Property(1)
    let watcher = Watcher(property.asObservable().map { $0 + 1 })
    property.value = 2
    #expect(watcher.log == ["2", "3"])
    watcher.leave()
    let subject = PublishSubject<Int>()
    let run = subject.asSignal().suppressError().bind(to: property)
    subject.onNext(7)
    subject.onError(Broken())
    #expect(property.value == 7 && run.isDisposed)
  }

  @Test
  func `disposables are disposed in their order, and once`() {
    let watcher = Watcher<Int>()
    let both = Disposables.create(
      Disposables.create { watcher.note("a") }, Disposables.create(with: { watcher.note("b") }))
    both.dispose()
    both.dispose()
    Disposables.create().dispose()
    #expect(watcher.log == ["a", "b"])
  }
}
