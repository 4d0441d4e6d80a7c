/// A namespace for what goes with a ``Subscriber``.
@usableFromInline
package enum Subscribers {
  /// How a run ended.
  @usableFromInline
  package enum Completion<Failure: Error> {
    case finished
    case failure(Failure)
  }
}

extension Subscribers.Completion: Equatable where Failure: Equatable {}

extension Signal.Event {
  /// The terminal event of an end.
  @inlinable
  package init(_ completion: Subscribers.Completion<Error>) {
    switch completion {
    case .finished: self = .completed
    case .failure(let error): self = .failed(error)
    }
  }
}
