public import Signals

/// A type that receives the events of a sequence.
public protocol ObserverType<Element> {
  associatedtype Element

  /// Receives an event.
  func on(_ event: Event<Element>)
}

extension ObserverType {
  /// Receives an element.
  public func onNext(_ element: Element) {
    on(.next(element))
  }

  /// Receives the error that ends the sequence.
  public func onError(_ error: any Error) {
    on(.error(error))
  }

  /// Receives the end of the sequence.
  public func onCompleted() {
    on(.completed)
  }

  /// Returns the observer, without the other members of this type.
  public func asObserver() -> AnyObserver<Element> {
    AnyObserver(self)
  }
}

/// An observer made of a closure.
public struct AnyObserver<Element>: ObserverType {
  private let handler: (Event<Element>) -> Void

  /// Creates an observer that calls a closure with each event.
  public init(eventHandler: @escaping (Event<Element>) -> Void) {
    handler = eventHandler
  }

  /// Creates an observer that passes each event to another one.
  public init(_ observer: some ObserverType<Element>) {
    handler = observer.on
  }

  /// Calls the closure with an event.
  public func on(_ event: Event<Element>) {
    handler(event)
  }
}

/// The handling of errors that no subscriber handles.
public enum Hooks {
  /// Called with each error of a sequence whose subscriber has no closure for errors.
  ///
  /// It is set for a scope: `Hooks.$defaultErrorHandler.withValue(…) { … }`. By default it prints
  /// the error.
  @TaskLocal public static var defaultErrorHandler: @Sendable (any Error) -> Void = {
    print("Unhandled error: \($0)")
  }
}

extension ObservableType {
  /// Calls a closure with each event.
  public func subscribe(_ on: @escaping (Event<Element>) -> Void) -> any Disposable {
    asSignal().observe { on(Event($0)) }
  }

  /// Passes each event to an observer.
  public func subscribe(_ observer: some ObserverType<Element>) -> any Disposable {
    subscribe(observer.on)
  }

  /// Calls a closure for each kind of event.
  ///
  /// - Parameter onDisposed: Called once, after the end or at the disposal.
  public func subscribe(
    onNext: ((Element) -> Void)? = nil, onError: ((any Error) -> Void)? = nil,
    onCompleted: (() -> Void)? = nil, onDisposed: (() -> Void)? = nil
  ) -> any Disposable {
    let ending = onDisposed.map { BlockDisposable($0) }
    let run = subscribe { event in
      switch event {
      case .next(let element): onNext?(element)
      case .error(let error):
        (onError ?? Hooks.defaultErrorHandler)(error)
        ending?.dispose()
      case .completed:
        onCompleted?()
        ending?.dispose()
      }
    }
    return ending.map { CompositeDisposable([run, $0]) } ?? run
  }

  /// Calls a closure with each element.
  public func subscribeNext(_ onNext: @escaping (Element) -> Void) -> any Disposable {
    subscribe(onNext: onNext)
  }

  /// Calls a closure with the error if the sequence fails.
  public func subscribeError(_ onError: @escaping (any Error) -> Void) -> any Disposable {
    subscribe(onError: onError)
  }

  /// Calls a closure when the sequence completes.
  public func subscribeCompleted(_ onCompleted: @escaping () -> Void) -> any Disposable {
    subscribe(onCompleted: onCompleted)
  }
}
