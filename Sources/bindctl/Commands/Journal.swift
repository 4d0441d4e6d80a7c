import BinderClient
import CSupport
import Console
import Glibc
import JSON
import Wire

let journalSyntax = Syntax(
  "journal",
  "Maintains the journal: info, verify, sql, backup, restore, export, import, compact, init, copy.",
  operands: [
    Operand(
      "WORK",
      choices: [
        "info", "verify", "sql", "backup", "restore", "export", "import", "compact", "init", "copy",
      ]),
    Operand("FILE", .optional),
  ],
  options: [
    Option("file", value: "JOURNAL", "use this journal, even if a daemon answers"),
    Option(
      "without-replication",
      "init, copy, restore, import, compact: accept a PostgreSQL server that waits for no standby"),
    Option(
      "keep", value: "N", "backup: remove the oldest backups in the directory, so that N remain"),
    Option("before", value: "WHEN", "compact: remove all events before a position or a time"),
    Option(
      "force", "replace a file that exists; compact: trust the system clock although it has jumped"),
    Option(
      "adopt", "restore, import, copy: make a journal for this daemon of one with another name"),
    Option(
      "progress", value: "FORM", "bar, lines, json or none; by default a bar on a terminal only",
      completes: .words(["bar", "lines", "json", "none"])),
  ],
  details: """
      info           shows positions, streams, types, snapshots and sizes
      verify         reads every event and lists damage; exits with 1 if any
      sql SELECT     prints the rows of an SQL statement that reads, live too
      backup FILE    writes a verified copy to FILE, complete or not at all
      backup DIR     the same, under a new name in DIR; see --keep
      restore FILE   creates the journal from a backup, with a new epoch
      export [FILE]  writes lines of JSON to FILE, by default to stdout
      import FILE    creates the journal from such lines, or reports a wrong line
      compact        removes events that retention does not keep; values stay
      init           creates an empty journal in a PostgreSQL database
      copy JOURNAL   copies it to another place, with all positions and a new epoch

    If a daemon answers, the command uses the journal of that daemon and no other: it compares the
    epochs, and it fails if your role may not call journal.info. Without a daemon it uses the journal
    that binderd would open, except that info and compact then need --file. --file names another
    journal.

    A backup in a directory is named by its time, the beginning of the epoch and its last position.
    --keep counts and removes only backups of the same epoch, so a new journal never displaces the
    backups of an old one. binderd-backup.timer makes one every day; see systemd/README.md.

    A journal is a file or a PostgreSQL database: --file postgres://HOST,HOST/DATABASE, and so for
    copy. All of the above works on both; a backup is always a file.

    Stop the daemon before restore, import and copy. For a service, also stop its socket, which would start
    it again: systemctl stop binderd.socket binderd.service. The new journal gets the owner and mode
    of the old journal, or of the directory. With --force the old journal is kept as JOURNAL.old, or
    JOURNAL.old.2.
    """,
  examples: [
    "bindctl journal info",
    "bindctl journal sql 'SELECT stream, count(*) FROM event GROUP BY stream'",
    "bindctl journal backup /var/backups/binder.db",
    "bindctl journal backup /var/backups/binder --keep 7",
    "bindctl journal verify --file /var/backups/binder.db", "bindctl journal compact --before -30d",
  ])

var journalCommand: Command {
  Command(journalSyntax) { context in
    let file = context.invocation.value("file")
    let operand = context.invocation.operands.dropFirst().first
    if file != nil || !["info", "compact"].contains(context.operand(0)) {
      let words = context.invocation.operands.joined(separator: " ")
      try context.checkIsLocal("the journal", "bindctl journal \(words)")
    }
    switch (context.operand(0), operand) {
    case ("info", nil): return try showInfo(file, context)
    case ("compact", nil): return try compact(file, context)
    case ("verify", nil): return try work(["--verify"], context)
    case ("init", nil): return try make(["--init"], context)
    case ("copy", let target?): return try make(["--copy", target], context)
    case ("sql", let statement?): return try work(["--sql", statement], context)
    case ("sql", nil): throw UsageError("missing argument SELECT", command: "journal")
    case ("export", _): return try work(["--export", operand ?? "-"], context)
    case ("restore", let origin?), ("import", let origin?):
      return try work(["--\(context.operand(0))", origin], context)
    case ("backup", let target?): return try backUp(to: target, context)
    case (_, nil): throw UsageError("missing argument FILE", command: "journal")
    case (_, let word?):
      throw UsageError("unexpected argument '\(word)'", command: "journal")
    }
  }
}

