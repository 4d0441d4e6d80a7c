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
      if seat.hold(subscription) { subscription.request(.unlimited) }
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
  mutating func hold(_ subscription: any Subscription) -> Bool {
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

/// Runs a closure once, when it is cancelled or deallocated.
public final class AnyCancellable: Disposable, Hashable {
  private var handler: (() -> Void)?
  private let live = LiveNode("AnyCancellable")

  /// Creates an object that runs a closure when it is cancelled or deallocated.
  public init(_ handler: @escaping () -> Void) {
    self.handler = handler
  }

  /// Creates an object that disposes a disposable when it is cancelled or deallocated.
  public convenience init(_ disposable: any Disposable) {
    self.init(disposable.dispose)
  }

  deinit {
    dispose()
  }

  /// Whether the resources are released.
  public var isDisposed: Bool { handler == nil }

  /// Runs the closure; later calls do nothing.
  public func dispose() {
    let handler = handler
    self.handler = nil
    handler?()
  }

  /// Returns whether both are the same object.
  public static func == (a: AnyCancellable, b: AnyCancellable) -> Bool {
    a === b
  }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }

  /// Stores this object, without a wrapper, in a collection.
  public func store<C: RangeReplaceableCollection<AnyCancellable>>(in collection: inout C) {
    collection.append(self)
  }

  /// Stores this object, without a wrapper, in a set.
  public func store(in set: inout Set<AnyCancellable>) {
    set.insert(self)
  }
}

extension Disposable {
  /// Stores this disposable in a collection, which disposes it when it is deallocated.
  public func store<C: RangeReplaceableCollection<AnyCancellable>>(in collection: inout C) {
    collection.append(AnyCancellable(self))
  }

  /// Stores this disposable in a set, which disposes it when it is deallocated.
  public func store(in set: inout Set<AnyCancellable>) {
    set.insert(AnyCancellable(self))
  }
}
