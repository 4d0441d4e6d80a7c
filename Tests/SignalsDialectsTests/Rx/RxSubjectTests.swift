import RxDialect
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct RxSubjectTests {
  @Test
  func `a publish subject sends to the observers of the moment, and its end to later ones`() {
    let subject = PublishSubject<Int>()
    let a = Watcher(subject)
    subject.onNext(1)
    let b = Watcher(subject)
    subject.onNext(2)
    subject.onError(Broken())
    subject.onNext(3)
    #expect(a.log == ["1", "2", "error Broken()"])
    #expect(b.log == ["2", "error Broken()"])
    #expect(Watcher(subject).log == ["error Broken()"])
  }

  @Test
  func `a behavior subject sends its newest element first, and after the end only the end`() throws
  {
    let subject = BehaviorSubject(value: 1)
    let a = Watcher(subject)
    subject.onNext(2)
    let b = Watcher(subject)
    #expect(try subject.value() == 2)
    subject.onError(Broken())
    subject.onNext(3)
    #expect(a.log == ["1", "2", "error Broken()"] && b.log == ["2", "error Broken()"])
    #expect(Watcher(subject).log == ["error Broken()"])
    #expect(throws: Broken.self) { try subject.value() }
  }

  @Test
  func `a replay subject sends its newest elements first, also after the end`() {
    let two = ReplaySubject<Int>.create(bufferSize: 2)
    let all = ReplaySubject<Int>.createUnbounded()
    for subject in [two, all] {
      (1...3).forEach(subject.onNext)
      subject.onCompleted()
    }
    #expect(Watcher(two).log == ["2", "3", "completed"])
    #expect(Watcher(all).log == ["1", "2", "3", "completed"])
  }

  @Test
  func `a variable sends its value first, and completes when it is deallocated`() {
    var variable: Variable<Int>? = Variable(1)
    let values = variable?.asObservable() ?? .empty()
    let watcher = Watcher(values)
    variable?.value = 2
    #expect(variable?.value == 2)
    let late = Watcher(values)
    variable = nil
    #expect(watcher.log == ["1", "2", "completed"] && late.log == ["2", "completed"])
    #expect(Watcher(values).log == ["completed"])
  }

  @Test
  func `an element sent during a delivery follows it, so that all observers see one order`() {
    func check(
      _ events: Observable<Int>, _ send: @escaping (Int) -> Void,
      _ line: SourceLocation = #_sourceLocation
    ) {
      let (a, b) = (Watcher<Int>(), Watcher<Int>())
      a.watch(events.do(onNext: { if $0 == 1 { send(2) } }))
      b.watch(events)
      send(1)
      #expect(a.log.suffix(2) == ["1", "2"], sourceLocation: line)
      #expect(b.log.suffix(2) == ["1", "2"], sourceLocation: line)
      a.leave()
      b.leave()
    }
    let (publish, behavior, variable) = (
      PublishSubject<Int>(), BehaviorSubject(value: 0), Variable(0)
    )
    check(publish.asObservable(), publish.onNext)
    check(behavior.asObservable(), behavior.onNext)
    check(variable.asObservable()) { variable.value = $0 }
  }

  @Test
  func `an observer that sets a variable when it subscribes receives that value second`() {
    let variable = Variable(1)
    let watcher = Watcher<Int>()
    watcher.watch(
      variable.asObservable().do(onNext: { value in
        if value == 1 { variable.value = 2 }
        watcher.note("set")
      }))
    #expect(watcher.log == ["set", "1", "set", "2"])
    watcher.leave()
  }

  @Test
  func `an observer added during a delivery receives the newest element once`() {
    let subject = BehaviorSubject(value: 0)
    let late = Watcher<Int>()
    let watcher = Watcher<Int>()
    watcher.watch(subject.asObservable().do(onNext: { if $0 == 1 { late.watch(subject) } }))
    subject.onNext(1)
    subject.onNext(2)
    #expect(late.log == ["1", "2"])
    watcher.leave()
    late.leave()
  }

  @Test
  func `a subject that is an observer passes on a sequence with its end`() {
    let (source, relay) = (PublishSubject<Int>(), PublishSubject<Int>())
    let watcher = Watcher(relay)
    _ = source.subscribe(relay.asObserver())
    source.onNext(1)
    source.onCompleted()
    #expect(watcher.log == ["1", "completed"])
  }
}
