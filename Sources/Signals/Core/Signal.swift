/// A sequence of elements over time, described but not started.
///
/// Observing a signal starts a run; each observer has a run of its own. A run is
/// `next* (completed | failed)?` and nothing follows the terminal event or the disposal.
///
/// A signal is confined: it is not `Sendable`, takes no lock, and calls its observers
/// synchronously on the thread that sends.
@usableFromInline
package struct Signal<Element, Error: Swift.Error>: SignalProtocol {
  /// Runs the work of one observer.
  ///
  /// It is given whom to tell and returns what ends the work early.
  @usableFromInline
  package typealias Producer = (AtomicObserver<Element, Error>) -> any Disposable

  @usableFromInline
  let run: (@escaping Observer<Element, Error>) -> any Disposable

  /// A signal by its producer.
  ///
  /// - Parameter producer: Called for each run with whom to tell; returns what ends the work early.
  ///   It is disposed when the run ends, in whatever way.
  @inlinable
  package init(_ producer: @escaping Producer) {
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

  /// A signal by what observes another signal, one event for one event or fewer.
  ///
  /// For operators that end only when their source does: the source keeps the grammar for them, so
  /// that a run costs one closure.
  @inlinable
  static func passing(
    _ run: @escaping (@escaping Observer<Element, Error>) -> any Disposable
  ) -> Signal {
    Signal(passing: (), run: run)
  }

  @inlinable
  package func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    run(observer)
  }
}

/// A signal that never fails.
@usableFromInline
package typealias SafeSignal<Element> = Signal<Element, Never>
