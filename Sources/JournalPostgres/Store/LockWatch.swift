internal import EventLoop

/// A connection of a follower that waits for the lock of the active daemon, to notice its end at
/// once.
///
/// The lock is shared, so that all followers wait at the same time. It is given back at once.
final class LockWatch {
  /// The time in which an active daemon that has lost its connection may be back, in milliseconds.
  private static let graceMilliseconds: UInt64 = 50

  /// Called when the session of the active daemon has ended, and it has no new one.
  private let onGone: () -> Void
  private let dialer: PostgresDialer
  private let loop: Loop
  private var link: PostgresLink?
  private var timer: Timer?
  private var isDialing = false

  init(
    _ string: ConnectionString, _ names: HostNames, on loop: Loop, onGone: @escaping () -> Void
  ) {
    (dialer, self.loop) = (PostgresDialer(string, names, on: loop), loop)
    self.onGone = onGone
  }

  /// Ends each wait by the server too, if this daemon is gone.
  private static let session = """
    SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false),
      set_config('idle_session_timeout', '0', false),
      set_config('client_connection_check_interval', '2s', false)
    """

  private static let isGone = """
    SELECT NOT EXISTS (
      SELECT 1 FROM pg_stat_activity a JOIN binder.node n ON n.process = a.pid
      JOIN binder.head h ON h.active = n.name)
    """

  /// Begins to wait, unless it waits already.
  ///
  /// If nobody has the lock now, it does nothing: call it again later.
  func start() {
    guard link == nil, !isDialing else { return }
    isDialing = true
    dialer.dial { [unowned self] result in
      isDialing = false
      guard case .success(let link) = result else { return }
      self.link = link
      link.onLost = { [unowned self] _ in self.link = nil }
      run(Self.session) { _ in }
      run("SELECT pg_try_advisory_lock_shared(\(PostgresSchema.lock))") { [unowned self] result in
        guard result.text(0, 0) == "f" else { return stop() }
        waitForLock()
      }
    }
  }

  private func waitForLock() {
    run("SELECT pg_advisory_lock_shared(\(PostgresSchema.lock))") { [unowned self] _ in
      run("SELECT pg_advisory_unlock_shared(\(PostgresSchema.lock))") { [unowned self] _ in
        timer = try? Timer(on: loop) { [unowned self] in look() }
        timer?.start(afterMilliseconds: Self.graceMilliseconds)
      }
    }
  }

  private func look() {
    run(Self.isGone) { [unowned self] result in
      let isGone = result.text(0, 0) == "t"
      stop()
      if isGone { onGone() }
    }
  }

  /// Runs a statement; an error ends the wait.
  private func run(_ text: String, then: @escaping (PostgresResult) -> Void) {
    link?.run(text: text) { [unowned self] outcome in
      guard case .success(let result) = outcome.result else { return stop() }
      then(result)
    }
  }

  func stop() {
    dialer.stop()
    link?.close()
    timer?.close()
    (link, timer, isDialing) = (nil, nil, false)
  }
}
