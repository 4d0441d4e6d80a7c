/// A signal that starts when ``connect()`` is called.
public protocol ConnectableSignalProtocol<Element, Error>: SignalProtocol {
  /// Starts the signal.
  ///
  /// - Returns: A disposable that ends the run; already disposed if the signal has ended.
  func connect() -> any Disposable
}

/// A signal whose observers share one run, through a subject.
public final class ConnectableSignal<Source: SignalProtocol>: ConnectableSignalProtocol {
  /// The type of the elements.
  public typealias Element = Source.Element
  /// The type of the failure.
  public typealias Error = Source.Error

  private let source: Source
  private let subject: Subject<Element, Error>
  private let live = LiveNode("ConnectableSignal")

  /// Creates a signal that sends the events of a source through a subject.
  public init(source: Source, subject: Subject<Element, Error>) {
    self.source = source
    self.subject = subject
  }

  /// Starts the shared run and returns a disposable that ends it.
  public func connect() -> any Disposable {
    subject.isTerminated ? EndedDisposable() : source.observe(with: subject)
  }

  /// Adds an observer to the shared run without starting it.
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

extension ConnectableSignalProtocol {
  /// Connects at the first observer, and disconnects when the number of observers falls to a limit.
  ///
  /// - Parameter disconnectCount: The limit; a negative number means never.
  public func refCount(disconnectCount: Int = 0) -> Signal<Element, Error> {
    let connection = SharedConnection(connect: connect, disconnectCount: disconnectCount)
    return Signal { observer in
      connection.observe { self.observe(with: observer.on) }
    }
  }
}

/// The connection that all observers of a shared signal use.
private final class SharedConnection {
  private let connect: () -> any Disposable
  private let disconnectCount: Int
  private var count = 0
  private var connection: (any Disposable)?
  private let live = LiveNode("SharedConnection")

  init(connect: @escaping () -> any Disposable, disconnectCount: Int) {
    self.connect = connect
    self.disconnectCount = disconnectCount
  }

  func observe(_ start: () -> any Disposable) -> any Disposable {
    count += 1
    let run = start()
    if connection == nil {
      // Set before the call, so that an observer added by the call does not connect again.
      let serial = SerialDisposable(otherDisposable: nil)
      connection = serial
      serial.otherDisposable = connect()
    }
    return BlockDisposable { [self] in
      run.dispose()
      count -= 1
      guard count == disconnectCount else { return }
      let ended = connection
      connection = nil
      ended?.dispose()
    }
  }
}

extension SignalProtocol {
  /// Shares one run among all observers, from the first until the last is disposed.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of elements replayed to a late observer;
  ///     ``Swift/Int/unbounded`` for all.
  ///   - keepAlive: Whether the run continues after the last observer is disposed.
  public func share(limit: Int = 1, keepAlive: Bool = false) -> Signal<Element, Error> {
    replay(limit: limit).refCount(disconnectCount: keepAlive ? .min : 0)
  }
}

extension SignalProtocol where Element: LoadingStateProtocol {
  /// Shares one run among all observers; a late observer first receives the last values or the
  /// failure.
  public func replayValues(
    limit: Int = 1
  ) -> ConnectableSignal<Signal<LoadingState<Element.LoadingValue, Element.LoadingError>, Error>> {
    let states = map(\.asLoadingState)
    guard limit > 0 else { return states.publish() }
    return states.multicast(subject: ReplayLoadingValueSubject(bufferSize: limit))
  }

  /// Shares one run among all observers, from the first until the last is disposed.
  ///
  /// A late observer first receives the last values or the failure.
  public func shareReplayValues(
    limit: Int = 1
  ) -> Signal<LoadingState<Element.LoadingValue, Element.LoadingError>, Error> {
    replayValues(limit: limit).refCount()
  }
}
