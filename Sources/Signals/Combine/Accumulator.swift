extension Subscribers {
  /// A subscriber that keeps all elements and the completion.
  package final class Accumulator<Input, Failure: Error>: Subscriber, Cancellable {
    /// The elements received so far.
    package private(set) var values: [Input] = []
    private var seat = SubscriberSeat<Failure>()
    private let live = LiveNode("Accumulator")

    package init() {}

    /// Whether the run has completed without an error.
    package var isFinished: Bool {
      if case .finished = seat.completion { true } else { false }
    }

    /// Whether the run has failed.
    package var isFailure: Bool { error != nil }

    /// The error of the run, or `nil` if it has not failed.
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
