import BinderClient
import Console
import Glibc
import JSON
import Wire

let doctorSyntax = Syntax(
  "doctor", "Checks the health of the daemon, and says what to type.",
  details: """
    Checks the socket, the units of systemd, the group, the versions, the cluster, the journal, the
    clock, the retention, the disk, the state, the clients, the bindings, the services in files, the
    sources that are silent, the events that readers have parked, and the configuration. Checks that do
    not apply, or that the user may not make, are skipped; root makes most.

    The exit codes are those of monitoring plugins: 0 ok, 1 warning, 2 critical, 3 unknown. The first
    line is a summary. With --host it runs on that machine.
    """,
  examples: ["bindctl doctor", "bindctl doctor -j | jq '.checks[] | select(.state != \"ok\")'"])

var doctorCommand: Command {
  Command(doctorSyntax) { context in
    if let remote = context.remote {
      let form = context.output.form == .json ? ["-j"] : []
      let color = context.output.style.isOn ? ["--color", "always"] : []
      let code = try Child(remote.command(["doctor"] + form + color)).wait()
      return ExitCode(rawValue: code == 255 ? 3 : code)
    }
    var doctor = Doctor(context)
    let health = doctor.run()
    context.output.result(
      health.document, bare: .string(health.state.rawValue), human: health.lines(context.output))
    return ExitCode(rawValue: health.exitCode)
  }
}

extension HealthCheck.State {
  /// Returns a text in the colour of the state.
  fileprivate func styled(_ text: String, _ style: Style) -> String {
    switch self {
    case .ok: style.green(text)
    case .warning, .unknown: style.yellow(text)
    case .critical: style.red(text)
    case .skipped: style.dim(text)
    }
  }
}

extension Health {
  fileprivate var document: JSONObject {
    [
      "state": .string(state.rawValue),
      "checks": .array(
        checks.map { check in
          var object: JSONObject = [
            "name": .string(check.name), "state": .string(check.state.rawValue),
            "text": .string(check.text),
          ]
          if let fix = check.fix { object["fix"] = .string(fix) }
          return .object(object)
        }),
    ]
  }

  fileprivate func lines(_ output: Output) -> String {
    let width = checks.map(\.name.count).max() ?? 0
    let style = output.style
    var lines = [style.bold(summary)]
    for check in checks {
      let pad = String(repeating: " ", count: width - check.name.count)
      let state = check.state.rawValue
      let rest = String(repeating: " ", count: 8 - state.count)
      let head = "\(check.state.styled(state, style))\(rest)  \(check.name)\(pad)  "
      lines += hanging(check.text, after: head, indent: 12 + width, output)
      if let fix = check.fix {
        lines += hanging(fix, after: String(repeating: " ", count: 10) + "→ ", indent: 12, output)
      }
    }
    return lines.joined(separator: "\n")
  }
}

/// Returns a text as lines that fit the terminal; all but the first are indented.
private func hanging(
  _ text: String, after head: String, indent: Int, _ output: Output
) -> [String] {
  guard let width = output.width, width - indent >= 20 else { return [head + text] }
  let space = String(repeating: " ", count: indent)
  return text.wrapped(width: width - indent).enumerated().map { ($0 == 0 ? head : space) + $1 }
}

/// Makes the checks one after the other.
private struct Doctor {
  private let context: Context
  private var health = Health()

  /// The socket that is checked: the one that answers, otherwise the first place.
  private var path: String

  /// The units of the socket; `nil` if it has none.
  private var units: Units?

  init(_ context: Context) {
    self.context = context
    path = context.client.search.places[0].path
    (health.daemon, health.program) = (context.daemon.text, bindctlCommand)
  }

  mutating func run() -> Health {
    let connection = checkSocket()
    checkUnits()
    checkGroup()
    guard let connection else { return health }
    health.add(
      .versions(bindctl: Release.version, binderd: connection.greeting.server.version))
    let isShared = checkCluster(connection)
    checkJournal(connection, isShared: isShared)
    checkUsage(connection)
    checkBindings(connection)
    checkServices(connection)
    checkSilence(connection)
    checkReaders(connection)
    checkConfiguration(connection)
    return health
  }

  // MARK: Socket, units, group

