internal import Signals

/// A sequence whose events are sent from outside, to the observers of that moment.
public final class PublishSubject<Element>: ObservableType, ObserverType {
  private let subject = PassthroughSubject<Element, any Error>()

  /// Creates a subject without observers.
  public init() {}

  /// Whether the subject has observers.
  public var hasObservers: Bool { subject.hasObservers }

  /// Sends an event to the observers; after the end it does nothing.
  public func on(_ event: Event<Element>) {
    subject.on(event.ofSignal)
  }

  /// Returns the events of this subject.
  public func asObservable() -> Observable<Element> {
    Observable(subject.toSignal())
  }
}

/// A subject that sends its newest elements to each new observer first.
public final class ReplaySubject<Element>: ObservableType, ObserverType {
  private let subject: Signals.ReplaySubject<Element, any Error>

  private init(bufferSize: Int) {
    subject = Signals.ReplaySubject(bufferSize: bufferSize)
  }

  /// Returns a subject that replays up to `bufferSize` elements.
  public static func create(bufferSize: Int) -> ReplaySubject {
    ReplaySubject(bufferSize: bufferSize)
  }

  /// Returns a subject that replays all elements.
  public static func createUnbounded() -> ReplaySubject {
    ReplaySubject(bufferSize: .unbounded)
  }

  /// Sends an event to the observers; after the end it does nothing.
  public func on(_ event: Event<Element>) {
    subject.on(event.ofSignal)
  }

  /// Returns the events of this subject.
  public func asObservable() -> Observable<Element> {
    Observable(subject.toSignal())
  }
}

/// A subject that sends its newest element to each new observer first; after the end, only the end.
public final class BehaviorSubject<Element>: ObservableType, ObserverType {
  private let state: BehaviorState<Element>

  /// Creates a subject with a first element.
  public init(value: Element) {
    state = BehaviorState(value)
  }

  /// Returns the newest element; throws the error of a failed subject.
  public func value() throws -> Element {
    if let error = state.error { throw error }
    return state.value
  }

  /// Sends an event to the observers; after the end it does nothing.
  public func on(_ event: Event<Element>) {
    state.on(event)
  }

  /// Returns the events of this subject.
  public func asObservable() -> Observable<Element> {
    state.asObservable()
  }
}

/// A value that can be read, set and observed.
///
/// An observer receives the current value first. It receives the completion when the variable is
/// deallocated; observing does not retain the variable.
public final class Variable<Element> {
  private let state: BehaviorState<Element>

  /// Creates a variable with a first value.
  public init(_ value: Element) {
    state = BehaviorState(value)
  }

  deinit {
    state.on(.completed)
  }

  /// The current value.
  public var value: Element {
    get { state.value }
    set { state.on(.next(newValue)) }
  }

  /// Returns the current value and each later one.
  public func asObservable() -> Observable<Element> {
    state.asObservable()
  }
}

/// The newest element, the end, and the observers of both.
private final class BehaviorState<Element> {
  private let events = ReplayOneSubject<Element, any Error>()
  private(set) var value: Element
  private(set) var error: (any Error)?

  init(_ value: Element) {
    self.value = value
    events.send(value)
  }

  func on(_ event: Event<Element>) {
    guard !events.isTerminated else { return }
    switch event {
    case .next(let element): value = element
    case .error(let error): self.error = error
    case .completed: break
    }
    events.on(event.ofSignal)
  }

  func asObservable() -> Observable<Element> {
    Observable(
      Signal { [events] observer in
        guard events.isTerminated else { return events.observe(with: observer.on) }
        // The signal's subject would replay the last element also after the end.
        return events.observe { if $0.isTerminal { observer.on($0) } }
      })
  }
}
