/// Who is told of the events of one run.
@usableFromInline
package typealias Observer<Element, Error: Swift.Error> = (Signal<Element, Error>.Event) -> Void

/// Who is told of the events of one run that cannot fail.
@usableFromInline
package typealias SafeObserver<Element> = Observer<Element, Never>

/// Whatever can be told of events.
@usableFromInline
package protocol ObserverProtocol<Element, Error> {
  associatedtype Element
  associatedtype Error: Swift.Error

  /// Tells an event.
  func on(_ event: Signal<Element, Error>.Event)
}

extension ObserverProtocol {
  /// Tells an element.
  @inlinable
  package func receive(_ element: Element) {
    on(.next(element))
  }

  /// Tells the end.
  @inlinable
  package func receive(completion: Subscribers.Completion<Error>) {
    on(.init(completion))
  }

  /// Tells an element and that it was the last.
  @inlinable
  package func receive(lastElement element: Element) {
    on(.next(element))
    on(.completed)
  }

  /// The same as a closure.
  @inlinable
  package func toObserver() -> Observer<Element, Error> {
    on
  }
}

extension ObserverProtocol where Element == Void {
  /// Tells that it happened.
  @inlinable
  package func receive() {
    on(.next(()))
  }
}

/// A closure as an observer.
@usableFromInline
package struct AnyObserver<Element, Error: Swift.Error>: ObserverProtocol {
  /// The closure.
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
