public import Signals

/// An event of a sequence: `next* (error | completed)?`.
public enum Event<Element> {
  case next(Element)
  case error(any Error)
  case completed
}

extension Event {
  /// The element of a `next` event, otherwise `nil`.
  public var element: Element? {
    if case .next(let element) = self { element } else { nil }
  }

  /// The error of an `error` event, otherwise `nil`.
  public var error: (any Error)? {
    if case .error(let error) = self { error } else { nil }
  }

  /// Whether the event ends the sequence.
  public var isStopEvent: Bool {
    if case .next = self { false } else { true }
  }

  init(_ event: Signal<Element, any Error>.Event) {
    switch event {
    case .next(let element): self = .next(element)
    case .failed(let error): self = .error(error)
    case .completed: self = .completed
    }
  }

  /// The same event of a signal.
  var ofSignal: Signal<Element, any Error>.Event {
    switch self {
    case .next(let element): .next(element)
    case .error(let error): .failed(error)
    case .completed: .completed
    }
  }
}

/// A type that can be subscribed to.
public protocol ObservableType<Element> {
  associatedtype Element

  /// Returns the sequence, without the other members of this type.
  func asObservable() -> Observable<Element>
}

/// A sequence of elements over time that can fail with any error.
///
/// Each subscription starts a separate run. It is a `Signal` with the names of RxSwift.
public struct Observable<Element>: ObservableType {
  let signal: Signal<Element, any Error>

  /// Creates a sequence from a signal.
  public init(_ signal: Signal<Element, any Error>) {
    self.signal = signal
  }

  /// Returns the sequence itself.
  public func asObservable() -> Observable<Element> {
    self
  }
}

extension ObservableType {
  /// Returns the sequence as a signal, for the operators that only signals have.
  public func asSignal() -> Signal<Element, any Error> {
    asObservable().signal
  }
}

extension SignalProtocol {
  /// Returns the signal as a sequence with the names of RxSwift.
  public func asObservable() -> Observable<Element> {
    Observable(mapError { $0 })
  }
}

extension Observable {
  /// Returns a sequence whose runs call a closure.
  ///
  /// - Parameter subscribe: Sends the events of one run to the observer. Returns a disposable that
  ///   stops the run; it is disposed whenever the run ends.
  public static func create(
    _ subscribe: @escaping (AnyObserver<Element>) -> any Disposable
  ) -> Observable {
    Observable(
      Signal { observer in
        subscribe(AnyObserver { observer.on($0.ofSignal) })
      })
  }

  /// Returns a sequence that emits one element and completes.
  public static func just(_ element: Element) -> Observable {
    Observable(Signal(just: element))
  }

  /// Returns a sequence that emits the elements and completes.
  public static func of(_ elements: Element...) -> Observable {
    from(elements)
  }

  /// Returns a sequence that emits the elements of a Swift sequence and completes.
  public static func from<Elements: Sequence<Element>>(_ elements: Elements) -> Observable {
    Observable(Signal(sequence: elements))
  }

  /// Returns a sequence that completes at once.
  public static func empty() -> Observable {
    Observable(.completed())
  }

  /// Returns a sequence that emits nothing and never ends.
  public static func never() -> Observable {
    Observable(.never())
  }

  /// Returns a sequence that fails at once.
  public static func error(_ error: any Error) -> Observable {
    Observable(.failed(error))
  }

  /// Returns a sequence whose runs subscribe to the sequence that a closure returns.
  ///
  /// A run fails with the error that the closure throws.
  public static func deferred(_ make: @escaping () throws -> Observable) -> Observable {
    Observable(Signal(deferring: { catching(make) }))
  }

  /// Returns a sequence of the elements of several sequences, in the order of arrival.
  public static func merge(_ sources: Observable...) -> Observable {
    Observable(Signal(sequence: sources.map(\.signal)).merge())
  }

  /// Returns the newest elements of two sequences, once each has emitted one.
  public static func combineLatest<First: ObservableType, Second: ObservableType>(
    _ first: First, _ second: Second,
    resultSelector: @escaping (First.Element, Second.Element) throws -> Element
  ) -> Observable {
    Observable<(First.Element, Second.Element)>(
      first.asSignal().combineLatest(with: second.asSignal())
    ).map { try resultSelector($0.0, $0.1) }
  }
}

/// Returns the signal of the sequence that a closure makes, or one that fails with its error.
func catching<Source: ObservableType>(
  _ make: () throws -> Source
) -> Signal<Source.Element, any Error> {
  do { return try make().asSignal() } catch { return .failed(error) }
}
