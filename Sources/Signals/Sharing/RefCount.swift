extension ConnectableSignalProtocol {
  /// Starts with the first observer and ends when so few are left.
  ///
  /// - Parameter disconnectCount: How few; a negative number for never.
  public func refCount(disconnectCount: Int = 0) -> Signal<Element, Error> {
    let connection = SharedConnection(connect: connect, disconnectCount: disconnectCount)
    return Signal { observer in
      connection.observe { self.observe(with: observer.on) }
    }
  }
}

/// The connection that the observers of a shared signal have in common.
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
      // Before the call, so that an observer that comes meanwhile does not connect again.
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
  /// One run for all observers, from the first until the last has left.
  ///
  /// - Parameters:
  ///   - limit: How many of the last elements a newcomer is told; ``Swift/Int/unbounded`` for all.
  ///   - keepAlive: Whether the run goes on when the last observer has left.
  public func share(limit: Int = 1, keepAlive: Bool = false) -> Signal<Element, Error> {
    replay(limit: limit).refCount(disconnectCount: keepAlive ? .min : 0)
  }
}

extension SignalProtocol where Element: LoadingStateProtocol {
  /// One run for all observers; who comes later is told the last values, or the failure, first.
  public func replayValues(
    limit: Int = 1
  ) -> ConnectableSignal<Signal<LoadingState<Element.LoadingValue, Element.LoadingError>, Error>> {
    let states = map(\.asLoadingState)
    guard limit > 0 else { return states.publish() }
    return states.multicast(subject: ReplayLoadingValueSubject(bufferSize: limit))
  }

  /// One run for all observers, from the first until the last has left.
  public func shareReplayValues(
    limit: Int = 1
  ) -> Signal<LoadingState<Element.LoadingValue, Element.LoadingError>, Error> {
    replayValues(limit: limit).refCount()
  }
}
