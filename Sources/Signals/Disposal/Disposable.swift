/// A handle that ends an observation; disposing it twice has no further effect.
public protocol Disposable: Cancellable {
  /// Whether the observation has ended or was disposed.
  var isDisposed: Bool { get }

  /// Ends the observation.
  func dispose()
}

/// A type that can be cancelled.
public protocol Cancellable {
  /// Cancels the activity.
  func cancel()
}

extension Disposable {
  /// Ends the observation, like ``dispose()``.
  public func cancel() {
    dispose()
  }

  /// Adds this disposable to a bag.
  public func dispose(in bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }

  /// Adds this disposable to a bag.
  public func store(in bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }
}
