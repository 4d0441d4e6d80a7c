/// A signal whose events are sent from outside.
@usableFromInline
package protocol SubjectProtocol<Element, Error>: SignalProtocol, ObserverProtocol {}

extension SubjectProtocol {
  /// Sends an element.
  @inlinable
  package func send(_ element: Element) {
    on(.next(element))
  }

  /// Sends the terminal event.
  @inlinable
  package func send(completion: Subscribers.Completion<Error>) {
    on(.init(completion))
  }

  /// Sends the last element, then completes.
  @inlinable
  package func send(lastElement element: Element) {
    on(.next(element))
    on(.completed)
  }
}

extension SubjectProtocol where Element == Void {
  /// Sends an element without a value.
  @inlinable
  package func send() {
    on(.next(()))
  }
}
