import BinderClient
import Console
import Glibc
import JSON
import Wire

let lockSyntax = Syntax(
  "lock", "Runs a command while holding a lock.",
  operands: [Operand("NAME", completes: .names(of: "locks")), Operand("CMD", .some)],
  options: [
    Option("wait", letter: "w", value: "TIME", "give up after TIME, 0s at once; otherwise waits")
  ],
  details: """
    Waits until no other program holds the lock, first come first served, and exits with the exit code of
    CMD. Exits with 5 if the lock was not free in time. The lock is free again when bindctl ends, however
    it ends. If another program gets the lock meanwhile, CMD is ended with SIGTERM and bindctl exits with
    6. CMD gets BINDER_LOCK, the name, and BINDER_LOCK_TOKEN, a number that grows with each holder: a
    resource that refuses lower numbers is safe from a holder that has lost the lock and does not know it.
    """,
  examples: [
    "bindctl lock backup -- ./backup.sh", "bindctl lock deploy --wait 10s -- make deploy",
    "bindctl get locks/backup",
  ])

var lockCommand: Command {
  Command(lockSyntax) { context in
    let name = context.operand(0)
    var (token, lease) = try acquire(
      name, waitMilliseconds: try context.milliseconds("wait"), context.client)
    let signals = SignalWait([SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP])
    let command = try Child(
      Array(context.invocation.operands.dropFirst()),
      environment: context.childEnvironment.merging([
        "BINDER_LOCK": name, "BINDER_LOCK_TOKEN": "\(token)",
      ]) { $1 })
    let descriptor = try signals.descriptor()
    while true {
      if let code = command.end() {
        return lease.isLost ? .lost : ExitCode(rawValue: code)
      }
      if lease.wait(orFor: descriptor) {
        note("lock '\(name)' is lost; ending the command")
        kill(command.pid, SIGTERM)
      }
      while let signal = signals.next(withinMilliseconds: 0) {
        switch signal {
        // A terminal also sends these to the command.
        case SIGCHLD, SIGINT, SIGQUIT: break
        default: kill(command.pid, signal)
        }
      }
    }
  }
}

/// Acquires a lock under the lease of the client's connection.
///
/// - Parameter waitMilliseconds: How long to wait; `nil` for no limit.
private func acquire(
  _ name: String, waitMilliseconds: UInt64?, _ client: BinderClient
) throws -> (token: UInt64, lease: HeldLease) {
  // The daemon counts the time.
  client.limits.milliseconds = nil
  let connection = try client.connected()
  var params: JSONObject = ["name": .string(name)]
  params["wait_ms"] = waitMilliseconds.map { .number(JSONNumber($0)) }
  let answer = try connection.call("locks.acquire", params).object
  guard case .object(let lock)? = answer["value"], let token = lock.uint("token"),
    let lease = lock.string("lease")
  else { throw Failure("the answer to locks.acquire has no token or lease", .bug) }
  client.limits = AnswerLimits()  // of later connections
  return (token, HeldLease(lease, client, connection))
}

/// Keeps the lease of a connection until a signal, which then ends this process.
///
/// - Throws: ``Failure`` if the lease has ended.
func keepLease(_ name: String, _ context: Context) throws {
  let signals = SignalWait([SIGINT, SIGTERM, SIGHUP])
  let descriptor = try signals.descriptor()
  var lease = HeldLease(name, context.client, try context.client.connected())
  while true {
    if lease.wait(orFor: descriptor) { throw Failure("lease '\(name)' has ended", .lost) }
    if let number = signals.next(withinMilliseconds: 0) {
      signals.end()
      signal(number, SIG_DFL)
      raise(number)
    }
  }
}

/// A lease of a connection, which this process keeps.
private struct HeldLease {
  /// Whether the daemon has ended it.
  private(set) var isLost = false

  private let name: String
  private let client: BinderClient

  /// The connection that keeps the lease; `nil` while the daemon is away.
  private var connection: BinderConnection?

  /// The pause between attempts to connect again, in milliseconds.
  private static let pause: CInt = 100

  init(_ name: String, _ client: BinderClient, _ connection: BinderConnection) {
    (self.name, self.client, self.connection) = (name, client, connection)
  }

  /// Waits until a descriptor is readable, and keeps the lease meanwhile.
  ///
  /// While the daemon is away, nothing ends with the lease. When it is back, it keeps the lease for
  /// a few seconds, in which this process resumes it.
  ///
  /// - Returns: Whether the lease has ended now.
  mutating func wait(orFor descriptor: CInt) -> Bool {
    var ends = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    if let connection {
      ends.append(pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0))
    }
    let isAway = connection == nil && !isLost
    poll(&ends, nfds_t(ends.count), isAway ? Self.pause : -1)
    if isAway, ends[0].revents == 0 { resume() }
    if let connection, ends.count > 1, ends[1].revents != 0 {
      do throws(ClientError) {
        try connection.receiveArrived()
      } catch {
        self.connection = nil
      }
    }
    return isAway && isLost
  }

  private mutating func resume() {
    do throws(ClientError) {
      let new = try client.connectWithoutWaiting()
      _ = try new.call(
        "lease.resume", ["lease": .string(name)], until: Deadline(inMilliseconds: 5_000))
      connection = new
    } catch {
      if case .refused = error { isLost = true }
    }
  }
}