private func backUp(to target: String, _ context: Context) throws -> ExitCode {
  guard target != "-" else {
    throw UsageError(
      "backup takes a file or a directory, not '-'; 'bindctl journal export' writes to stdout",
      command: "journal")
  }
  let count = try context.number("keep")
  guard BackupDirectory.exists(at: target) else {
    guard count == nil else {
      throw Failure("--keep needs a directory, but \(target) is none; create it first")
    }
    return try work(["--backup", target], context)
  }
  if let count, count < 1 || count > 1_000_000 {
    throw UsageError("--keep takes a number from 1 to 1000000, not '\(count)'", command: "journal")
  }
  return try BackupDirectory(path: target).add(keeping: count.map { Int($0) }, context) { path in
    let words = try taskWords(["--backup", path], context)
    // The name of the copy is not yet the final one, so its report is not shown.
    let code = try Child.output(of: words).code
    return code == EX_CONFIG ? ExitCode.no.rawValue : code
  }
}

extension Context {
  /// The options that binderd gets as they are.
  fileprivate var flags: [String] {
    ["force", "adopt", "without-replication"].filter(invocation.has).map { "--\($0)" }
  }
}

/// Runs a binderd process that makes a journal while no daemon uses it.
private func make(_ words: [String], _ context: Context) throws -> ExitCode {
  var words = [context.daemonProgram] + words
  if let file = context.invocation.value("file") { words += ["--journal", file] }
  words += context.flags
  if let form = context.invocation.value("progress") { words += ["--progress", form] }
  let code = try Child(words).wait()
  return code == EX_USAGE ? .usage : code == EX_CONFIG ? .no : ExitCode(rawValue: code)
}

/// Runs a binderd process for a task on a journal, because only binderd accesses journals.
private func work(_ words: [String], _ context: Context) throws -> ExitCode {
  let code = try Child(taskWords(words, context)).wait()
  // EX_USAGE and EX_CONFIG: binderd has printed the reason.
  return code == EX_USAGE ? .usage : code == EX_CONFIG ? .no : ExitCode(rawValue: code)
}

/// Returns the command line of binderd for a task.
private func taskWords(_ words: [String], _ context: Context) throws -> [String] {
  let makesJournal = words[0] == "--restore" || words[0] == "--import"
  var words =
    [context.daemonProgram] + words + (try JournalChoice(context, isRead: !makesJournal).words)
  words += context.flags
  if let form = context.invocation.value("progress") { words += ["--progress", form] }
  return words
}

// MARK: Info

private func showInfo(_ file: String?, _ context: Context) throws -> ExitCode {
  let figures: JSONObject
  if let file {
    let (code, text) = try Child.output(of: [context.daemonProgram, "--info", "--journal", file])
    guard code == 0 else { return .no }
    figures =
      (try? JSONText(parsing: text, maxMembers: JSONLimits.anyMembers))?.object ?? JSONObject()
  } else {
    figures = try context.client.call("journal.info").object.figures
  }
  context.output.result(figures, bare: nil, human: describe(figures))
  return .done
}

private func describe(_ figures: JSONObject) -> String {
  func number(_ name: String) -> String { figures[name]?.bare ?? "?" }
  var lines = [
    "\(number("path")): epoch \(number("epoch"))",
    "\(number("count")) events, \(number("first")) to \(number("last")), of \(number("streams")) streams",
    "\(size(figures.uint("bytes"))), \(size(figures.uint("free_bytes"))) of it free",
  ]
  let written = figures.objects("most_written")
  for (title, member) in [("most events", "events"), ("most bytes of data", "bytes")] {
    let most = written.sorted {
      ($1.uint(member) ?? 0, $0.string("stream") ?? "")
        < ($0.uint(member) ?? 0, $1.string("stream") ?? "")
    }
    lines.append("\(title):")
    let names = most.prefix(5).map { $0.string("stream") ?? "" }
    let width = names.map(\.count).max() ?? 0
    for (name, stream) in zip(names, most) {
      let space = String(repeating: " ", count: width - name.count + 2)
      let events = stream["events"]?.bare ?? "?"
      lines.append("  \(name)\(space)\(events) events, \(size(stream.uint("bytes")))")
    }
  }
  lines.append("types:")
  if case .object(let types)? = figures["types"] {
    let byCount = types.members.sorted { ($1.value.count, $0.name) < ($0.value.count, $1.name) }
    lines += byCount.map { "  \($0.value.text.text) \($0.name)" }
  }
  for snapshot in figures.objects("snapshots") {
    lines.append(
      "snapshot of \(snapshot["services"]?.bare ?? "?") services at \(snapshot["seq"]?.bare ?? "?"), "
        + size(snapshot.uint("bytes")))
  }
  for rule in figures.objects("retention") {
    var kept: [String] = []
    if let age = rule.uint("max_age_s") { kept.append(Amount.time(seconds: Double(age))) }
    if let count = rule.uint("max_count") { kept.append("\(count) events") }
    if let bytes = rule.uint("max_bytes") { kept.append(size(bytes)) }
    if let bytes = rule.uint("max_stream_bytes") { kept.append("\(size(bytes)) of each stream") }
    lines.append("\(rule["streams"]?.bare ?? "?") is kept for \(kept.joined(separator: ", "))")
  }
  for stream in figures.objects("filling") {
    lines.append(
      "\(stream["stream"]?.bare ?? "?") has \(size(stream.uint("bytes"))); beyond "
        + "\(size(stream.uint("max"))) its oldest events are removed")
  }
  if case .object(let last)? = figures["compaction"] {
    lines.append(
      "\(last["count"]?.bare ?? "?") events of \(last["from"]?.bare ?? "?") to "
        + "\(last["to"]?.bare ?? "?") were removed last")
  }
  if let ahead = figures.uint("clock_ahead_s") {
    lines.append(
      "the clock is \(Amount.time(seconds: Double(ahead))) ahead of the expected time; see compact --force"
    )
  }
  if let behind = figures.uint("clock_behind_s") {
    lines.append(
      "the clock is \(Amount.time(seconds: Double(behind))) behind the time of the last event; see the daemon's log"
    )
  }
  return lines.joined(separator: "\n")
}

