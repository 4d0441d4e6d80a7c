/// Makes the signal to run for each observer, when it comes.
package struct Deferred<DeferredSignal: SignalProtocol>: SignalProtocol {
  package typealias Element = DeferredSignal.Element
  package typealias Error = DeferredSignal.Error

  /// Makes the signal.
  package let signalFactory: () -> DeferredSignal

  package init(signalFactory: @escaping () -> DeferredSignal) {
    self.signalFactory = signalFactory
  }

  package func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    signalFactory().observe(with: observer)
  }
}
