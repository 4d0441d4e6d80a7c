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
