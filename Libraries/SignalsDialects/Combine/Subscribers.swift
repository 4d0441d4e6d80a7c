public import Signals

/// A receiver of the events of one run, as in Combine.
public protocol Subscriber<Input, Failure> {
  associatedtype Input
  associatedtype Failure: Error

  /// Receives the subscription at the start; no element arrives before one is requested.
  func receive(subscription: any Subscription)

  /// Receives an element, and returns the number of further elements wanted.
  func receive(_ input: Input) -> Subscribers.Demand

  /// Receives the completion.
  func receive(completion: Subscribers.Completion<Failure>)
}

extension Subscriber where Input == Void {
  /// Receives an element without a value.
  public func receive() -> Subscribers.Demand {
    receive(())
  }
}

/// One run, as seen by its subscriber.
public protocol Subscription: Cancellable {
  /// Requests elements.
  func request(_ demand: Subscribers.Demand)
}

extension Subscribers {
  /// The number of elements wanted: always unlimited, because delivery is synchronous.
  public struct Demand: Equatable, Hashable, Sendable {
    /// The number of elements.
    public let value: Int

    /// All elements.
    public static let unlimited = Demand(value: .max)
  }
}

extension SignalProtocol {
  /// Starts a run for a subscriber when it first requests elements.
  public func subscribe<Downstream: Subscriber>(
    _ subscriber: Downstream
  ) where Downstream.Input == Element, Downstream.Failure == Error {
    let subscription = SignalSubscription {
      observe(with: $0)
    } tell: { (event: Signal.Event) in
      switch event {
      case .next(let element): _ = subscriber.receive(element)
      case .failed(let error): subscriber.receive(completion: .failure(error))
      case .completed: subscriber.receive(completion: .finished)
      }
    }
    subscriber.receive(subscription: subscription)
  }
}

/// A run that starts with the first request.
private final class SignalSubscription<Element, Error: Swift.Error>: Subscription {
  private var start: ((@escaping Observer<Element, Error>) -> any Disposable)?
  private var tell: Observer<Element, Error>?
  private let run = SerialDisposable(otherDisposable: nil)
  private let live = LiveNode("SignalSubscription")

  init(
    _ start: @escaping (@escaping Observer<Element, Error>) -> any Disposable,
    tell: @escaping Observer<Element, Error>
  ) {
    self.start = start
    self.tell = tell
  }

  func request(_ demand: Subscribers.Demand) {
    guard let start, let tell else { return }
    self.start = nil
    self.tell = nil
    run.otherDisposable = start { [self] event in
      if event.isTerminal { run.dispose() }
      tell(event)
    }
  }

  func cancel() {
    start = nil
    tell = nil
    run.dispose()
  }
}

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
      if seat.hold(subscription) { subscription.request(.unlimited) }
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
