/// A signal that starts when it is told to.
package protocol ConnectableSignalProtocol<Element, Error>: SignalProtocol {
  /// Starts the signal.
  ///
  /// - Returns: What ends it; disposed already if the signal has ended.
  func connect() -> any Disposable
}

/// One run of a signal for all observers, through a subject.
package final class ConnectableSignal<Source: SignalProtocol>: ConnectableSignalProtocol {
  package typealias Element = Source.Element
  package typealias Error = Source.Error

  private let source: Source
  private let subject: Subject<Element, Error>
  private let live = LiveNode("ConnectableSignal")

  package init(source: Source, subject: Subject<Element, Error>) {
    self.source = source
    self.subject = subject
  }

  package func connect() -> any Disposable {
    subject.isTerminated ? EndedDisposable() : source.observe(with: subject)
  }

  package func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    subject.observe(with: observer)
  }
}

extension SignalProtocol {
  /// One run for all observers, through the subject that is made.
  package func multicast(
    _ createSubject: () -> Subject<Element, Error>
  ) -> ConnectableSignal<Self> {
    ConnectableSignal(source: self, subject: createSubject())
  }

  /// One run for all observers, through a subject.
  package func multicast(subject: Subject<Element, Error>) -> ConnectableSignal<Self> {
    ConnectableSignal(source: self, subject: subject)
  }

  /// One run for all observers; who comes later misses what was.
  package func publish() -> ConnectableSignal<Self> {
    multicast(subject: PassthroughSubject())
  }

  /// One run for all observers; who comes later is told the last elements first.
  ///
  /// - Parameter limit: How many at most; ``Swift/Int/unbounded`` for all.
  package func replay(limit: Int = 1) -> ConnectableSignal<Self> {
    switch limit {
    case ...0: multicast(subject: PassthroughSubject())
    case 1: multicast(subject: ReplayOneSubject())
    default: multicast(subject: ReplaySubject(bufferSize: limit))
    }
  }
}
