/// A sequence of elements over time, described but not started.
///
/// Observing a signal runs its producer; each observer starts a run of its own. A run is
/// `next* (completed | failed)?` and nothing follows the terminal event or the disposal.
///
/// A signal is confined: it is not `Sendable`, takes no lock, and calls its observers
/// synchronously on the thread that sends.
package struct Signal<Element, Error: Swift.Error>: SignalProtocol {
  /// What a run consists of.
  package enum Event {
    case next(Element)
    case failed(Error)
    case completed
  }

  private let producer: (AtomicObserver<Element, Error>) -> any Disposable

  /// A signal by its producer.
  ///
  /// - Parameter producer: Called for each run with whom to tell; returns what ends the work early.
  ///   It is disposed when the run ends, in whatever way.
  package init(_ producer: @escaping (AtomicObserver<Element, Error>) -> any Disposable) {
    self.producer = producer
  }

  package func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    let run = AtomicObserver(observer)
    run.attach(producer(run))
    return run
  }
}

/// A signal that never fails.
package typealias SafeSignal<Element> = Signal<Element, Never>

/// Who is told of the events of one run.
package typealias Observer<Element, Error: Swift.Error> = (Signal<Element, Error>.Event) -> Void

extension Signal.Event {
  /// Whether the run ends with this event.
  package var isTerminal: Bool {
    if case .next = self { false } else { true }
  }

  /// The element of a `next`.
  package var element: Element? {
    if case .next(let element) = self { element } else { nil }
  }

  /// The error of a `failed`.
  package var error: Error? {
    if case .failed(let error) = self { error } else { nil }
  }
}

extension Signal.Event: Equatable where Element: Equatable, Error: Equatable {}
