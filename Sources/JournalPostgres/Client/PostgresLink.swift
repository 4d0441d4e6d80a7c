internal import CPostgres
internal import EventLoop
internal import Signals

/// A session on the loop, with statements in a pipeline: each is sent at once, and the results
/// arrive in order.
final class PostgresLink {
  /// The result of a statement.
  struct Outcome {
    let result: Result<PostgresResult, PostgresError>

    /// The warning that the server has committed it without its standbys; `nil` if it has not.
    var warning: PostgresError?
  }

  /// Called once when the connection is lost; no statement in flight gets a result then.
  var onLost: (PostgresError) -> Void = { _ in }

  /// Called for each notification of a channel that the session listens to.
  var onNotification: (_ channel: String, _ text: String) -> Void = { _, _ in }

  let session: PostgresSession

  /// The host, for messages.
  let host: PostgresHost
  private var watch: DescriptorWatch?
  private var isWriting = false

  private struct Running {
    let statement: PostgresStatement?
    let then: (Outcome) -> Void

    /// The number of results to come before the one that counts.
    var skipped: Int
    var outcome: Outcome?
    var warning: PostgresError?
  }

  private var running = Queue<Running>()

  /// - Parameter session: A connected session, which belongs to the link from now on.
  init(
    _ session: PostgresSession, to host: PostgresHost, on loop: Loop
  ) throws(PostgresError) {
    (self.session, self.host) = (session, host)
    do throws(SystemError) {
      watch = try DescriptorWatch(session.descriptor, on: loop) { [unowned self] in ready($0) }
    } catch {
      throw PostgresError(message: "\(error)")
    }
    watch?.wait(for: .readable)
    session.onNotice = { [unowned self] notice in
      guard notice.isUnreplicatedCommit, var first = running.popFirst() else { return }
      first.warning = notice
      running.prepend(first)
    }
  }

  /// Closes the connection.
  ///
  /// Statements in flight get no result; their outcome is unknown.
  func close() {
    watch?.close()
    watch = nil
    running.removeAll()
    (onLost, onNotification) = ({ _ in }, { _, _ in })
  }

  var isClosed: Bool { watch == nil }

  /// Whether statements are in flight.
  var isBusy: Bool { !running.isEmpty }

  /// Runs a statement in a transaction of its own.
  ///
  /// - Parameter then: Called with the result, unless the connection is lost or closed before.
  func run(
    _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters(),
    then: @escaping (Outcome) -> Void
  ) {
    guard !isClosed else { return }
    do throws(PostgresError) {
      let results = try session.send(statement, parameters)
      running.append(Running(statement: statement, then: then, skipped: results - 1))
      try flush()
    } catch {
      lose(error)
    }
  }

  /// Runs a statement without parameters once, for example `LISTEN`.
  func run(text: String, then: @escaping (Outcome) -> Void) {
    guard !isClosed else { return }
    do throws(PostgresError) {
      try session.send(text: text, [])
      running.append(Running(statement: nil, then: then, skipped: 0))
      try flush()
    } catch {
      lose(error)
    }
  }

  private func ready(_ events: DescriptorWatch.Events) {
    do throws(PostgresError) {
      if events.contains(.readable) {
        try session.receive()
        readResults()
        readNotifications()
      }
      if isWriting, !isClosed { try flush() }
    } catch {
      // The server may have said why before it closed the connection.
      readResults()
      lose(error)
    }
  }

  private func flush() throws(PostgresError) {
    let isWriting = try !session.flush()
    guard isWriting != self.isWriting else { return }
    self.isWriting = isWriting
    watch?.wait(for: isWriting ? [.readable, .writable] : .readable)
  }

  private func lose(_ error: PostgresError) {
    guard !isClosed else { return }
    let onLost = onLost
    close()
    onLost(error)
  }

  private func readResults() {
    while !isClosed, !running.isEmpty, !session.isBusy {
      // The results of a statement end with none; then comes the next one.
      guard let result = session.nextResult() else {
        guard !session.isBusy, let next = session.nextResult() else { return }
        finish(next)
        continue
      }
      finish(result)
    }
  }

  private func finish(_ result: PostgresResult) {
    guard var first = running.popFirst() else { return }
    switch result.status {
    case PGRES_PIPELINE_SYNC:
      var outcome =
        first.outcome
        ?? Outcome(result: .failure(PostgresError(message: "the statement has no result")))
      outcome.warning = first.warning
      return first.then(outcome)
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
      if first.skipped > 0 {
        first.skipped -= 1
      } else {
        first.outcome = Outcome(result: .success(result))
      }
    case PGRES_PIPELINE_ABORTED: break
    default:
      if let statement = first.statement, first.skipped > 0 { session.forget(statement) }
      first.outcome = Outcome(result: .failure(result.error))
    }
    running.prepend(first)
  }

  private func readNotifications() {
    while !isClosed, let (channel, text) = session.nextNotification() {
      onNotification(channel, text)
    }
  }
}
