internal import Signals

/// The time for which a shared sequence keeps the elements that it replays.
public enum SubjectLifetimeScope: Sendable {
  /// While it has subscribers and its source has not ended.
  case whileConnected
  /// As long as the shared sequence; its end is replayed too.
  case forever
}

extension ObservableType {
  /// Shares one run among all subscribers, from the first until the last one leaves.
  ///
  /// With `.whileConnected`, a subscriber after the end or after a time without subscribers starts a
  /// new run. With `.forever`, a subscriber after the end receives the replayed elements and the
  /// end, and a new run begins only after a time without subscribers.
  ///
  /// - Parameter replay: The maximum number of elements that a later subscriber receives first.
  public func share(
    replay: Int = 0, scope: SubjectLifetimeScope = .whileConnected
  ) -> Observable<Element> {
    let shared = SharedRun(of: asSignal(), replay: replay, scope: scope)
    return Observable(Signal { observer in shared.subscribe(observer) })
  }
}

/// The run that all subscribers of a shared sequence use.
private final class SharedRun<Element> {
  private let source: Signal<Element, any Error>
  private let replay: Int
  private let scope: SubjectLifetimeScope
  /// The subject of all runs, if it outlives them.
  private let lasting: Subject<Element, any Error>?
  private var current: Connection<Element>?
  private let live = LiveNode("SharedRun")

  init(of source: Signal<Element, any Error>, replay: Int, scope: SubjectLifetimeScope) {
    self.source = source
    self.replay = replay
    self.scope = scope
    lasting = scope == .forever ? SharedRun.subject(replaying: replay) : nil
  }

  private static func subject(replaying count: Int) -> Subject<Element, any Error> {
    count > 0 ? Signals.ReplaySubject(bufferSize: count) : PassthroughSubject()
  }

  func subscribe(_ observer: AtomicObserver<Element, any Error>) -> any Disposable {
    if let lasting, lasting.isTerminated { return lasting.observe(with: observer.on) }
    let isFirst = current == nil
    let connection =
      current ?? Connection(through: lasting ?? SharedRun.subject(replaying: replay))
    current = connection
    connection.subscribers += 1
    let seat = connection.subject.observe(with: observer.on)
    if isFirst { start(connection) }
    return BlockDisposable { [self] in
      seat.dispose()
      connection.subscribers -= 1
      guard connection.subscribers == 0 else { return }
      forget(connection)
      connection.run.dispose()
    }
  }

  private func start(_ connection: Connection<Element>) {
    connection.run.otherDisposable = source.observe { [self] event in
      // Before the delivery: a subscriber may answer the end with a new subscription.
      if event.isTerminal { forget(connection) }
      connection.subject.on(event)
    }
  }

  private func forget(_ connection: Connection<Element>) {
    if current === connection { current = nil }
  }
}

/// One run of a shared sequence.
private final class Connection<Element> {
  let subject: Subject<Element, any Error>
  let run = SerialDisposable(otherDisposable: nil)
  var subscribers = 0
  private let live = LiveNode("Connection")

  init(through subject: Subject<Element, any Error>) {
    self.subject = subject
  }
}
