public import Signals

/// A signal that creates its source separately for each observer.
public struct Deferred<DeferredSignal: SignalProtocol>: SignalProtocol {
  /// The type of the elements.
  public typealias Element = DeferredSignal.Element
  /// The type of the failure.
  public typealias Error = DeferredSignal.Error

  /// Creates the source of one run.
  public let signalFactory: () -> DeferredSignal

  /// Creates a signal from the closure that creates its source.
  public init(signalFactory: @escaping () -> DeferredSignal) {
    self.signalFactory = signalFactory
  }

  /// Starts a run that sends its events to the observer.
  public func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    signalFactory().observe(with: observer)
  }
}
