internal import EventLoop
internal import Journal
internal import Model

/// Receives the changes of a connection: the store.
protocol DatabaseConnectionDelegate: AnyObject {
  /// The parameters of the beat that a session begins with.
  var beatParameters: PostgresParameters { get }

  /// Whether commands are refused when the database is away for too long.
  var hasPatience: Bool { get }

  /// Checks the journal after the first commit of a session, and calls
  /// ``DatabaseConnection/accept(_:)`` if the store goes on with it.
  func connection(greeted link: PostgresLink, _ head: JournalHead)

  /// The connection is gone; the outcome of statements in flight is unknown.
  func connectionEnded()

  /// ``DatabaseConnection/isOutOfPatience`` has changed.
  func connectionChangedPatience()

  /// The name of this daemon has belonged to another one for too long.
  func connectionFoundOwnName()

  func connection(received text: String, on channel: String)
}

/// The connection of a store to its database.
///
/// It dials the hosts and prepares each session, up to a first commit of its own. It gives up a host
/// that does not answer, and connects again.
final class DatabaseConnection {
  /// The pause between attempts to connect, in milliseconds.
  private static let pauseMilliseconds: UInt64 = 100

  /// The wait for the name of this daemon, and the pause between attempts, in milliseconds.
  ///
  /// A daemon without a sign of life loses its name after 5 s.
  private static let (nameMilliseconds, namePauseMilliseconds) = (UInt64(7_000), UInt64(250))

  weak var delegate: (any DatabaseConnectionDelegate)?

  /// See ``PostgresStore/onInterruption``.
  var onInterruption: (_ reason: String?) -> Void = { _ in }
  let hosts: HostNames
  private let settings: PostgresSettings
  private let loop: Loop
  private let dialer: PostgresDialer

  /// The connection, as soon as the store has accepted its session.
  private(set) var link: PostgresLink?

  /// The connection whose session is being prepared.
  private var greeting: PostgresLink?

  /// The host that could not commit.
  private var avoided: PostgresHost?

  /// The time limit for the first commit on a connection, in milliseconds.
  private var greetMilliseconds: UInt64

  /// The time since which there is no connection, in milliseconds of the loop, and the last reason.
  private var away: (since: UInt64, reason: String)?

  /// Whether commands are refused, because there was no connection for too long.
  private(set) var isOutOfPatience = false

  /// The time since which another daemon has the name of this one; `nil` if none has it.
  private var nameTakenSince: UInt64?

  /// The last reported reason why there is no connection, and its time.
  private var report: (reason: String, at: UInt64)?
  private var isClosed = false
  private var connectTimer: EventLoop.Timer?
  private(set) var connectPause = GrowingPause()
  private var answerTimer: EventLoop.Timer?

  init(_ settings: PostgresSettings, on loop: Loop) {
    (self.settings, self.loop) = (settings, loop)
    hosts = HostNames(on: loop)
    dialer = PostgresDialer(settings.string, hosts, on: loop)
    greetMilliseconds = settings.answerMilliseconds
  }

  // MARK: Connecting

  /// Begins to connect; call it once.
  func start() {
    connectTimer = Timer(infallibleOn: loop) { [unowned self] in connect() }
    answerTimer = Timer(infallibleOn: loop) { [unowned self] in giveUpHost() }
    connect()
  }

  private func connect() {
    guard !isClosed, link == nil, greeting == nil else { return }
    dialer.dial(avoiding: avoided) { [unowned self] result in
      switch result {
      case .success(let link): greet(link)
      case .failure(let failure):
        retry("\(failure)", after: failure.isSlow ? connectPause.next() : Self.pauseMilliseconds)
      }
    }
  }

  /// Drops the connection; the outcome of statements in flight is unknown.
  ///
  /// Nothing is cancelled: a cancelled wait for a standby would report success.
  private func disconnect() {
    dialer.stop()
    link?.close()
    greeting?.close()
    (link, greeting) = (nil, nil)
    answerTimer?.stop()
    delegate?.connectionEnded()
  }

  /// Ends the connection for good.
  func close() {
    disconnect()
    for timer in [connectTimer, answerTimer] { timer?.close() }
    (connectTimer, answerTimer) = (nil, nil)
    isClosed = true
  }

  /// Connects again after a lost connection: at once, because another host may be ready.
  func reconnect(because reason: String, after pause: UInt64 = 1) {
    disconnect()
    retry(reason, after: pause)
  }

  /// Connects again, to another host if there is one that takes writes.
  func avoid(
    _ host: PostgresHost, because reason: String, after pause: UInt64 = pauseMilliseconds
  ) {
    avoided = host
    reconnect(because: reason, after: pause)
  }

  /// Gives up a host that does not answer.
  func giveUp(_ host: PostgresHost) { avoid(host, because: "\(host) does not answer", after: 1) }

  private func giveUpHost() {
    guard let host = (greeting ?? link)?.host else { return }
    if greeting != nil {
      greetMilliseconds = min(2 * greetMilliseconds, settings.maxGreetMilliseconds)
    }
    giveUp(host)
  }

