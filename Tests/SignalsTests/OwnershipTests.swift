import Signals
import TestSupport
import Testing

/// Ownership: bindings retain their source and not their target.
@Suite(.leavesNothing)
struct OwnershipTests {
  final class Target: DisposeBagProvider {
    let bag = DisposeBag()
    var values: [Int] = []
    var value = 0
    var times = 0
  }

  /// An object that signals its deallocation and has no bag.
  final class Bagless: Deallocatable {
    private let ending = ReplayOneSubject<Void, Never>()
    var values: [Int] = []

    var deallocated: SafeSignal<Void> { ending.toSignal() }

    deinit { ending.send(completion: .finished) }
  }

  /// A service with static data, future data and an action.
  final class Service {
    let title = "friends"
    let friends = Property(1)
    private(set) var logOuts = 0

    func logOut() { logOuts += 1 }
  }

  @Test
  func `case 1, static data: the service may be deallocated after the assignment`() {
    let target = Target()
    weak var service: Service?
    do {
      let held = Service()
      service = held
      target.value = held.title.count
    }
    #expect(service == nil)
    #expect(target.value == 7)
  }

  @Test
  func `case 2, future data: any kind of source lives as long as the target`() {
    let time = VirtualTime()
    let makes: [() -> (signal: SafeSignal<Int>, object: AnyObject)] = [
      {
        let subject = PassthroughSubject<Int, Never>()
        return (Signal(takingOver: subject), subject)
      },
      {
        let subject = ReplayOneSubject<Int, Never>()
        return (subject.map { $0 + 1 }, subject)
      },
      {
        let property = Property(1)
        return (Signal(takingOver: property), property)
      },
      {
        let property = Property(1)
        return (Signal(takingOver: property.map { $0 + 1 }), property)
      },
      {
        let subject = PassthroughSubject<Int, Never>()
        return (subject.share(), subject)
      },
      {
        let property = LoadingProperty { LoadingSignal<Int, Never>.loaded(1) }
        return (property.value(), property)
      },
      {
        let service = Service()
        return (
          SafeSignal(sequence: 0..., interval: 1, queue: time).map { $0 + service.logOuts }, service
        )
      },
    ]
    for make in makes {
      weak var source: AnyObject?
      var target: Target? = Target()
      do {
        let (signal, object) = make()
        source = object
        if let target { signal.bind(to: target) { $0.values.append($1) } }
      }
      #expect(source != nil)
      target = nil
      #expect(source == nil)
    }
  }

  @Test
  func `case 3, actions: observing retains the service until the view is deallocated`() {
    weak var service: Service?
    let taps = PassthroughSubject<Void, Never>()
    var target: Target? = Target()
    do {
      let held = Service()
      service = held
      if let target { taps.observeNext(with: held.logOut).dispose(in: target.bag) }
    }
    taps.send()
    #expect(service?.logOuts == 1)
    target = nil
    #expect(service == nil)
    taps.send()
  }

  @Test
  func `a binding does not retain its target`() {
    let subject = PassthroughSubject<Int, Never>()
    weak var target: Target?
    do {
      let held = Target()
      target = held
      subject.bind(to: held) { $0.values.append($1) }
      subject.send(1)
      #expect(held.values == [1])
    }
    #expect(target == nil)
    #expect(!subject.hasObservers)
  }

  @Test
  func `a binding ends with its source and then releases it`() {
    let target = Target()
    weak var source: PassthroughSubject<Int, Never>?
    do {
      let held = PassthroughSubject<Int, Never>()
      source = held
      let binding = held.bind(to: target) { $0.values.append($1) }
      held.send(lastElement: 1)
      #expect(binding.isDisposed)
    }
    #expect(source == nil)
    #expect(target.values == [1])
  }

  @Test
  func `a binding can be disposed explicitly`() {
    let target = Target()
    let source = Property(1)
    let binding = source.bind(to: target) { $0.values.append($1) }
    binding.dispose()
    source.value = 2
    #expect(target.values == [1])
  }

  @Test
  func `a target without a bag is bound until it is deallocated`() {
    let source = Property(1)
    weak var target: Bagless?
    do {
      let held = Bagless()
      target = held
      source.bind(to: held) { $0.values.append($1) }
      source.value = 2
      #expect(held.values == [1, 2])
    }
    #expect(target == nil)
    #expect(!source.hasObservers)
  }

  @Test
  func `a target is set by key path and closure`() {
    let target = Target()
    let numbers = PassthroughSubject<Int, Never>()
    let taps = PassthroughSubject<Void, Never>()
    numbers.bind(to: target, keyPath: \.value)
    taps.bind(to: target) { $0.times += 1 }
    numbers.bind(to: target) { $0.values.append($1) }
    numbers.send(5)
    taps.send()
    #expect(target.value == 5)
    #expect(target.times == 1)
    #expect(target.values == [5])
  }

  @Test
  func `a setter runs in its context, and not after the binding is disposed`() {
    let time = VirtualTime()
    let target = Target()
    let source = PassthroughSubject<Int, Never>()
    let binding = source.bind(to: target, context: .scheduler(time)) { $0.values.append($1) }
    source.bind(to: target, context: .immediate) { $0.value = $1 }
    source.send(1)
    #expect(target.values.isEmpty)
    #expect(target.value == 1)
    time.run()
    #expect(target.values == [1])
    source.send(2)
    binding.dispose()
    time.run()
    #expect(target.values == [1])
  }

  @Test
  func `a signal is bound to a property, also of an optional, without retaining it`() {
    let source = Property(1)
    weak var target: Property<Int>?
    do {
      let held = Property(0)
      let optional = Property<Int?>(nil)
      target = held
      source.bind(to: held)
      source.bind(to: optional)
      source.value = 2
      #expect(held.value == 2)
      #expect(optional.value == 2)
    }
    #expect(target == nil)
    #expect(!source.hasObservers)
  }

  @Test
  func `a value that an observer of the target sets in the source is not dropped`() {
    let (a, b) = (Property(0), Property(0))
    a.bind(to: b)
    b.observeNext { if $0 == 1 { a.value = 2 } }.dispose(in: b.bag)
    a.value = 1
    #expect(a.value == 2)
    #expect(b.value == 2)
    b.bag.dispose()
  }

  @Test
  func `a target has reactive extensions`() {
    final class View: DisposeBagProvider, ReactiveExtensionsProvider {
      let bag = DisposeBag()
    }
    let view = View()
    #expect(view.reactive.bag === view.bag)
    #expect(View.reactive == Reactive<View>.self)
  }
}