private func size(_ bytes: UInt64?) -> String {
  bytes.map { Amount.bytes(Double($0)) } ?? "?"
}

// MARK: Compact

private func compact(_ file: String?, _ context: Context) throws -> ExitCode {
  let before = try context.moment("before")
  let isForced = context.invocation.has("force")
  if let file {
    var words = [context.daemonProgram, "--compact", "--journal", file]
    words += context.flags
    switch before {
    case .seq(let seq)?: words += ["--before", "\(seq)"]
    case nil: break
    default: throw UsageError("with --file, --before takes a position", command: "journal")
    }
    let code = try Child(words).wait()
    return code == 0 ? .done : .no
  }
  let connection = try context.client.connected()
  var params = JSONObject()
  switch before {
  case nil: break
  case .seq(let seq)?: params["before"] = .object(["seq": .number(JSONNumber(seq))])
  case .time(let time)?: params["before"] = .object(["time": .string(time.text)])
  case .start?: params["before"] = .object(["seq": .number(JSONNumber(0))])
  case .now?:
    params["before"] = .object(["seq": .number(JSONNumber(connection.greeting.last))])
  }
  if isForced { params["force"] = .bool(true) }
  let done = try waitForCompaction(try connection.send("journal.compact", params), context).figures
  context.output.result(
    done, bare: done["removed"],
    human:
      "\(done["removed"]?.bare ?? "?") events removed; the first is \(done["first"]?.bare ?? "?")")
  return .done
}

/// Returns the reply to a compaction, and shows its progress meanwhile.
private func waitForCompaction(_ id: Int, _ context: Context) throws -> JSONObject {
  let connection = try context.client.connected()
  let isTerminal = isatty(STDERR_FILENO) == 1 && !Style.isDumb(variable)
  let word = context.invocation.value("progress")
  guard let form = ProgressMeter.Form(word, isTerminal: isTerminal) else {
    throw UsageError(
      "--progress takes bar, lines, json or none, not '\(word ?? "")'", command: "journal")
  }
  var time: UInt64 = 0
  var meter = ProgressMeter("compact", form, milliseconds: time)
  var (done, total): (UInt64, UInt64) = (0, 0)
  while true {
    if let answer = try answer(to: id, connection) {
      write(meter.end(done: total, total: total), to: STDERR_FILENO)
      return answer
    }
    time += 500
    let progress = try connection.call("get", ["source": .string("daemon/journal")]).object.figures
    (done, total) = (progress.uint("done") ?? done, progress.uint("total") ?? total)
    if let text = meter.show(done: done, total: total, milliseconds: time) {
      write(text, to: STDERR_FILENO)
    }
  }
}

/// Returns the reply to a request; `nil` if it does not arrive within 500 ms.
private func answer(to id: Int, _ connection: BinderConnection) throws -> JSONObject? {
  let result: Result<JSONText, ClientError> = Result { () throws(ClientError) in
    try connection.answer(to: id, until: Deadline(inMilliseconds: 500))
  }
  switch result {
  case .success(let answer): return answer.object
  case .failure(.timedOut): return nil
  case .failure(let error): throw error
  }
}

extension JSONObject {
  /// The object in `value`; empty if there is none.
  fileprivate var figures: JSONObject {
    if case .object(let figures)? = self["value"] { figures } else { JSONObject() }
  }

  func objects(_ name: String) -> [JSONObject] {
    guard case .array(let elements)? = self[name] else { return [] }
    return elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
  }
}

extension JSONValue {
  fileprivate var count: Int64 {
    if case .number(let number) = self { number.int64 ?? 0 } else { 0 }
  }
}

