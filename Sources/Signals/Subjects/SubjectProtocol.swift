/// A signal that is told what to send.
@usableFromInline
package protocol SubjectProtocol<Element, Error>: SignalProtocol, ObserverProtocol {}

extension SubjectProtocol {
  /// Sends an element.
  @inlinable
  package func send(_ element: Element) {
    on(.next(element))
  }

  /// Sends the end.
  @inlinable
  package func send(completion: Subscribers.Completion<Error>) {
    on(.init(completion))
  }

  /// Sends an element and that it was the last.
  @inlinable
  package func send(lastElement element: Element) {
    on(.next(element))
    on(.completed)
  }
}

extension SubjectProtocol where Element == Void {
  /// Sends that it happened.
  @inlinable
  package func send() {
    on(.next(()))
  }
}
