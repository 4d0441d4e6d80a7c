import BinderClient
import Console
import Glibc
import JSON
import Wire

let sessionSyntax = Syntax(
  "session", "Runs a command with its own private daemon.",
  operands: [Operand("CMD", .some)],
  options: [
    Option("journal", value: "FILE", "the daemon's journal; by default a temporary one"),
    Option(
      "from", value: "ORIGIN", "begin with a copy of the state of a daemon or of a journal file"),
    Option("at", value: "WHEN", "with --from: the state at a position or time"),
    Option("config", value: "FILE", "the daemon's configuration, with the files beside it"),
    Option("clock", value: "WHEN", "the time at which the daemon's clock starts"),
    Option("speed", value: "N", "let N seconds pass in one, 0.001 to 100000"),
  ],
  details: """
    Starts a private binderd in a new directory, sets BINDER_SOCKET and BINDER_SESSION to its socket,
    runs CMD, stops the daemon and removes the directory. Exits with the exit code of CMD. A bindctl
    that CMD has left in the background then exits with 6.

    --from copies the journal of ORIGIN, a socket or a file, and changes nothing there. The private daemon asks
    nothing of the network. Bindings, types, views and services in files are not in the journal: --config takes
    them from the directories of FILE, and without it those of your own configuration count. 'bindctl diff' in
    CMD shows how it differs from ORIGIN. With --at and a time, the clock starts there. Events and bindings follow
    the clock; leases and time limits follow the real one. 'bindctl clock' in CMD sets it while the daemon runs.
    """,
  examples: [
    "bindctl session -- ./test.sh", "bindctl session bash",
    "bindctl session --from /run/binder/bus.sock --at -1d --speed 60 bash",
  ], endsOptionsAtOperand: true)