  // MARK: Waiting

  /// Gives up the host unless ``endWait()`` is called in time.
  func awaitAnswer() { answerTimer?.start(afterMilliseconds: settings.answerMilliseconds) }

  func endWait() { answerTimer?.stop() }

  /// Why there is no connection; `nil` if there is one.
  var interruption: String? { link == nil ? away?.reason ?? "no connection yet" : nil }

  /// Whether the connection, or the attempt to connect, has ended.
  var isAway: Bool { link == nil && away != nil }

  /// Notes why there is no connection, and connects again after a pause in milliseconds.
  private func retry(_ reason: String, after pause: UInt64) {
    guard !isClosed else { return }
    let now = loop.milliseconds
    away = (away?.since ?? now, reason)
    if report.map({ $0.reason != reason && now - $0.at >= settings.reportMilliseconds }) ?? true {
      report = (reason, now)
      onInterruption(reason)
    }
    connectTimer?.start(afterMilliseconds: pause)
    checkPatience()
  }

  /// Loses patience when the database has been away for too long.
  func checkPatience() {
    guard let away, !isOutOfPatience, delegate?.hasPatience == true,
      loop.milliseconds - away.since >= settings.patienceMilliseconds
    else { return }
    isOutOfPatience = true
    delegate?.connectionChangedPatience()
  }

  // MARK: Greeting

  /// The settings of a session: every commit waits for the standbys, and no limit ends a statement
  /// that has its locks.
  ///
  /// While a standby hangs, a session that commits keeps the locks of its rows. Those that wait for
  /// them end at their limit, or they would use up the connections of the server; they have written
  /// nothing.
  private var session: String {
    """
    SELECT set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
        ELSE 'on' END, false),
      set_config('statement_timeout', '0', false),
      set_config('lock_timeout', '\(settings.maxGreetMilliseconds)', false),
      set_config('idle_in_transaction_session_timeout', '0', false),
      set_config('idle_session_timeout', '0', false),
      set_config('client_min_messages', 'warning', false)
    """
  }

  private func greet(_ link: PostgresLink) {
    guard let delegate else { return link.close() }
    greeting = link
    link.onLost = { [unowned self] error in avoid(link.host, because: "\(error)", after: 1) }
    answerTimer?.start(afterMilliseconds: greetMilliseconds)
    link.run(text: session) { [unowned self] in check($0, link) }
    for channel in [PostgresSchema.channel, PostgresMail.channel(of: settings.boot)] {
      link.run(text: "LISTEN \(channel)") { [unowned self] in check($0, link) }
    }
    link.run(.beat, delegate.beatParameters) { [unowned self] outcome in
      guard greeting === link else { return }
      switch outcome.result {
      case .success(let result):
        guard let head = JournalHead(result), outcome.warning == nil else {
          return reconnect(because: "the first commit was not replicated")
        }
        self.delegate?.connection(greeted: link, head)
      case .failure(let error): refuse(error, by: link)
      }
    }
  }

  private func check(_ outcome: PostgresLink.Outcome, _ link: PostgresLink) {
    if case .failure(let error) = outcome.result, greeting === link { refuse(error, by: link) }
  }

  /// Handles the error of a session's first statements.
  private func refuse(_ error: PostgresError, by link: PostgresLink) {
    if error.code == PostgresSchema.Code.sameNode { return waitForName() }
    avoid(
      link.host, because: "\(link.host): \(error)",
      after: error.isTemporary ? Self.pauseMilliseconds : connectPause.next())
  }

  /// Waits until the name of this daemon is free: the daemon that has it may be gone.
  private func waitForName() {
    disconnect()
    let since = nameTakenSince ?? loop.milliseconds
    nameTakenSince = since
    guard loop.milliseconds - since >= Self.nameMilliseconds else {
      connectTimer?.start(afterMilliseconds: Self.namePauseMilliseconds)
      return
    }
    delegate?.connectionFoundOwnName()
  }

  /// The connection in use, or else the one whose session is being prepared.
  var current: PostgresLink? { link ?? greeting }

  /// Takes a connection into use, whose session was greeted.
  func accept(_ link: PostgresLink) {
    if greeting === link { greeting = nil }
    self.link = link
    endWait()
    greetMilliseconds = settings.answerMilliseconds
    connectPause.reset()
    (nameTakenSince, avoided) = (nil, nil)
    link.onNotification = { [unowned self] in delegate?.connection(received: $1, on: $0) }
    guard away != nil else { return }
    (away, report, isOutOfPatience) = (nil, nil, false)
    delegate?.connectionChangedPatience()
    onInterruption(nil)
  }
}

extension EventLoop.Timer {
  /// Creates a timer; libuv's timers fail only without memory.
  convenience init(infallibleOn loop: Loop, _ body: @escaping () -> Void) {
    do throws(SystemError) {
      try self.init(on: loop, onFire: body)
    } catch {
      preconditionFailure("no timer: \(error)")
    }
  }
}
