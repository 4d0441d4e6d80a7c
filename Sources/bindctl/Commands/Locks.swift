import BinderClient
import Console
import Glibc
import JSON
import Wire

let lockSyntax = Syntax(
  "lock", "Runs a command while holding a lock.",
  operands: [Operand("NAME", completes: .names(of: "locks")), Operand("CMD", .some)],
  options: [
    Option("wait", letter: "w", value: "TIME", "give up after TIME, 0s at once; otherwise waits"),
    waitDaemonOption,
  ],
  details: """
    Waits until no other program holds the lock, first come first served, and exits with the exit code of
    CMD. Exits with 5 if the lock was not free in time. A restart of the daemon ends neither the wait nor
    the lock. The lock is free when bindctl has ended, however it ends.

    The lock is kept until CMD and all that it has started have ended, in the background and in other
    sessions too; after a second a note names what bindctl waits for. A program that is to go on without
    the lock must be started by another one, for example with systemd-run.

    Signals are passed to CMD and all that it has started; when CMD has ended, those that are left after 5 s
    are ended with SIGKILL. If the lock is lost, because somebody has released it or another program got it,
    all are ended in the same way, and bindctl exits with 6. To notice a release, the user must be allowed to
    read locks/NAME. The same happens if bindctl is killed, for the process group of CMD and all programs
    that have kept the variable BINDCTL_COMMAND. Without /proc only the process group is part of CMD.

    CMD gets BINDER_LOCK, the name, and BINDER_LOCK_TOKEN, a number that grows with each holder: a resource
    that refuses lower numbers is safe from a holder that has lost the lock and does not know it.
    """,
  examples: [
    "bindctl lock backup -- ./backup.sh", "bindctl lock deploy --wait 10s -- make deploy",
    "bindctl get locks/backup",
  ])

var lockCommand: Command {
  Command(lockSyntax) { context in
    let lock = HeldLock(context.operand(0), context.client)
    let token = try lock.acquire(waitMilliseconds: try context.milliseconds("wait"))
    let words = Array(context.invocation.operands.dropFirst())
    let variables = ["BINDER_LOCK": lock.name, "BINDER_LOCK_TOKEN": "\(token)"]
    let signals = SignalWait([SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTTOU])
    let descriptor = try signals.descriptor()
    let command: CommandGroup
    do {
      command = try CommandGroup(
        words, environment: context.childEnvironment.merging(variables) { $1 })
    } catch {
      lock.release()
      throw error
    }
    let code = lock.run(command, signals, descriptor)
    lock.release()
    if let number = command.finish() {
      // The terminal would have sent it to bindctl and to the script that runs it as well.
      signals.end()
      signal(number, SIG_DFL)
      kill(0, number)
    }
    return lock.isLost ? .lost : ExitCode(rawValue: code)
  }
}

/// A lock that this process waits for and then holds.
private final class HeldLock {
  let name: String

  private let client: BinderClient
  private let lease: HeldLease

  /// The time at which the wait for the lock ends.
  private var end = Deadline.never

  /// The number of the holder; `nil` while the lock is not held.
  private var token: UInt64?
  private var refusal: ClientError?

  /// Whether somebody has released the lock, or another program has it.
  private var wasTaken = false

  private static let sub = "lock"

  init(_ name: String, _ client: BinderClient) {
    (self.name, self.client) = (name, client)
    lease = HeldLease(client)
    lease.onKept = { [unowned self] in if token == nil { ask() } else { watch() } }
    lease.onNotification = { [unowned self] method, params in
      if method == "next", params.string("sub") == Self.sub { check(params["value"]) }
    }
  }

  var isLost: Bool { wasTaken || lease.isLost }

  // MARK: Waiting

  /// Waits for the lock.
  ///
  /// - Parameter milliseconds: How long to wait; `nil` for no limit.
  /// - Returns: The token.
  func acquire(waitMilliseconds milliseconds: UInt64?) throws -> UInt64 {
    end = milliseconds.map { Deadline(inMilliseconds: $0) } ?? .never
    try lease.start()
    while true {
      if let token {
        client.limits = AnswerLimits()  // of later connections
        return token
      }
      if let refusal { throw refusal }
      // The daemon counts the time while it is there.
      if !lease.isConnected, end.isOver {
        throw Failure("lock '\(name)' was not free in time; the daemon is away", .refused)
      }
      // The place has ended with its lease: the program waits at the end again.
      if lease.isLost { lease.beginAgain() }
      lease.wait(orFor: nil, until: lease.isConnected ? .never : end)
      try lease.receive()
    }
  }

  private func ask() {
    var params: JSONObject = ["name": .string(name)]
    if end != .never { params["wait_ms"] = .number(JSONNumber(Int(end.pollTime))) }
    lease.send("locks.acquire", params) { [unowned self] answer in
      switch answer {
      case .failure(let error):
        if error.isOfConnection { try lease.lose(error) } else { refusal = error }
      case .success(let result):
        guard case .object(let lock)? = result.object["value"], let token = lock.uint("token")
        else { throw Failure("the answer to locks.acquire has no token", .bug) }
        self.token = token
        watch()
      }
    }
  }

  // MARK: Holding

  /// Follows the holder of the lock, as far as this user may read it.
  private func watch() {
    lease.send(
      "subscribe",
      [
        "source": .string("locks/\(name)"), "sub": .string(Self.sub), "pick": .string("/holder"),
      ]
    ) { [unowned self] answer in
      if case .success(let result) = answer { check(result.object["value"]) }
    }
  }

  private func check(_ holder: JSONValue?) {
    guard case .object(let holder)? = holder, holder.uint("token") == token else {
      wasTaken = true
      return
    }
  }

  /// Waits for the end of the command, and ends it if the lock is lost.
  func run(_ command: CommandGroup, _ signals: SignalWait, _ descriptor: CInt) -> CInt {
    var isEnding = false
    while true {
      if let code = command.end() { return code }
      lease.wait(orFor: descriptor, until: command.nextLook)
      do {
        try lease.receive()
      } catch {
        // The daemon has ended the connection for good, and with it the lease.
        wasTaken = true
      }
      if isLost, !isEnding {
        isEnding = true
        note("lock '\(name)' is lost; ending the command")
        command.terminate()
      }
      while let number = signals.next(withinMilliseconds: 0) {
        if number != SIGCHLD, number != SIGTTOU { command.signal(number) }
      }
    }
  }

  /// Ends the lease, so that the lock is free when this returns.
  func release() { lease.release() }
}