var sessionCommand: Command {
  Command(sessionSyntax) { context in
    guard context.invocation.value("host") == nil else {
      throw UsageError(
        "session starts a daemon on this machine, not with --host", command: "session")
    }
    let origin = context.invocation.value("from")
    let branch = try origin.map { try Branch(of: $0, at: try context.moment("at")) }
    guard branch == nil || context.invocation.value("journal") == nil else {
      throw UsageError("either --from or --journal", command: "session")
    }
    guard branch != nil || context.invocation.value("at") == nil else {
      throw UsageError("--at is for --from", command: "session")
    }
    var words = try clockWords(context)
    if let file = context.invocation.value("config") {
      words += ["--config", file]
    } else if let origin {
      showFiles(of: origin)
    }
    // A branch has a clock of its own, which can be set later.
    if branch != nil { words += ["--offline"] + (words.isEmpty ? ["--speed", "1"] : []) }
    // The daemon is stopped after the command, however the command ends.
    let signals = SignalWait([SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP])
    let daemon = try PrivateDaemon(
      context.daemonProgram, words, journal: context.invocation.value("journal"), of: branch,
      signals)
    defer { daemon.end() }
    let command = try Child(
      context.invocation.operands,
      environment: [
        "BINDER_SOCKET": daemon.socket, "BINDER_SESSION": daemon.socket, "BINDER_HOST": "",
        "BINDER_ORIGIN": origin ?? "",
        // A position in the journal of another daemon.
        "BINDER_SEQ": "",
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

/// Shows what a branch does not have, because files of its origin declare it.
private func showFiles(of origin: String) {
  guard isSocket(origin), let connection = try? Context.client(origin, nil, nil).connected() else {
    return
  }
  func count(_ method: String, _ isFiled: (JSONObject) -> Bool) -> Int {
    let all = try? connection.call(method).object.array("value")
    return all?.count { isFiled($0.object) } ?? 0
  }
  let bindings = count("bindings.list") { $0.string("kept") == "file" }
  let types = count("types.list") { $0["file"] != nil }
  let parts = [(bindings, "bindings"), (types, "types")].filter { $0.0 > 0 }
  guard !parts.isEmpty else { return }
  note(
    "the session does not have what files of its origin declare: "
      + parts.map { "\($0.1): \($0.0)" }.joined(separator: ", ") + "; see --config")
}

let clockSyntax = Syntax(
  "clock", "Shows or sets the clock of a session.",
  operands: [Operand("WHEN", .optional)],
  options: [Option("speed", value: "N", "let N seconds pass in one, 0.001 to 100000")],
  details: """
    WHEN is a time by the clock of the session, see 'bindctl help when', or +TIME from now; the clock goes
    only forward. The command returns when the timers have run that are due then: 'every' gives one value for
    all times that were passed over. Only a session with --clock, --speed or --from has a clock of its own.
    """,
  examples: [
    "bindctl clock", "bindctl clock '23:59'", "bindctl clock +8h", "bindctl clock --speed 3600",
  ])

var clockCommand: Command {
  Command(clockSyntax) { context in
    let text = context.invocation.operands.first
    _ = try text.map { try moment($0, now: .now) }
    let connection = try context.client.connected()
    var params = JSONObject()
    if let text {
      let known = try connection.call("clock", [:]).object.string("time").flatMap { Timestamp($0) }
      params["time"] = .string(try moment(text, now: known ?? .now).text)
    }
    params["speed"] = try speed(context).flatMap { JSONNumber($0) }.map { .number($0) }
    let result = try connection.call("clock", params).object
    let time = result.string("time").flatMap { Timestamp($0) }
    context.output.result(
      result, bare: result["time"],
      human: (time?.shownHere ?? "") + "  speed " + (result["speed"]?.bare ?? ""))
    return .done
  }
}

/// Returns the time that a user names, by a clock.
private func moment(_ text: String, now: Timestamp) throws -> Timestamp {
  if text.hasPrefix("+") {
    guard let time = Duration.milliseconds(String(text.dropFirst())) else {
      throw UsageError("'\(text)' is not a time; for example: +90m", command: "clock")
    }
    return Timestamp(microseconds: now.microseconds + Int64(time) * 1000)
  }
  switch try When(text, now: now) {
  case .time(let time): return time
  case .now: return now
  case .seq, .start: throw UsageError("clock takes a time, not a position", command: "clock")
  }
}

/// Returns the option `--speed`.
private func speed(_ context: Context) throws -> Double? {
  guard let speed = context.invocation.value("speed") else { return nil }
  guard let number = Double(speed), number >= 0.001, number <= 100_000 else {
    throw UsageError(
      "--speed takes a number from 0.001 to 100000, not '\(speed)'",
      command: context.invocation.command)
  }
  return number
}

/// Returns the options for the clock of the private daemon.
private func clockWords(_ context: Context) throws -> [String] {
  var words: [String] = []
  switch (try context.moment("clock"), try context.moment("at")) {
  case (.time(let time)?, _), (nil, .time(let time)?): words = ["--clock", time.text]
  case (nil, _), (.now?, _): break
  case (.seq?, _), (.start?, _):
    throw UsageError("--clock takes a time, not a position", command: "session")
  }
  guard try speed(context) != nil, let speed = context.invocation.value("speed") else {
    return words
  }
  return words + ["--speed", speed]
}

/// The journal that a private daemon begins with a copy of.
struct Branch {
  private let words: [String]

  /// - Parameters:
  ///   - origin: The socket of a daemon, or its journal.
  ///   - moment: The moment of the copy; `nil` for now.
  init(of origin: String, at moment: When?) throws {
    var words: [String]
    if isSocket(origin) {
      let connection = try Context.client(origin, nil, nil).connected()
      let path = try JournalChoice.path(asking: connection, orBy: "--from JOURNAL")
      guard path.hasPrefix("/") else {
        throw Failure(
          "the daemon at \(origin) has its journal in a database; use --from postgres://…")
      }
      words = ["--journal", path, "--epoch", connection.greeting.epoch]
    } else {
      words = ["--journal", origin]
    }
    switch moment {
    case nil, .now?: break
    case .seq(let seq)?: words += ["--at", "\(seq)"]
    case .time(let time)?: words += ["--at", time.text]
    case .start?: words += ["--at", "0"]
    }
    self.words = words
  }

  /// Makes the copy.
  fileprivate func make(at path: String, by program: String) throws {
    let (code, _) = try Child.output(
      of: [program, "--branch", path, "--progress", "none"] + words)
    guard code == 0 else {
      throw Failure("the branch was not made", ExitCode(rawValue: code == EX_CONFIG ? 1 : code))
    }
  }
}

/// Whether a path is that of a socket.
func isSocket(_ path: String) -> Bool {
  var status = stat()
  return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
}

/// A private binderd in a temporary directory.
final class PrivateDaemon {
  private let directory: String
  private let child: Child
  private var isEnded = false

  var socket: String { directory + "/bus.sock" }

  /// Starts the daemon and waits until it listens.
  ///
  /// - Parameter words: More options of the daemon.
  init(
    _ program: String, _ words: [String], journal: String? = nil, of branch: Branch?,
    _ signals: SignalWait
  ) throws {
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
      try branch?.make(at: directory + "/journal.db", by: program)
      child = try Child(
        [
          program, "--socket", directory + "/bus.sock", "--journal",
          journal ?? directory + "/journal.db",
        ] + words,
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
