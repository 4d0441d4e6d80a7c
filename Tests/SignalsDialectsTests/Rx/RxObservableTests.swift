import RxDialect
import SignalsTestSupport
import Synchronization
import TestSupport
import Testing

@Suite(.leavesNothing)
struct RxObservableTests {
  @Test
  func `each subscription starts a run of its own`() {
    let source = Source<Int>()
    let (a, b) = (Watcher(source.events), Watcher(source.events))
    #expect(source.started == 2)
    a.leave()
    #expect(source.ended == 1)
    source.send(1)
    #expect(a.log == [] && b.log == ["1"])
    b.leave()
    #expect(source.ended == 2)
  }

  @Test(arguments: [true, false])
  func `nothing follows the end, which disposes the run once`(fails: Bool) {
    let source = Source<Int>()
    let watcher = Watcher<Int>()
    watcher.watch(
      Observable<Int>.create { observer in
        observer.onNext(1)
        if fails { observer.onError(Broken()) } else { observer.onCompleted() }
        observer.onNext(2)
        observer.onCompleted()
        return source.events.subscribe(observer)
      })
    #expect(watcher.log == ["1", fails ? "error Broken()" : "completed"])
    #expect(source.ended == 1)
    watcher.leave()
    #expect(source.ended == 1)
  }

  @Test
  func `a disposed subscription receives nothing more, also in its own call`() {
    let subject = PublishSubject<Int>()
    let watcher = Watcher<Int>()
    watcher.watch(subject.asObservable().do(onNext: { if $0 == 2 { watcher.leave() } }))
    (1...3).forEach(subject.onNext)
    #expect(watcher.log == ["1"])
    #expect(!subject.hasObservers)
  }

  @Test
  func `the closures of a subscription are called in the order of events, the disposal last`() {
    for isError in [true, false] {
      let watcher = Watcher<Int>()
      let two = Observable.of(1, 2)
      let source = isError ? two.concat(Observable.error(Broken())) : two
      source.subscribe(
        onNext: { watcher.note("\($0)") }, onError: { watcher.note("\($0)") },
        onCompleted: { watcher.note("completed") }, onDisposed: { watcher.note("disposed") }
      ).dispose()
      #expect(watcher.log == ["1", "2", isError ? "Broken()" : "completed", "disposed"])
    }
    let watcher = Watcher<Int>()
    let run = Observable<Int>.never().subscribe(onDisposed: { watcher.note("disposed") })
    #expect(watcher.log == [])
    run.dispose()
    run.dispose()
    #expect(watcher.log == ["disposed"])
  }

  @Test
  func `an error without a closure goes to the hook`() {
    let errors = Mutex<[String]>([])
    Hooks.$defaultErrorHandler.withValue({ error in
      errors.withLock { $0.append("\(error)") }
    }) {
      _ = Observable<Int>.error(Broken()).subscribe(onNext: { _ in })
      _ = Observable<Int>.error(Broken()).subscribe(onError: { _ in })
      _ = Observable<Int>.error(Broken()).bind(to: Variable(0))
    }
    #expect(errors.withLock { $0 } == ["Broken()", "Broken()"])
  }

  @Test
  func `an error that a closure throws ends the run`() {
    func check(
      _ apply: (Observable<Int>) -> Observable<Int>, line: SourceLocation = #_sourceLocation
    ) {
      let source = Source<Int>()
      let watcher = Watcher(apply(source.events))
      source.send(1)
      source.send(2)
      source.send(1)
      #expect(watcher.log == ["1", "error Broken()"], sourceLocation: line)
      #expect(source.ended == 1, sourceLocation: line)
    }
    check { $0.map { if $0 == 2 { throw Broken() } else { $0 } } }
    check { $0.filter { if $0 == 2 { throw Broken() } else { true } } }
    check { $0.scan(0) { if $1 == 2 { throw Broken() } else { $1 } } }
    check { $0.do(onNext: { if $0 == 2 { throw Broken() } }) }
    check { $0.flatMap { if $0 == 2 { throw Broken() } else { Observable.just($0) } } }
    check { $0.flatMapLatest { if $0 == 2 { throw Broken() } else { Observable.just($0) } } }
    #expect(Watcher(Observable<Int>.deferred { throw Broken() }).log == ["error Broken()"])
  }

