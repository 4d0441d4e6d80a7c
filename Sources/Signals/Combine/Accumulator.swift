extension Subscribers {
  /// A subscriber that keeps what it is told.
  package final class Accumulator<Input, Failure: Error>: Subscriber, Cancellable {
    /// The elements.
    package private(set) var values: [Input] = []
    private var seat = SubscriberSeat<Failure>()
    private let live = LiveNode("Accumulator")

    package init() {}

    /// Whether the run is complete.
    package var isFinished: Bool {
      if case .finished = seat.completion { true } else { false }
    }

    /// Whether the run has failed.
    package var isFailure: Bool { error != nil }

    /// The failure, if there was one.
    package var error: Failure? {
      if case .failure(let error) = seat.completion { error } else { nil }
    }

    package func receive(subscription: any Subscription) {
      if seat.take(subscription) { subscription.request(.unlimited) }
    }

    package func receive(_ value: Input) -> Demand {
      values.append(value)
      return .unlimited
    }

    package func receive(completion: Completion<Failure>) {
      seat.end(with: completion)
    }

    package func cancel() {
      seat.cancel()
    }
  }
}
