/// Who is told of the events of one run, in the words of Combine.
package protocol Subscriber<Input, Failure> {
  associatedtype Input
  associatedtype Failure: Error

  /// Tells that the run has started; nothing comes before elements are requested.
  func receive(subscription: any Subscription)

  /// Tells an element; returns how many more are wanted.
  func receive(_ input: Input) -> Subscribers.Demand

  /// Tells the end.
  func receive(completion: Subscribers.Completion<Failure>)
}

extension Subscriber where Input == Void {
  /// Tells that it happened.
  package func receive() -> Subscribers.Demand {
    receive(())
  }
}

/// One run, as a subscriber holds it.
package protocol Subscription: Cancellable {
  /// Wants elements.
  func request(_ demand: Subscribers.Demand)
}

extension Subscribers {
  /// How many elements are wanted: all, since everything within the loop is synchronous.
  package struct Demand: Equatable, Hashable, Sendable {
    /// How many.
    package let value: Int

    /// All.
    package static let unlimited = Demand(value: .max)
  }
}

extension SignalProtocol {
  /// Starts a run that tells a subscriber, when it has requested elements.
  package func subscribe<Downstream: Subscriber>(
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
