/// A signal that starts when it is told to.
public protocol ConnectableSignalProtocol<Element, Error>: SignalProtocol {
  /// Starts the signal.
  ///
  /// - Returns: What ends it; disposed already if the signal has ended.
  func connect() -> any Disposable
}

/// One run of a signal for all observers, through a subject.
public final class ConnectableSignal<Source: SignalProtocol>: ConnectableSignalProtocol {
  public typealias Element = Source.Element
  public typealias Error = Source.Error

  private let source: Source
  private let subject: Subject<Element, Error>
  private let live = LiveNode("ConnectableSignal")

  public init(source: Source, subject: Subject<Element, Error>) {
    self.source = source
    self.subject = subject
  }

  public func connect() -> any Disposable {
    subject.isTerminated ? EndedDisposable() : source.observe(with: subject)
  }

  public func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    subject.observe(with: observer)
  }
}

extension SignalProtocol {
  /// One run for all observers, through the subject that is made.
  public func multicast(
    _ createSubject: () -> Subject<Element, Error>
  ) -> ConnectableSignal<Self> {
    ConnectableSignal(source: self, subject: createSubject())
  }

  /// One run for all observers, through a subject.
  public func multicast(subject: Subject<Element, Error>) -> ConnectableSignal<Self> {
    ConnectableSignal(source: self, subject: subject)
  }

  /// One run for all observers; who comes later misses what was.
  public func publish() -> ConnectableSignal<Self> {
    multicast(subject: PassthroughSubject())
  }

  /// One run for all observers; who comes later is told the last elements first.
  ///
  /// - Parameter limit: How many at most; ``Swift/Int/unbounded`` for all.
  public func replay(limit: Int = 1) -> ConnectableSignal<Self> {
    switch limit {
    case ...0: multicast(subject: PassthroughSubject())
    case 1: multicast(subject: ReplayOneSubject())
    default: multicast(subject: ReplaySubject(bufferSize: limit))
    }
  }
}
