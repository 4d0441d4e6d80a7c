/// A callback that receives the events of one run.
public typealias Observer<Element, Error: Swift.Error> = (Signal<Element, Error>.Event) -> Void

/// A callback that receives the events of one run that cannot fail.
public typealias SafeObserver<Element> = Observer<Element, Never>

/// A type that receives events.
public protocol ObserverProtocol<Element, Error> {
  associatedtype Element
  associatedtype Error: Swift.Error

  /// Receives an event.
  func on(_ event: Signal<Element, Error>.Event)
}

extension ObserverProtocol {
  /// Receives an element.
  @inlinable
  public func receive(_ element: Element) {
    on(.next(element))
  }

  /// Receives the terminal event.
  @inlinable
  public func receive(completion: Subscribers.Completion<Error>) {
    on(.init(completion))
  }

  /// Receives the last element, then completes.
  @inlinable
  public func receive(lastElement element: Element) {
    on(.next(element))
    on(.completed)
  }

  /// Returns this observer as a closure.
  @inlinable
  public func toObserver() -> Observer<Element, Error> {
    on
  }
}

extension ObserverProtocol where Element == Void {
  /// Receives an element without a value.
  @inlinable
  public func receive() {
    on(.next(()))
  }
}

/// An observer made of a closure.
public struct AnyObserver<Element, Error: Swift.Error>: ObserverProtocol {
  /// The closure that receives each event.
  public let observer: Observer<Element, Error>

  /// Creates an observer from a closure.
  @inlinable
  public init(observer: @escaping Observer<Element, Error>) {
    self.observer = observer
  }

  /// Calls the closure with an event.
  @inlinable
  public func on(_ event: Signal<Element, Error>.Event) {
    observer(event)
  }
}

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

  /// Creates an observer that calls a closure with each event.
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

  /// Releases the resources; later calls do nothing.
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