/// The journal for a task, as arguments for a binderd process.
///
/// While a daemon answers, it is that daemon's journal and no other: a backup of the wrong journal
/// is worse than none.
struct JournalChoice {
  /// The binderd arguments that name the journal; empty for binderd's default journal.
  let words: [String]

  /// - Parameter isRead: Whether the task reads the journal; otherwise it creates one.
  init(_ context: Context, isRead: Bool) throws {
    if let file = context.invocation.value("file") {
      words = ["--journal", file]
      return
    }
    let connection: BinderConnection
    do throws(ClientError) {
      connection = try context.client.connected()
    } catch {
      guard case .noDaemon(let attempts) = error else { throw error }
      try Self.checkNobodyIsMeant(attempts, error)
      note("no daemon answers; using the journal that \(context.daemon.text) would open")
      words = []
      return
    }
    let path = try Self.path(asking: connection)
    guard path.hasPrefix("/") else {
      // A database, whose connection string only the configuration has.
      guard isRead else {
        throw Failure(
          "the daemon at \(connection.path) has its journal in a database; name it with --file"
            + " JOURNAL")
      }
      words = ["--epoch", connection.greeting.epoch]
      return
    }
    words = ["--journal", path] + (isRead ? ["--epoch", connection.greeting.epoch] : [])
    if isRead { try Self.checkIsHere(path, connection) }
  }

  /// Checks that no daemon was named, and that none can be hidden by permissions.
  ///
  /// - Throws: ``Failure`` otherwise, because that daemon's journal is unknown.
  private static func checkNobodyIsMeant(
    _ attempts: [ClientError.Attempt], _ error: ClientError
  ) throws {
    let isNamed = attempts.contains { ["--socket", "$BINDER_SOCKET"].contains($0.place.origin) }
    guard isNamed || error.isDenied else { return }
    throw Failure(
      "\(error); name the journal with --file JOURNAL",
      error.isDenied ? .refused : .noDaemon)
  }

  /// Returns the path of the journal, or the description of a database, as reported by the daemon.
  ///
  /// - Parameter option: The option that names the journal instead, for a message.
  static func path(
    asking connection: BinderConnection, orBy option: String = "--file JOURNAL"
  ) throws -> String {
    let figures: JSONObject
    do throws(ClientError) {
      figures = try connection.call("journal.info").object
    } catch {
      guard case .refused(let refusal) = error,
        refusal.name == .methodNotFound || refusal.name == .permissionDenied
      else { throw error }
      throw Failure(
        "permission denied: your role may not ask the daemon at \(connection.path) for its journal"
          + " (journal.info); run this as root or as the daemon's user, or name a file with "
          + option,
        .refused)
    }
    guard case .object(let value)? = figures["value"] else {
      throw Failure("the daemon at \(connection.path) does not describe its journal")
    }
    // A copy of the journal on this machine may have the same path and epoch.
    if let boot = value.string("boot"), let own = Self.bootID, boot != own,
      !isHere(connection)
    {
      throw Failure(
        "the daemon at \(connection.path) seems to run on another machine (its boot ID differs), so its"
          + " journal cannot be read here; run this command there, or name a file with \(option)")
    }
    guard let path = value.string("path") else {
      throw Failure(
        "the daemon at \(connection.path) does not report the path of its journal; name it with "
          + option)
    }
    return path
  }

  /// Returns whether the socket leads to a daemon on this machine, although the IDs of the boot differ.
  ///
  /// A container mounts another ID, which the sandbox of the unit hides. The socket is that of the
  /// daemon or of its service manager, in this process namespace; a forwarded one is that of ssh.
  private static func isHere(_ connection: BinderConnection) -> Bool {
    var peer = cposix_credentials()
    guard cposix_peer_credentials(connection.descriptor, &peer) == 0, peer.pid > 0,
      let name = try? text(of: "/proc/\(peer.pid)/comm")
    else { return false }
    // The kernel cuts the name of a program.
    return [String(connection.greeting.server.name.prefix(15)), "systemd"].contains(name)
  }

  /// The ID of this boot of the system; `nil` if the kernel does not provide one.
  private static var bootID: String? {
    let id = try? text(of: "/proc/sys/kernel/random/boot_id")
    return id.flatMap { $0.split(separator: "\n").first.map(String.init) }
  }

  /// Checks that this process can read the file.
  ///
  /// - Throws: ``Failure`` if it cannot.
  private static func checkIsHere(_ path: String, _ connection: BinderConnection) throws {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file < 0 else {
      close(file)
      return
    }
    let reason = String(cString: strerror(errno))
    throw Failure(
      "the daemon at \(connection.path) has its journal at \(path), which cannot be read here"
        + " (\(reason)); run this where the daemon runs, as root or as its user, or name a file with"
        + " --file JOURNAL",
      errno == EACCES ? .refused : .no)
  }
}
