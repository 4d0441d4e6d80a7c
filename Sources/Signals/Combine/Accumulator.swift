extension Subscribers {
  /// A subscriber that keeps all elements and the completion.
  public final class Accumulator<Input, Failure: Error>: Subscriber, Cancellable {
    /// The elements received so far.
    public private(set) var values: [Input] = []
    private var seat = SubscriberSeat<Failure>()
    private let live = LiveNode("Accumulator")

    public init() {}

    /// Whether the run has completed without an error.
    public var isFinished: Bool {
      if case .finished = seat.completion { true } else { false }
    }

    /// Whether the run has failed.
    public var isFailure: Bool { error != nil }

    /// The error of the run, or `nil` if it has not failed.
    public var error: Failure? {
      if case .failure(let error) = seat.completion { error } else { nil }
    }

    public func receive(subscription: any Subscription) {
      if seat.take(subscription) { subscription.request(.unlimited) }
    }

    public func receive(_ value: Input) -> Demand {
      values.append(value)
      return .unlimited
    }

    public func receive(completion: Completion<Failure>) {
      seat.end(with: completion)
    }

    public func cancel() {
      seat.cancel()
    }
  }
}