  private mutating func checkSocket() -> BinderConnection? {
    do throws(ClientError) {
      let connection = try context.client.connected(until: Deadline(inMilliseconds: 10_000))
      path = connection.path
      health.daemon = connection.greeting.server.name
      let clock = ContinuousClock()
      let start = clock.now
      _ = try connection.call("ping")
      let microseconds = Int((clock.now - start) / .microseconds(1))
      health.add(.init("socket", .ok, "\(path) answers in \(microseconds) µs"))
      return connection
    } catch {
      guard error != .lost(reason: "permission_denied") else {
        health.add(
          .init(
            "socket", .critical, ClientError.noRole,
            fix: "add the user to a role in binder.conf, then type: bindctl reload"))
        return nil
      }
      var fix: String?
      if case .noDaemon(let attempts) = error, !error.isDenied {
        fix = SocketAdvice(attempts).nextStep
      }
      health.add(.init("socket", .critical, "\(error)", fix: fix))
      return nil
    }
  }

  /// Checks the units whose socket is the one in use; skips if it belongs to no unit.
  private mutating func checkUnits() {
    units = Units(of: health.daemon, at: path)
    if let units {
      health.add(.unit("\(units.name).socket", units.socket, manager: units.shown))
      health.add(.unit("\(units.name).service", units.service, manager: units.shown))
      return
    }
    health.add(.init("unit", .skipped, "\(path) is not the socket of a unit"))
  }

