/// A signal that creates its source separately for each observer.
package struct Deferred<DeferredSignal: SignalProtocol>: SignalProtocol {
  package typealias Element = DeferredSignal.Element
  package typealias Error = DeferredSignal.Error

  /// Creates the source of one run.
  package let signalFactory: () -> DeferredSignal

  package init(signalFactory: @escaping () -> DeferredSignal) {
    self.signalFactory = signalFactory
  }

  package func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    signalFactory().observe(with: observer)
  }
}
