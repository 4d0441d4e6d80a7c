/// The observer of one run, as the producer of a signal sees it.
///
/// It enforces the event grammar, so that operators need not. After the terminal event or the
/// disposal it sends nothing and retains nothing.
public final class AtomicObserver<Element, Error: Swift.Error>: ObserverProtocol, Disposable {
  @usableFromInline
  var observer: Observer<Element, Error>?
  @usableFromInline
  var upstream: (any Disposable)?
  @usableFromInline
  let live = LiveNode("AtomicObserver")

  @inlinable
  public init(_ observer: @escaping Observer<Element, Error>) {
    self.observer = observer
  }

  /// Whether the run has ended or was disposed.
  @inlinable
  public var isDisposed: Bool { observer == nil }

  /// Sends an event to the observer.
  ///
  /// At the terminal event it disposes the upstream first, then calls the observer.
  @inlinable
  public func on(_ event: Signal<Element, Error>.Event) {
    guard let observer else { return }
    if event.isTerminal { dispose() }
    observer(event)
  }

  /// Sends an element.
  @inlinable
  public func receive(_ element: Element) {
    observer?(.next(element))
  }

  /// Completes the run.
  @inlinable
  public func complete() {
    on(.completed)
  }

  /// Fails the run.
  @inlinable
  public func fail(_ error: Error) {
    on(.failed(error))
  }

  /// Runs the producer and keeps the disposable that it returns.
  ///
  /// If the run has already ended, it disposes it at once.
  @inlinable
  public func attach(_ producer: Signal<Element, Error>.Producer) {
    attach(producer(self))
  }

  /// Keeps the disposable of the upstream.
  ///
  /// If the run has already ended, it disposes it at once.
  @inlinable
  func attach(_ disposable: any Disposable) {
    if isDisposed { disposable.dispose() } else { upstream = disposable }
  }

  @inlinable
  public func dispose() {
    let (observer, upstream) = (observer, upstream)
    self.observer = nil
    self.upstream = nil  // before the call, so that a nested dispose is a no-op
    upstream?.dispose()
    // Release the observer last: objects that it retained may be deallocated here and call back.
    withExtendedLifetime(observer) {}
  }
}
