/// A callback that receives the events of one run.
public typealias Observer<Element, Error: Swift.Error> = (Signal<Element, Error>.Event) -> Void

/// A callback that receives the events of one run that cannot fail.
public typealias SafeObserver<Element> = Observer<Element, Never>

/// A type that receives events.
public protocol ObserverProtocol<Element, Error> {
  associatedtype Element
  associatedtype Error: Swift.Error

  /// Receives an event.
  func on(_ event: Signal<Element, Error>.Event)
}

extension ObserverProtocol {
  /// Receives an element.
  @inlinable
  public func receive(_ element: Element) {
    on(.next(element))
  }

  /// Receives the terminal event.
  @inlinable
  public func receive(completion: Subscribers.Completion<Error>) {
    on(.init(completion))
  }

  /// Receives the last element, then completes.
  @inlinable
  public func receive(lastElement element: Element) {
    on(.next(element))
    on(.completed)
  }

  /// Returns this observer as a closure.
  @inlinable
  public func toObserver() -> Observer<Element, Error> {
    on
  }
}

extension ObserverProtocol where Element == Void {
  /// Receives an element without a value.
  @inlinable
  public func receive() {
    on(.next(()))
  }
}

/// An observer made of a closure.
public struct AnyObserver<Element, Error: Swift.Error>: ObserverProtocol {
  /// The closure that receives each event.
  public let observer: Observer<Element, Error>

  @inlinable
  public init(observer: @escaping Observer<Element, Error>) {
    self.observer = observer
  }

  @inlinable
  public func on(_ event: Signal<Element, Error>.Event) {
    observer(event)
  }
}
