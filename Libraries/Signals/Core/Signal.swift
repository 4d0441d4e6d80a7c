/// A sequence of elements over time, described but not started.
///
/// Each observer starts a separate run. A run is `next* (completed | failed)?`. Nothing follows the
/// terminal event or the disposal.
///
/// ```swift
/// let volume = Property(54)
/// let isLoud = volume.map { $0 > 80 }.removeDuplicates()
/// isLoud.observeNext { shown.append($0) }.dispose(in: bag)
/// volume.value = 90
/// ```
///
/// A signal is confined to one thread. It is not `Sendable`, takes no lock, and calls its observers
/// synchronously on the thread that sends.
public struct Signal<Element, Error: Swift.Error>: SignalProtocol {
  /// Does the work of one run.
  ///
  /// It receives the observer and returns a disposable that stops the work early.
  public typealias Producer = (AtomicObserver<Element, Error>) -> any Disposable

  @usableFromInline
  let run: (@escaping Observer<Element, Error>) -> any Disposable

  /// Creates a signal from a producer.
  ///
  /// - Parameter producer: Called once for each run with its observer. Returns a disposable that
  ///   stops the work early; it is disposed whenever the run ends.
  @inlinable
  public init(_ producer: @escaping Producer) {
    run = { observer in
      let guarded = AtomicObserver(observer)
      guarded.attach(producer(guarded))
      return guarded
    }
  }

  @inlinable
  init(passing: Void, run: @escaping (@escaping Observer<Element, Error>) -> any Disposable) {
    self.run = run
  }

  /// Creates a signal that passes on events of another signal, at most one for each event.
  ///
  /// It suits operators that end only with their source. The source enforces the grammar for them,
  /// so that a run costs one closure.
  @inlinable
  static func passing(
    _ run: @escaping (@escaping Observer<Element, Error>) -> any Disposable
  ) -> Signal {
    Signal(passing: (), run: run)
  }

  /// Starts a run that sends its events to the observer.
  @inlinable
  public func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    run(observer)
  }
}

/// A signal that never fails.
public typealias SafeSignal<Element> = Signal<Element, Never>

/// A type that can be observed: a signal, a subject or a property.
public protocol SignalProtocol<Element, Error> {
  associatedtype Element
  associatedtype Error: Swift.Error

  /// Starts a run.
  ///
  /// An implementation keeps the grammar `next* (completed | failed)?` and is silent once disposed.
  ///
  /// - Returns: A disposable that ends the run early. Releasing it does not end the run, so put it
  ///   into a ``DisposeBag``.
  func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable
}

extension SignalProtocol {
  /// Starts a run that sends its events to `observer`.
  @inlinable
  public func observe(with observer: some ObserverProtocol<Element, Error>) -> any Disposable {
    observe(with: observer.on)
  }

  /// Calls `observer` with each element.
  @inlinable
  public func observeNext(with observer: @escaping (Element) -> Void) -> any Disposable {
    observe { event in
      if case .next(let element) = event { observer(element) }
    }
  }

  /// Calls `observer` with the error if the run fails.
  @inlinable
  public func observeFailed(with observer: @escaping (Error) -> Void) -> any Disposable {
    observe { event in
      if case .failed(let error) = event { observer(error) }
    }
  }

  /// Calls `observer` when the run completes.
  @inlinable
  public func observeCompleted(with observer: @escaping () -> Void) -> any Disposable {
    observe { event in
      if case .completed = event { observer() }
    }
  }

  /// Returns this as a ``Signal``.
  @inlinable
  public func toSignal() -> Signal<Element, Error> {
    (self as? Signal<Element, Error>) ?? Signal.passing(observe(with:))
  }
}

extension Signal {
  /// An event of a run.
  public enum Event {
    case next(Element)
    case failed(Error)
    case completed
  }
}

extension Signal.Event {
  /// Whether the event carries an element.
  @inlinable
  public var isNext: Bool {
    if case .next = self { true } else { false }
  }

  /// Whether the event is a failure.
  @inlinable
  public var isFailed: Bool {
    if case .failed = self { true } else { false }
  }

  /// Whether the event is a completion.
  @inlinable
  public var isCompleted: Bool {
    if case .completed = self { true } else { false }
  }

  /// Whether the event ends the run.
  @inlinable
  public var isTerminal: Bool {
    if case .next = self { false } else { true }
  }

  /// The element of a `next` event, otherwise `nil`.
  @inlinable
  public var element: Element? {
    if case .next(let element) = self { element } else { nil }
  }

  /// The error of a `failed` event, otherwise `nil`.
  @inlinable
  public var error: Error? {
    if case .failed(let error) = self { error } else { nil }
  }
}

extension Signal.Event: Equatable where Element: Equatable, Error: Equatable {}

/// A namespace with the name that it has in Combine.
public enum Subscribers {
  /// The end of a run.
  public enum Completion<Failure: Error> {
    case finished
    case failure(Failure)
  }
}

extension Subscribers.Completion: Equatable where Failure: Equatable {}

extension Signal.Event {
  /// Creates the terminal event for a completion.
  @inlinable
  public init(_ completion: Subscribers.Completion<Error>) {
    switch completion {
    case .finished: self = .completed
    case .failure(let error): self = .failed(error)
    }
  }
}