  @Test
  func `the operators of elements`() {
    let five = Observable.from(1...5)
    #expect(Watcher(five.map { $0 * 2 }.filter { $0 > 4 }).log == ["6", "8", "10", "completed"])
    #expect(Watcher(five.scan(0, accumulator: +)).log == ["1", "3", "6", "10", "15", "completed"])
    #expect(Watcher(five.take(2)).log == ["1", "2", "completed"])
    #expect(Watcher(five.take(0)).log == ["completed"])
    #expect(Watcher(five.skip(3)).log == ["4", "5", "completed"])
    #expect(Watcher(five.take(1).startWith(8, 9)).log == ["8", "9", "1", "completed"])
    #expect(
      Watcher(Observable.of(1, 1, 2, 1).distinctUntilChanged()).log == ["1", "2", "1", "completed"])
    #expect(Watcher(Observable.just(1).concat(Observable.just(2))).log == ["1", "2", "completed"])
    #expect(
      Watcher(Observable.just(1).flatMap { Observable.of($0, 7) }).log == ["1", "7", "completed"])
    #expect(Watcher(Observable<Int>.empty()).log == ["completed"])
    // The state of scan belongs to the run.
    let sums = Observable.of(1, 2).scan(0, accumulator: +)
    #expect(Watcher(sums).log == Watcher(sums).log)
  }

  @Test
  func `take disposes its source at the last element`() {
    let source = Source<Int>()
    let watcher = Watcher(source.events.take(1))
    source.send(1)
    #expect(watcher.log == ["1", "completed"] && source.ended == 1)
  }

  @Test
  func `the operators of two sequences`() {
    let (a, b) = (PublishSubject<Int>(), PublishSubject<Int>())
    let merged = Watcher(Observable.merge(a.asObservable(), b.asObservable()))
    let latest = Watcher(Observable.combineLatest(a, b) { $0 * 10 + $1 })
    let with = Watcher(a.withLatestFrom(b) { $0 * 10 + $1 })
    a.onNext(1)
    b.onNext(2)
    a.onNext(3)
    b.onCompleted()
    a.onNext(4)
    a.onCompleted()
    #expect(merged.log == ["1", "2", "3", "4", "completed"])
    #expect(latest.log == ["12", "32", "42", "completed"])
    #expect(with.log == ["32", "42", "completed"])
  }

  @Test
  func `flatMapLatest disposes the former sequence before it subscribes to the new one`() {
    let outer = PublishSubject<Int>()
    let watcher = Watcher<String>()
    var inner: [Int: AnyObserver<String>] = [:]
    watcher.watch(
      outer.flatMapLatest { number in
        Observable<String>.create { observer in
          watcher.note("start \(number)")
          inner[number] = observer
          return Disposables.create { watcher.note("end \(number)") }
        }
      })
    outer.onNext(1)
    inner[1]?.onNext("a")
    outer.onNext(2)
    inner[1]?.onNext("late")
    inner[1]?.onError(Broken())
    inner[2]?.onNext("b")
    outer.onCompleted()
    inner[2]?.onNext("c")
    inner[2]?.onCompleted()
    #expect(watcher.log == ["start 1", "a", "end 1", "start 2", "b", "c", "end 2", "completed"])
  }

  @Test
  func `flatMapLatest fails with the first error, of either side`() {
    let (outer, inner) = (PublishSubject<Int>(), PublishSubject<Int>())
    let a = Watcher(outer.flatMapLatest { _ in inner })
    outer.onNext(1)
    inner.onError(Broken())
    #expect(a.log == ["error Broken()"] && !outer.hasObservers)
    let b = Watcher(outer.flatMapLatest { _ in Observable<Int>.never() })
    outer.onNext(1)
    outer.onError(Broken())
    #expect(b.log == ["error Broken()"])
  }

  @Test
  func `flatMapLatest follows an element that its inner sequence causes`() {
    let outer = PublishSubject<Int>()
    let watcher = Watcher(
      outer.flatMapLatest { number in
        Observable<Int>.create { observer in
          if number == 1 { outer.onNext(2) }
          observer.onNext(number)
          return Disposables.create()
        }
      })
    outer.onNext(1)
    #expect(watcher.log == ["1", "2"])
    watcher.leave()
  }

  @Test
  func `catchErrorJustReturn completes, and catchError goes on`() {
    let failing = Observable.just(1).concat(Observable.error(Broken()))
    #expect(Watcher(failing.catchErrorJustReturn(7)).log == ["1", "7", "completed"])
    #expect(Watcher(failing.catchError { _ in .of(8, 9) }).log == ["1", "8", "9", "completed"])
    #expect(Watcher(failing.catchError { throw $0 }).log == ["1", "error Broken()"])
    #expect(Watcher(Observable.just(1).catchErrorJustReturn(7)).log == ["1", "completed"])
  }

  @Test
  func `retry counts all attempts`() {
    let source = Source<Int>()
    source.first = [.next(1), .error(Broken())]
    #expect(Watcher(source.events.retry(3)).log == ["1", "1", "1", "error Broken()"])
    #expect(source.started == 3 && source.ended == 3)
    source.first = []
    let endless = Watcher(source.events.retry())
    for _ in 1...5 { source.send(.error(Broken())) }
    #expect(endless.log == [] && source.started == 9 && source.ended == 8)
    endless.leave()
  }

  @Test
  func `observeOn sends each event in a call of its own, and none after the disposal`() {
    let (clock, subject) = (StillClock(), PublishSubject<Int>())
    let watcher = Watcher(subject.asObservable().observeOn(clock))
    subject.onNext(1)
    subject.onError(Broken())
    #expect(watcher.log == [])
    clock.advance(by: 0)
    #expect(watcher.log == ["1", "error Broken()"])
    let left = Watcher(Observable.just(1).observeOn(clock))
    left.leave()
    clock.advance(by: 0)
    #expect(left.log == [])
  }

  @Test
  func `subscribeOn starts the run in a later call`() {
    let (clock, source) = (StillClock(), Source<Int>())
    let watcher = Watcher(source.events.subscribeOn(clock))
    #expect(source.started == 0)
    clock.advance(by: 0)
    #expect(source.started == 1)
    watcher.leave()
    #expect(source.ended == 1)
  }

  @Test
  func `debounce waits for a pause`() {
    let (clock, subject) = (StillClock(), PublishSubject<Int>())
    let watcher = Watcher(subject.asObservable().debounce(0.33, scheduler: clock))
    subject.onNext(1)
    clock.advance(by: 0.2)
    subject.onNext(2)
    clock.advance(by: 0.2)
    #expect(watcher.log == [])
    clock.advance(by: 0.2)
    #expect(watcher.log == ["2"])
    subject.onNext(3)
    subject.onCompleted()
    #expect(watcher.log == ["2", "3", "completed"])
  }

  @Test
  func `do calls its closures before the subscriber`() {
    let watcher = Watcher<Int>()
    watcher.watch(
      Observable.just(1).do(
        onNext: { watcher.note("do \($0)") }, onCompleted: { watcher.note("do completed") },
        onSubscribe: { watcher.note("subscribe") }, onDispose: { watcher.note("dispose") }))
    #expect(watcher.log == ["subscribe", "do 1", "1", "do completed", "completed", "dispose"])
  }
}
