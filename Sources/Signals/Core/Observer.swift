/// A callback that receives the events of one run.
@usableFromInline
package typealias Observer<Element, Error: Swift.Error> = (Signal<Element, Error>.Event) -> Void

/// A callback that receives the events of one run that cannot fail.
@usableFromInline
package typealias SafeObserver<Element> = Observer<Element, Never>

/// A type that receives events.
@usableFromInline
package protocol ObserverProtocol<Element, Error> {
  associatedtype Element
  associatedtype Error: Swift.Error

  /// Receives an event.
  func on(_ event: Signal<Element, Error>.Event)
}

extension ObserverProtocol {
  /// Receives an element.
  @inlinable
  package func receive(_ element: Element) {
    on(.next(element))
  }

  /// Receives the terminal event.
  @inlinable
  package func receive(completion: Subscribers.Completion<Error>) {
    on(.init(completion))
  }

  /// Receives the last element, then completes.
  @inlinable
  package func receive(lastElement element: Element) {
    on(.next(element))
    on(.completed)
  }

  /// Returns this observer as a closure.
  @inlinable
  package func toObserver() -> Observer<Element, Error> {
    on
  }
}

extension ObserverProtocol where Element == Void {
  /// Receives an element without a value.
  @inlinable
  package func receive() {
    on(.next(()))
  }
}

/// An observer made of a closure.
@usableFromInline
package struct AnyObserver<Element, Error: Swift.Error>: ObserverProtocol {
  /// The closure that receives each event.
  @usableFromInline
  package let observer: Observer<Element, Error>

  @inlinable
  package init(observer: @escaping Observer<Element, Error>) {
    self.observer = observer
  }

  @inlinable
  package func on(_ event: Signal<Element, Error>.Event) {
    observer(event)
  }
}
