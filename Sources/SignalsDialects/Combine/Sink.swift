public import Signals

extension Subscribers {
  /// A subscriber made of two closures.
  public final class Sink<Input, Failure: Error>: Subscriber, Cancellable {
    /// Called with each element.
    public let receiveValue: (Input) -> Void
    /// Called with the completion.
    public let receiveCompletion: (Completion<Failure>) -> Void
    private var seat = SubscriberSeat<Failure>()
    private let live = LiveNode("Sink")

    /// Creates a subscriber from its closures.
    public init(
      receiveCompletion: @escaping (Completion<Failure>) -> Void,
      receiveValue: @escaping (Input) -> Void
    ) {
      self.receiveCompletion = receiveCompletion
      self.receiveValue = receiveValue
    }

    /// Requests all elements; a second subscription is cancelled.
    public func receive(subscription: any Subscription) {
      if seat.take(subscription) { subscription.request(.unlimited) }
    }

    /// Calls ``receiveValue`` with an element.
    public func receive(_ value: Input) -> Demand {
      receiveValue(value)
      return .unlimited
    }

    /// Releases the subscription, then calls ``receiveCompletion``.
    public func receive(completion: Completion<Failure>) {
      seat.end(with: completion)
      receiveCompletion(completion)
    }

    /// Cancels the subscription; later calls do nothing.
    public func cancel() {
      seat.cancel()
    }
  }
}

/// The single subscription of a subscriber.
struct SubscriberSeat<Failure: Error> {
  private var subscription: (any Subscription)?
  private var isTaken = false
  /// The completion of the run, or `nil` if it was cancelled or is still active.
  private(set) var completion: Subscribers.Completion<Failure>?

  /// Takes a subscription and returns `true`; cancels a second one and returns `false`.
  mutating func take(_ subscription: any Subscription) -> Bool {
    guard !isTaken else {
      subscription.cancel()
      return false
    }
    isTaken = true
    self.subscription = subscription
    return true
  }

  mutating func end(with completion: Subscribers.Completion<Failure>) {
    if self.completion == nil { self.completion = completion }
    subscription = nil
  }

  mutating func cancel() {
    let subscription = subscription
    self.subscription = nil
    subscription?.cancel()
  }
}

extension SignalProtocol {
  /// Calls the closures with each element and the completion, until the returned object is
  /// released.
  public func sink(
    receiveCompletion: @escaping (Subscribers.Completion<Error>) -> Void,
    receiveValue: @escaping (Element) -> Void
  ) -> AnyCancellable {
    AnyCancellable(
      observe { event in
        switch event {
        case .next(let element): receiveValue(element)
        case .failed(let error): receiveCompletion(.failure(error))
        case .completed: receiveCompletion(.finished)
        }
      })
  }
}

extension SignalProtocol where Error == Never {
  /// Calls a closure with each element, until the returned object is released.
  public func sink(receiveValue: @escaping (Element) -> Void) -> AnyCancellable {
    AnyCancellable(observeNext(with: receiveValue))
  }

  /// Sets a property of an object to each element, until the returned object is released.
  public func assign<Root: AnyObject>(
    to keyPath: ReferenceWritableKeyPath<Root, Element>, on object: Root
  ) -> AnyCancellable {
    sink { object[keyPath: keyPath] = $0 }
  }
}
