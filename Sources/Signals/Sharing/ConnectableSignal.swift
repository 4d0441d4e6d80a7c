/// A signal that starts when ``connect()`` is called.
public protocol ConnectableSignalProtocol<Element, Error>: SignalProtocol {
  /// Starts the signal.
  ///
  /// - Returns: A disposable that ends the run; already disposed if the signal has ended.
  func connect() -> any Disposable
}

/// A signal whose observers share one run, through a subject.
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
  /// Shares one run among all observers, through the subject that `createSubject` returns.
  public func multicast(
    _ createSubject: () -> Subject<Element, Error>
  ) -> ConnectableSignal<Self> {
    ConnectableSignal(source: self, subject: createSubject())
  }

  /// Shares one run among all observers, through a subject.
  public func multicast(subject: Subject<Element, Error>) -> ConnectableSignal<Self> {
    ConnectableSignal(source: self, subject: subject)
  }

  /// Shares one run among all observers; a late observer misses earlier elements.
  public func publish() -> ConnectableSignal<Self> {
    multicast(subject: PassthroughSubject())
  }

  /// Shares one run among all observers; a late observer first receives the last elements.
  ///
  /// - Parameter limit: The maximum number of replayed elements; ``Swift/Int/unbounded`` for all.
  public func replay(limit: Int = 1) -> ConnectableSignal<Self> {
    switch limit {
    case ...0: multicast(subject: PassthroughSubject())
    case 1: multicast(subject: ReplayOneSubject())
    default: multicast(subject: ReplaySubject(bufferSize: limit))
    }
  }
}
