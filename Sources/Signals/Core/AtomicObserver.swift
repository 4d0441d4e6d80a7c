/// One run of a signal, as its producer sees it: it holds the grammar, so that no operator has to.
///
/// After the terminal event or the disposal it tells nothing more and holds nothing more.
@usableFromInline
package final class AtomicObserver<Element, Error: Swift.Error>: ObserverProtocol, Disposable {
  @usableFromInline
  var observer: Observer<Element, Error>?
  @usableFromInline
  var upstream: (any Disposable)?
  @usableFromInline
  let live = LiveNode("AtomicObserver")

  @inlinable
  package init(_ observer: @escaping Observer<Element, Error>) {
    self.observer = observer
  }

  /// Whether the run has ended or was disposed.
  @inlinable
  package var isDisposed: Bool { observer == nil }

  /// Tells an event.
  ///
  /// At the terminal event the upstream is disposed first, then the observer is told.
  @inlinable
  package func on(_ event: Signal<Element, Error>.Event) {
    guard let observer else { return }
    if event.isTerminal { dispose() }
    observer(event)
  }

  /// Tells an element.
  @inlinable
  package func receive(_ element: Element) {
    observer?(.next(element))
  }

  /// Tells that the run is complete.
  @inlinable
  package func complete() {
    on(.completed)
  }

  /// Tells that the run has failed.
  @inlinable
  package func fail(_ error: Error) {
    on(.failed(error))
  }

  /// Runs the producer and takes what ends its work; a run that has ended already ends it at once.
  @inlinable
  package func attach(_ producer: Signal<Element, Error>.Producer) {
    attach(producer(self))
  }

  /// Takes what ends the work; a run that has ended already disposes it at once.
  @inlinable
  func attach(_ disposable: any Disposable) {
    if isDisposed { disposable.dispose() } else { upstream = disposable }
  }

  @inlinable
  package func dispose() {
    let (observer, upstream) = (observer, upstream)
    self.observer = nil
    self.upstream = nil  // before the call, so that a nested dispose is a no-op
    upstream?.dispose()
    // Last, because what the observer held may end with it and come back here.
    withExtendedLifetime(observer) {}
  }
}
