/// A signal that creates its source separately for each observer.
public struct Deferred<DeferredSignal: SignalProtocol>: SignalProtocol {
  public typealias Element = DeferredSignal.Element
  public typealias Error = DeferredSignal.Error

  /// Creates the source of one run.
  public let signalFactory: () -> DeferredSignal

  public init(signalFactory: @escaping () -> DeferredSignal) {
    self.signalFactory = signalFactory
  }

  public func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    signalFactory().observe(with: observer)
  }
}
