import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct LoadingTests {
  typealias State = LoadingState<Int, Broken>
  typealias Observed = ObservedLoadingState<Int, Broken>

  /// A listener that stores the states that it receives.
  final class Listener: LoadingStateListener {
    var shown: [String] = []

    func setLoadingState<Value, Failure>(_ state: ObservedLoadingState<Value, Failure>) {
      switch state {
      case .loading: shown.append("loading")
      case .reloading: shown.append("reloading")
      case .loaded(let value): shown.append("loaded \(value)")
      case .failed: shown.append("failed")
      }
    }
  }

  let bag = DisposeBag()
  let states = PassthroughSubject<State, Never>()

  @Test
  func `a state has its value, its error and its case`() {
    #expect(State.loading.isLoading && State.loading.value == nil)
    #expect(State.loaded(1).value == 1 && State.loaded(1).error == nil)
    #expect(State.failed(Broken()).error == Broken())
    #expect(State.loaded(1).isSameStateAs(State.loaded(2)))
    #expect(!State.loaded(1).isSameStateAs(State.loading))
    #expect(Observed.reloading.isReloading && Observed.reloading.isLoading)
    #expect(Observed.loaded(1).asLoadingState == .loaded(1))
  }

  @Test
  func `a signal is converted to a loading signal and back`() {
    let source = Signal<Int, Broken>(sequence: [1, 2])
    let loading = source.toLoadingSignal()
    #expect(loading.elementsAtOnce() == [.loading, .loaded(1), .loaded(2)])
    #expect(loading.dematerializeLoadingState().recorded() == [.next(1), .next(2), .completed])
    let failing = Signal<Int, Broken>.failed(Broken()).toLoadingSignal()
    #expect(failing.recorded() == [.next(.loading), .next(.failed(Broken())), .completed])
    #expect(failing.dematerializeLoadingState().recorded() == [.failed(Broken())])
    #expect(loading.value().elementsAtOnce() == [1, 2])
  }

  @Test
  func `values and errors are mapped`() {
    struct Other: Error, Equatable {}
    let loading = Signal<Int, Broken>(sequence: [1]).toLoadingSignal()
    #expect(loading.mapValue { "\($0)" }.elementsAtOnce() == [.loading, .loaded("1")])
    let failed = LoadingSignal<Int, Broken>.failed(Broken())
    #expect(failed.mapLoadingError { _ in Other() }.elementsAtOnce() == [.failed(Other())])
    #expect(LoadingSignal<Int, Broken>.loading().elementsAtOnce() == [.loading])
  }

  @Test
  func `operators apply to the loaded values`() {
    let lifted = states.liftValue { $0.dropFirst(1).map { $0 * 10 } }
    let recorder = Recorder<State, Never>()
    lifted.observe(with: recorder.tell).dispose(in: bag)
    for state in [State.loading, .loaded(1), .loaded(2), .failed(Broken())] { states.send(state) }
    states.send(completion: .finished)
    #expect(
      recorder.events == [
        .next(.loading), .next(.loading), .next(.loaded(20)), .next(.failed(Broken())), .completed,
      ])
  }

  @Test
  func `flatMapValue loads another value for each loaded value`() {
    let loaded = states.flatMapValue { Signal<Int, Broken>(just: $0 * 10) }
    let recorder = Recorder<State, Never>()
    loaded.observe(with: recorder.tell).dispose(in: bag)
    for state in [State.loading, .loaded(1), .failed(Broken())] { states.send(state) }
    #expect(recorder.elements == [.loading, .loading, .loaded(10), .failed(Broken())])
    bag.dispose()
  }

  @Test
  func `a listener receives observed states, derived separately for each observer`() {
    let sequence: [State] = [
      .loading, .loaded(1), .loading, .loading, .loaded(2), .failed(Broken()), .loading,
    ]
    let expected = [
      "loading", "loaded 1", "reloading", "loaded 2", "failed", "loading",
    ]
    let (first, second) = (Listener(), Listener())
    let observed = states.deriveObservedLoadingState()
    observed.updateLoadingState(of: first).observe { _ in }.dispose(in: bag)
    for state in sequence { states.send(state) }
    observed.updateLoadingState(of: second).observe { _ in }.dispose(in: bag)
    for state in sequence { states.send(state) }
    #expect(Array(first.shown.prefix(6)) == expected)
    #expect(second.shown == expected)
    bag.dispose()
  }

  @Test
  func `loading after a failure optionally counts as reloading`() {
    let recorder = Recorder<Observed, Never>()
    states.deriveObservedLoadingState(loadsAgainOnFailure: false).observe(with: recorder.tell)
      .dispose(in: bag)
    for state in [State.failed(Broken()), .loading] { states.send(state) }
    #expect(recorder.elements == [.failed(Broken()), .reloading])
    bag.dispose()
  }

  @Test
  func `a listener consumes the states and is not retained`() {
    weak var listener: Listener?
    let values = Recorder<Int, Never>()
    do {
      let held = Listener()
      listener = held
      states.consumeLoadingState(by: held).observe(with: values.tell).dispose(in: bag)
      states.send(.loading)
      states.send(.loaded(1))
      #expect(held.shown == ["loading", "loaded 1"])
    }
    #expect(listener == nil)
    states.send(.loaded(2))
    #expect(values.elements == [1, 2])
    bag.dispose()
  }

  @Test
  func `a loading property loads once, for its first observer`() {
    var loads = 0
    let source = PassthroughSubject<State, Never>()
    let property = LoadingProperty {
      loads += 1
      return source.toSignal()
    }
    #expect(property.value == nil && loads == 0)
    let (first, second) = (Recorder<State, Never>(), Recorder<State, Never>())
    property.observe(with: first.tell).dispose(in: bag)
    property.observe(with: second.tell).dispose(in: bag)
    source.send(.loading)
    source.send(lastElement: .loaded(1))
    #expect(loads == 1 && property.value == 1)
    #expect(first.elements == [.loading, .loaded(1)])
    #expect(second.elements == first.elements)
    property.observe { _ in }.dispose()
    #expect(loads == 1)
    bag.dispose()
  }

  @Test
  func `a property does not load again automatically after a failure`() {
    var loads = 0
    let property = LoadingProperty<Int, Broken> {
      loads += 1
      return .failed(Broken())
    }
    #expect(property.elementsAtOnce() == [.failed(Broken())])
    #expect(property.elementsAtOnce() == [.failed(Broken())])
    #expect(loads == 1)
  }

  @Test
  func `a property that is set to nil is loading`() {
    let property = LoadingProperty<Int, Broken> { .loaded(1) }
    property.value = 5
    #expect(property.elementsAtOnce() == [.loaded(5)])
    property.value = nil
    #expect(property.loadingState == .loading)
    #expect(property.elementsAtOnce() == [.loaded(1)])
  }

  @Test
  func `each run reloads a property, silently or not`() {
    var number = 0
    let property = LoadingProperty<Int, Broken> {
      number += 1
      return number == 3 ? .failed(Broken()) : .loaded(number)
    }
    let recorder = Recorder<State, Never>()
    property.observe(with: recorder.tell).dispose(in: bag)
    #expect(property.reload().elementsAtOnce() == [.loading, .loaded(2)])
    #expect(property.reload().elementsAtOnce() == [.loading, .failed(Broken())])
    #expect(property.value == 2)
    #expect(property.reload(silently: false).elementsAtOnce() == [.loading, .loaded(4)])
    #expect(recorder.elements == [.loaded(1), .loaded(2), .loading, .loaded(4)])
    bag.dispose()
  }

  @Test
  func `elements are delayed until a property is reloaded`() {
    var number = 0
    let property = LoadingProperty<Int, Broken> {
      number += 1
      return .loaded(number)
    }
    let source = Signal<String, Broken>(just: "a")
    #expect(source.reloading(property).recorded() == [.next("a"), .completed])
    #expect(property.value == 1)
    let loading = LoadingSignal<String, Broken>.loaded("b").reloading(property)
    #expect(loading.elementsAtOnce() == [.loading, .loaded("b")])
    #expect(property.value == 2)
  }

  @Test
  func `a deallocated loading property cancels its load and completes`() {
    let source = PassthroughSubject<State, Never>()
    let recorder = Recorder<State, Never>()
    do {
      let property = LoadingProperty { source.toSignal() }
      property.observe(with: recorder.tell).dispose(in: bag)
      #expect(source.hasObservers)
    }
    #expect(!source.hasObservers)
    #expect(recorder.events == [.next(.loading), .completed])
  }
}
