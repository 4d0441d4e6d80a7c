/// A sequence of elements over time, described but not started.
///
/// Each observer starts a separate run. A run is `next* (completed | failed)?`. Nothing follows the
/// terminal event or the disposal.
///
/// A signal is confined to one thread. It is not `Sendable`, takes no lock, and calls its observers
/// synchronously on the thread that sends.
public struct Signal<Element, Error: Swift.Error>: SignalProtocol {
  /// Does the work of one run.
  ///
  /// It receives the observer and returns a disposable that stops the work early.
  public typealias Producer = (AtomicObserver<Element, Error>) -> any Disposable

  @usableFromInline
  let run: (@escaping Observer<Element, Error>) -> any Disposable

  /// Creates a signal from a producer.
  ///
  /// - Parameter producer: Called once for each run with its observer. Returns a disposable that
  ///   stops the work early; it is disposed whenever the run ends.
  @inlinable
  public init(_ producer: @escaping Producer) {
    run = { observer in
      let guarded = AtomicObserver(observer)
      guarded.attach(producer(guarded))
      return guarded
    }
  }

  @inlinable
  init(passing: Void, run: @escaping (@escaping Observer<Element, Error>) -> any Disposable) {
    self.run = run
  }

  /// Creates a signal that passes on events of another signal, at most one for each event.
  ///
  /// It suits operators that end only with their source. The source enforces the grammar for them,
  /// so that a run costs one closure.
  @inlinable
  static func passing(
    _ run: @escaping (@escaping Observer<Element, Error>) -> any Disposable
  ) -> Signal {
    Signal(passing: (), run: run)
  }

  @inlinable
  public func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    run(observer)
  }
}

/// A signal that never fails.
public typealias SafeSignal<Element> = Signal<Element, Never>
