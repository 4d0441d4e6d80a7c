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
