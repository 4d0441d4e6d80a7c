public import Signals

extension Subscribers {
  /// A subscriber that keeps all elements and the completion.
  public final class Accumulator<Input, Failure: Error>: Subscriber, Cancellable {
    /// The elements received so far.
    public private(set) var values: [Input] = []
    private var seat = SubscriberSeat<Failure>()
    private let live = LiveNode("Accumulator")

    /// Creates a subscriber without elements.
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

    /// Requests all elements; a second subscription is cancelled.
    public func receive(subscription: any Subscription) {
      if seat.take(subscription) { subscription.request(.unlimited) }
    }

    /// Appends an element to ``values``.
    public func receive(_ value: Input) -> Demand {
      values.append(value)
      return .unlimited
    }

    /// Stores the first completion and releases the subscription.
    public func receive(completion: Completion<Failure>) {
      seat.end(with: completion)
    }

    /// Cancels the subscription; later calls do nothing.
    public func cancel() {
      seat.cancel()
    }
  }
}
