internal import CPostgres
internal import EventLoop
internal import Glibc

/// A session of a thread that may wait, for example a reader of the journal.
final class PostgresThreadSession {
  /// The time for a statement, in milliseconds; a page of events needs a small part of it.
  private static let limitMilliseconds: UInt64 = 30_000

  /// The time for the hosts to answer, in milliseconds.
  ///
  /// Longer than on the loop: a thread blocks nobody, and a tool does not try again, so a busy server
  /// gets the time that it needs.
  private static let dialMilliseconds: UInt64 = 5_000
  private let session: PostgresSession

  /// Connects to all hosts at once and keeps the first that takes writes; waits for it.
  init(_ string: ConnectionString) throws(PostgresDialer.Failure) {
    session = try Self.connect(string)
  }

  var serverVersion: Int { session.serverVersion }

  // MARK: Statements

  /// Runs a statement in a transaction of its own, and waits for the result.
  @discardableResult
  func run(
    _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters()
  ) throws(PostgresError) -> PostgresResult {
    let results = try session.send(statement, parameters)
    let outcome = try result(after: results - 1)
    if case .failure = outcome { session.forget(statement) }
    return try outcome.get()
  }

  /// Runs a statement with texts as parameters once; the results are texts too.
  @discardableResult
  func run(text: String, _ parameters: [String] = []) throws(PostgresError) -> PostgresResult {
    try session.send(text: text, parameters)
    return try result(after: 0).get()
  }

  private func result(
    after skipped: Int
  ) throws(PostgresError) -> Result<PostgresResult, PostgresError> {
    let end = Process.milliseconds + Self.limitMilliseconds
    var skipped = skipped
    var outcome: Result<PostgresResult, PostgresError>?
    while true {
      while try !session.flush() { try wait(for: [POLLIN, POLLOUT], until: end) }
      while session.isBusy { try wait(for: [POLLIN], until: end) }
      guard let result = session.nextResult() else { continue }
      switch result.status {
      case PGRES_PIPELINE_SYNC:
        return outcome ?? .failure(PostgresError(message: "the statement has no result"))
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
        if skipped > 0 { skipped -= 1 } else { outcome = .success(result) }
      case PGRES_PIPELINE_ABORTED: break
      default: outcome = .failure(result.error)
      }
    }
  }

  private func wait(for events: [CInt], until end: UInt64) throws(PostgresError) {
    let now = Process.milliseconds
    guard now < end, session.descriptor >= 0 else {
      throw PostgresError(message: "the server does not answer")
    }
    var entry = pollfd(
      fd: session.descriptor, events: Int16(events.reduce(0, |)), revents: 0)
    _ = poll(&entry, 1, CInt(end - now))
    try session.receive()
  }

  // MARK: Connecting

  private struct Attempt {
    let host: PostgresHost
    let session: PostgresSession
    var events = CInt(POLLOUT)
  }

  private static func connect(
    _ string: ConnectionString
  ) throws(PostgresDialer.Failure) -> PostgresSession {
    var failure = PostgresDialer.Failure()
    var attempts: [Attempt] = []
    for host in string.hosts {
      switch HostNames.addresses(of: host) {
      case .failure(let error): failure.reasons.append((host, error))
      case .success(let addresses):
        for address in addresses {
          do throws(PostgresError) {
            let session = try PostgresSession(string.options(for: host, at: address))
            attempts.append(Attempt(host: host, session: session))
          } catch {
            failure.reasons.append((host, error))
          }
        }
      }
    }
    let end = Process.milliseconds + Self.dialMilliseconds
    while !attempts.isEmpty {
      let now = Process.milliseconds
      guard now < end else { break }
      var entries = attempts.map {
        pollfd(fd: $0.session.descriptor, events: Int16($0.events), revents: 0)
      }
      guard poll(&entries, nfds_t(entries.count), CInt(end - now)) > 0 else { break }
      for (i, entry) in entries.enumerated().reversed() where entry.revents != 0 {
        do throws(PostgresError) {
          switch try attempts[i].session.connect() {
          case .read: attempts[i].events = CInt(POLLIN)
          case .write: attempts[i].events = CInt(POLLOUT)
          case .done:
            guard attempts[i].session.isReadOnly else { return attempts[i].session }
            throw PostgresError(message: "it takes no writes")
          }
        } catch {
          failure.reasons.append((attempts[i].host, error))
          attempts.remove(at: i)
        }
      }
    }
    for attempt in attempts {
      let limit = Self.dialMilliseconds
      failure.reasons.append(
        (attempt.host, PostgresError(message: "no answer within \(limit) ms")))
    }
    throw failure
  }
}