  private mutating func checkGroup() {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return health.add(.init("group", .skipped, "\(path) does not exist, or is hidden"))
    }
    let group = getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) }
    let name = group ?? "\(status.st_gid)"
    let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(getuid())"
    if getuid() == 0 || status.st_uid == getuid() {
      return health.add(.init("group", .ok, "\(user) owns the socket, or is root"))
    }
    guard let obstacle = SocketAdvice.obstacle(to: path) else {
      let reason = status.st_mode & 0o002 == 0 ? "group \(name)" : "the socket is open to all users"
      return health.add(.init("group", .ok, "\(user) may connect (\(reason))"))
    }
    guard obstacle.admitsGroup else {
      return health.add(
        .init(
          "group", .critical, "\(user) may not connect: \(obstacle.text)",
          fix: "ask \(obstacle.ownerName), or use another socket with --socket PATH"))
    }
    let isMember = Account(user)?.groups.contains(obstacle.group) ?? false
    health.add(
      .init(
        "group", .critical,
        isMember
          ? "\(user) is a member of \(obstacle.groupName), but not in this session"
          : "\(user) is not a member of \(obstacle.groupName)",
        fix: isMember
          ? "log in again" : "\(obstacle.command(for: user) ?? ""), then log in again"))
  }

  // MARK: Journal

  private mutating func checkJournal(_ connection: BinderConnection, isShared: Bool) {
    let answer: JSONObject
    do throws(ClientError) {
      answer = try connection.call("journal.info").object
    } catch {
      let isHidden =
        if case .refused(let error) = error { error.name == .methodNotFound } else { false }
      return health.add(
        .init(
          "journal", isHidden ? .skipped : .unknown,
          isHidden ? "your role may not call journal.info; run this as root" : "\(error)"))
    }
    guard case .object(let journal)? = answer["value"] else { return }
    let bytes = journal.uint("bytes") ?? 0
    let path = journal.string("path") ?? ""
    // A daemon that follows writes nothing itself.
    let isWritable = isShared || metrics(connection)["binderd_journal_writable"] != 0
    health.add(
      .journal(
        path, count: journal.uint("count") ?? 0, first: journal.uint("first") ?? 1,
        last: journal.uint("last") ?? 0, isWritable: isWritable))
    health.add(
      .clock(ahead: journal.uint("clock_ahead_s"), behind: journal.uint("clock_behind_s")))
    let rules = if case .array(let rules)? = journal["retention"] { rules.count } else { 0 }
    let filling = journal.objects("filling").compactMap { $0.string("stream") }
    health.add(.retention(rules: rules, bytes: bytes, filling: filling))
    if isShared {
      health.add(.init("disk", .skipped, "the events are in a database"))
    } else {
      checkDisk(path)
    }
  }

  /// Checks the daemons that share the journal; returns whether it may be shared.
  private mutating func checkCluster(_ connection: BinderConnection) -> Bool {
    guard
      let answer = try? connection.call("get", ["source": .string("daemon/cluster")]).object,
      case .object(let cluster)? = answer["value"]
    else { return false }
    health.add(.cluster(ClusterReport(cluster)))
    return true
  }

  private mutating func checkDisk(_ path: String) {
    let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    var status = statvfs()
    guard statvfs(directory.isEmpty ? "/" : directory, &status) == 0 else {
      let reason = String(cString: strerror(errno))
      return health.add(.init("disk", .skipped, "\(directory): \(reason); run this as root"))
    }
    let unit = UInt64(status.f_frsize)
    health.add(
      .disk(
        available: UInt64(status.f_bavail) * unit, of: UInt64(status.f_blocks) * unit,
        path: directory))
  }

  // MARK: Usage

  private mutating func checkUsage(_ connection: BinderConnection) {
    guard let answer = try? connection.call("stats").object,
      case .object(let stats)? = answer["stats"],
      case .object(let limits)? = answer["limits"]
    else { return health.add(.init("state", .skipped, "your role may not call stats")) }
    health.add(
      .state(bytes: stats.uint("state_bytes") ?? 0, of: limits.uint("state") ?? .max))
    health.add(
      .clients(stats.uint("connections") ?? 0, of: limits.uint("connections") ?? .max))
    if let limit = stats.uint("open_files_limit") { health.add(.files(limit: limit)) }
    if let sending = stats.string("sending") { health.add(.sending(by: sending)) }
    checkRoleLimits(connection)
    let dropped = metrics(connection)["binderd_log_lines_dropped"] ?? 0
    health.add(
      dropped == 0
        ? .init("log", .ok, "no line was dropped")
        : .init(
          "log", .warning, "\(UInt64(dropped)) lines were dropped",
          fix: "look for the reader of the log that is too slow; systemctl status systemd-journald")
    )
  }

  /// Checks the users whose roles set limits, or else the user of this command.
  private mutating func checkRoleLimits(_ connection: BinderConnection) {
    if let answer = try? connection.call("get", ["source": .string("daemon/users")]).object,
      case .array(let users)? = answer["value"]
    {
      for case .object(let user) in users {
        guard case .object(let limits)? = user["limits"] else { continue }
        let uses = HealthCheck.usesOfUser.map { limit, member in
          (limit, user.uint(member) ?? 0, limits.uint(limit) ?? .max)
        }
        health.add(
          .limits(
            ofUser: user.string("user") ?? user["uid"]?.bare ?? "", shownLimits(user) ?? "", uses))
      }
    } else if let answer = try? connection.call("whoami").object, let limits = shownLimits(answer) {
      health.add(.init("limits", .ok, "your role '\(answer.string("role") ?? "")' sets \(limits)"))
    }
  }

  /// Returns the metrics that have one value, by name.
  private func metrics(_ connection: BinderConnection) -> [String: Double] {
    guard let answer = try? connection.call("metrics").object,
      case .array(let list)? = answer["value"]
    else { return [:] }
    var values: [String: Double] = [:]
    for case .object(let metric) in list {
      guard let name = metric.string("name"), case .array(let samples)? = metric["samples"],
        samples.count == 1, case .object(let sample) = samples[0],
        case .number(let number)? = sample["value"]
      else { continue }
      values[name] = number.double
    }
    return values
  }

  private mutating func checkBindings(_ connection: BinderConnection) {
    guard let answer = try? connection.call("bindings.list").object,
      case .array(let bindings)? = answer["value"]
    else { return health.add(.init("bindings", .skipped, "your role may not call bindings.list")) }
    var failures: [(name: String, reason: String)] = []
    var waiting: [String] = []
    for case .object(let binding) in bindings {
      let isActive = binding["active"] == .bool(true)
      let name = binding.string("binding") ?? ""
      if let reason = binding.string("failure") ?? (isActive ? nil : "it could not be made") {
        failures.append((name, reason))
      } else if binding["ran_at"] == nil, binding.string("expr")?.contains("every(") == true {
        waiting.append(name)
      }
    }
    health.add(.bindings(failures, notRun: waiting, of: bindings.count))
    if !bindings.isEmpty, let units, let fix = units.bootFix {
      health.add(.init("boot", .warning, units.bootWarning, fix: fix))
    }
  }

  /// Checks the services in files: each must run, with its newest text.
  private mutating func checkServices(_ connection: BinderConnection) {
    guard let answer = try? connection.call("scripts.status").object else { return }
    let services = answer.array("services")
    for case .object(let service) in services {
      let name = service.string("service") ?? ""
      if let message = service.string("message") {
        health.add(
          .init(
            "services", .critical, message,
            fix: "correct \(name).service, then type: bindctl reload"))
      } else if let reason = service.string("refused") {
        health.add(
          .init(
            "services", .warning, "the new text of service '\(name)' is not used: \(reason)",
            fix: "correct \(name).service, then type: bindctl reload"))
      }
    }
    let isFine = services.allSatisfy { service in
      guard case .object(let service) = service else { return false }
      return service["message"] == nil && service["refused"] == nil
    }
    if isFine, !services.isEmpty {
      health.add(.init("services", .ok, "\(services.count) in files"))
    }
  }

  /// Checks the sources that must get a value in time, as their types say.
  private mutating func checkSilence(_ connection: BinderConnection) {
    guard
      let answer = try? connection.call("get", ["source": .string("daemon/silent")]).object,
      case .array(let silent)? = answer["value"],
      let types = try? connection.call("types.list").object.array("value"),
      types.contains(where: { $0.object["silent_s"] != nil })
    else { return }
    for case .object(let one) in silent.prefix(5) {
      let source = one.string("source") ?? ""
      let name = one.string("title").map { "\($0) (\(source))" } ?? source
      let last = one.string("since").map {
        "the last value is of \(Timestamp($0)?.shownHere ?? $0)"
      }
      health.add(
        .init(
          "silent", .warning,
          "\(name) is silent: \(last ?? "no value came since the daemon started")",
          fix: "bindctl history \(source)"))
    }
    if silent.count > 5 {
      health.add(
        .init(
          "silent", .warning, "\(silent.count - 5) more sources are silent",
          fix: "bindctl get daemon/silent"))
    }
    if silent.isEmpty { health.add(.init("silent", .ok, "no source is silent for too long")) }
  }

  /// Names durable readers with parked events: work that was given up.
  private mutating func checkReaders(_ connection: BinderConnection) {
    guard
      let answer = try? connection.call("get", ["source": .string("daemon/readers")]).object
    else { return }
    for case .object(let reader) in answer.array("value") {
      guard let parked = reader.uint("parked"), parked > 0, let name = reader.string("reader")
      else { continue }
      let events = parked == 1 ? "a parked event" : "\(parked) parked events"
      health.add(
        .init("readers", .warning, "'\(name)' has \(events)", fix: "bindctl get readers/\(name)"))
    }
  }

  // MARK: Configuration

  /// Checks the files of the daemon, as it would read them now.
  private mutating func checkConfiguration(_ connection: BinderConnection) {
    do throws(ClientError) {
      let report = try connection.call("reload", ["check": .bool(true)]).object
      let file = report.string("file") ?? "the defaults"
      let (restart, changed) = (report.words("needs_restart"), report.words("changed"))
      let warnings = report.array("warnings")
      for warning in warnings {
        // Some warnings have their own command, or say what helps.
        let separators = [
          SocketAdmission.Obstacle.commandSeparator, SocketAdmission.Obstacle.stepSeparator,
        ]
        let parts = separators.lazy.map { warning.place.components(separatedBy: $0) }.first {
          $0.step != nil
        }
        health.add(
          .init(
            "config", .warning, parts?.text ?? warning.place,
            fix: parts?.step ?? warning.object.string("file").flatMap(fixOfType)
              ?? "correct the file, then type: bindctl reload"))
      }
      if !restart.isEmpty {
        health.add(
          .init(
            "config", .warning, "\(file): \(restart) changed, and needs a restart",
            fix: "systemctl restart binderd.service"))
      } else if !changed.isEmpty {
        health.add(
          .init(
            "config", .warning, "\(file): \(changed) changed, and was not applied",
            fix: "bindctl reload"))
      } else if warnings.isEmpty {
        health.add(.init("config", .ok, file))
      }
    } catch {
      guard case .refused(let refusal) = error, refusal.name == .rejected else {
        return health.add(
          .init("config", .skipped, "your role may not call reload; run this as root"))
      }
      health.add(
        .init(
          "config", .critical, refusal.message, fix: "correct the file, then type: bindctl reload"))
    }
  }
}

/// Returns what helps against a value that does not fit a declared type; `nil` for the name of a file.
private func fixOfType(_ place: String) -> String? {
  let start = "the declared type of "
  guard place.hasPrefix(start) else { return nil }
  let pattern = place.dropFirst(start.count)
  return "set a value that fits, or type: \(bindctlCommand) describe '\(pattern)' --unset"
}

extension String {
  /// Returns the text before and the step after a separator.
  fileprivate func components(separatedBy separator: String) -> (text: String, step: String?) {
    guard let range = firstRange(of: separator) else { return (self, nil) }
    return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
  }
}

extension JSONObject {
  /// The texts of an array, separated by commas; empty if there is none.
  fileprivate func words(_ name: String) -> String {
    guard case .array(let elements)? = self[name] else { return "" }
    return elements.map(\.bare).joined(separator: ", ")
  }
}
