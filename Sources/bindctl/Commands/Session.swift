import BinderClient
import Console
import Glibc

let sessionSyntax = Syntax(
  "session", "Runs a command with its own private daemon.",
  operands: [Operand("CMD", .some)],
  options: [Option("journal", value: "FILE", "the daemon's journal; by default a temporary one")],
  details: """
    Starts a private binderd in a new directory, sets BINDER_SOCKET and BINDER_SESSION to its socket,
    runs CMD, stops the daemon and removes the directory. Exits with the exit code of CMD. A bindctl
    that CMD has left in the background then exits with 6.
    """,
  examples: ["bindctl session -- ./test.sh", "bindctl session bash"], endsOptionsAtOperand: true)

var sessionCommand: Command {
  Command(sessionSyntax) { context in
    guard context.invocation.value("host") == nil else {
      throw UsageError(
        "session starts a daemon on this machine, not with --host", command: "session")
    }
    // The daemon is stopped after the command, however the command ends.
    let signals = SignalWait([SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP])
    let daemon = try PrivateDaemon(
      context.daemonProgram, journal: context.invocation.value("journal"), signals)
    defer { daemon.end() }
    let command = try Child(
      context.invocation.operands,
      environment: [
        "BINDER_SOCKET": daemon.socket, "BINDER_SESSION": daemon.socket, "BINDER_HOST": "",
      ])
    var isDaemonGone = false
    while true {
      if let code = command.end() { return ExitCode(rawValue: code) }
      if !isDaemonGone, daemon.hasEnded {
        isDaemonGone = true
        note("the private daemon exited: \(daemon.log)")
      }
      switch signals.next() {
      // A terminal also sends these to the command.
      case SIGCHLD, SIGINT, SIGQUIT: break
      case let signal: kill(command.pid, signal)
      }
    }
  }
}

/// A private binderd in a temporary directory.
private final class PrivateDaemon {
  private let directory: String
  private let child: Child
  private var isEnded = false

  var socket: String { directory + "/bus.sock" }

  /// Starts the daemon and waits until it listens.
  init(_ program: String, journal: String?, _ signals: SignalWait) throws {
    // The path of the socket must not be too long.
    let longest = SocketAdvice.longestPath - "/bindctl.XXXXXX/bus.sock".utf8.count
    let parent = variable("TMPDIR").flatMap { $0.utf8.count <= longest ? $0 : nil } ?? "/tmp"
    var template = Array((parent + "/bindctl.XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw Failure("cannot create a directory in \(parent): \(String(cString: strerror(errno)))")
    }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let directory = directory
    do {
      child = try Child(
        [
          program, "--socket", directory + "/bus.sock", "--journal",
          journal ?? directory + "/journal.db",
        ],
        errorsTo: directory + "/log", isApart: true)
    } catch {
      removeDirectory(directory)
      throw error
    }
    try waitForSocket(signals)
  }

  /// The file alone is not enough: for a moment it exists and nobody listens.
  private func waitForSocket(_ signals: SignalWait) throws {
    let client = BinderClient(socket: socket, name: "bindctl session")
    while access(socket, F_OK) != 0 || (try? client.openSocket()) == nil {
      guard !hasEnded else {
        let log = log
        removeDirectory(directory)
        throw Failure("the private daemon did not start: \(log)", .noDaemon)
      }
      let signal = signals.next(withinMilliseconds: 2)
      if let signal, signal != SIGCHLD {
        end()
        throw Failure(
          "a signal arrived before the private daemon had started", .init(rawValue: 128 + signal))
      }
    }
  }

  /// Whether the daemon has exited.
  var hasEnded: Bool {
    if !isEnded { isEnded = child.end() != nil }
    return isEnded
  }

  /// The output of the daemon, in one line.
  var log: String {
    let text = (try? text(of: directory + "/log")) ?? ""
    return text.split(separator: "\n").joined(separator: "; ")
  }

  /// Stops the daemon and removes its directory; kills the daemon if it does not stop in time.
  func end() {
    if !hasEnded {
      kill(child.pid, SIGTERM)
      let deadline = Deadline(inMilliseconds: Self.endMilliseconds)
      while !hasEnded, !deadline.isOver { usleep(1_000) }
      if !hasEnded {
        note("the private daemon does not stop and is killed")
        kill(child.pid, SIGKILL)
        _ = child.wait()
      }
    }
    removeDirectory(directory)
  }

  /// The longest time for the daemon to stop, in milliseconds.
  private static let endMilliseconds: UInt64 = 30_000
}

/// Removes a directory and the files in it.
private func removeDirectory(_ path: String) {
  if let directory = opendir(path) {
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { unlink(path + "/" + name) }
    }
    closedir(directory)
  }
  rmdir(path)
}
