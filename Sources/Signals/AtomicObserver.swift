/// One run of a signal, as its producer sees it: it holds the grammar, so that no operator has to.
///
/// After the terminal event or the disposal it tells nothing more and holds nothing more.
package final class AtomicObserver<Element, Error: Swift.Error>: Disposable {
  private var observer: Observer<Element, Error>?
  private var upstream: (any Disposable)?

  init(_ observer: @escaping Observer<Element, Error>) {
    self.observer = observer
  }

  /// Whether the run has ended or was disposed.
  package var isDisposed: Bool { observer == nil }

  /// Tells an event.
  ///
  /// At the terminal event the upstream is disposed first, then the observer is told.
  package func on(_ event: Signal<Element, Error>.Event) {
    guard let observer else { return }
    if event.isTerminal { dispose() }
    observer(event)
  }

  /// Tells an element.
  package func receive(_ element: Element) {
    observer?(.next(element))
  }

  /// Tells that the run is complete.
  package func complete() {
    on(.completed)
  }

  /// Tells that the run has failed.
  package func fail(_ error: Error) {
    on(.failed(error))
  }

  /// Takes what ends the work; a run that has ended already disposes it at once.
  func attach(_ disposable: any Disposable) {
    if isDisposed { disposable.dispose() } else { upstream = disposable }
  }

  package func dispose() {
    let (observer, upstream) = (observer, upstream)
    self.observer = nil
    self.upstream = nil  // before the call, so that a nested dispose is a no-op
    upstream?.dispose()
    // Last, because what the observer held may end with it and come back here.
    withExtendedLifetime(observer) {}
  }
}
