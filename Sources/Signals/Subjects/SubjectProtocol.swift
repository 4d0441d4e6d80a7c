/// A signal whose events are sent from outside.
public protocol SubjectProtocol<Element, Error>: SignalProtocol, ObserverProtocol {}

extension SubjectProtocol {
  /// Sends an element.
  @inlinable
  public func send(_ element: Element) {
    on(.next(element))
  }

  /// Sends the terminal event.
  @inlinable
  public func send(completion: Subscribers.Completion<Error>) {
    on(.init(completion))
  }

  /// Sends the last element, then completes.
  @inlinable
  public func send(lastElement element: Element) {
    on(.next(element))
    on(.completed)
  }
}

extension SubjectProtocol where Element == Void {
  /// Sends an element without a value.
  @inlinable
  public func send() {
    on(.next(()))
  }
}
