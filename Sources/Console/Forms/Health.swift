/// The result of one check of a daemon's health.
package struct HealthCheck: Equatable, Sendable {
  /// The state of what was checked, named as by monitoring plugins.
  package enum State: String, CaseIterable, Sendable {
    case ok
    case warning
    case critical
    /// The check failed.
    case unknown
    /// The check does not apply here, or the user may not make it.
    case skipped
  }

  package let name: String
  package let state: State

  /// The finding in one sentence.
  package let text: String

  /// The command to type, or another next step; `nil` if there is none.
  package let fix: String?

  package init(_ name: String, _ state: State, _ text: String, fix: String? = nil) {
    (self.name, self.state, self.text, self.fix) = (name, state, text, fix)
  }
}

/// The health of a daemon: all checks, and the worst state.
package struct Health {
  package private(set) var checks: [HealthCheck] = []

  /// The name of the daemon, and the command that reaches it.
  package var (daemon, program) = ("binderd", "bindctl")

  package init() {}

  /// Adds a check, whose next step is written for binderd.
  package mutating func add(_ check: HealthCheck) {
    let fix = check.fix?.replacing("binderd", with: daemon)
      .replacing("bindctl ", with: program + " ")
    checks.append(HealthCheck(check.name, check.state, check.text, fix: fix))
  }

  /// The worst state; skipped checks do not count.
  package var state: HealthCheck.State {
    let order: [HealthCheck.State] = [.critical, .warning, .unknown]
    return order.first { state in checks.contains { $0.state == state } } ?? .ok
  }

  /// The exit code of a monitoring plugin: 0 ok, 1 warning, 2 critical, 3 unknown.
  package var exitCode: Int32 {
    switch state {
    case .ok, .skipped: 0
    case .warning: 1
    case .critical: 2
    case .unknown: 3
    }
  }

  /// The line that a monitoring system shows: the worst state and its findings.
  package var summary: String {
    let findings = checks.filter { $0.state == state && state != .ok }.map {
      "\($0.name): \($0.text)"
    }
    let good = checks.count { $0.state == .ok }
    let text =
      findings.isEmpty
      ? "\(good) \(good == 1 ? "check" : "checks") passed" : findings.joined(separator: "; ")
    return "\(daemon.uppercased()) \(state.rawValue.uppercased()): \(text)"
  }
}

// The rules behind the checks.
extension HealthCheck {
  /// Checks that bindctl and the daemon have the same version.
  package static func versions(bindctl: String, binderd: String) -> HealthCheck {
    guard bindctl != binderd else { return .init("version", .ok, "\(binderd), as bindctl") }
    return .init(
      "version", .warning, "bindctl is \(bindctl), but the running daemon is \(binderd)",
      fix: "systemctl restart binderd.service")
  }

  /// Checks the room on the file system of the journal.
  package static func disk(available: UInt64, of total: UInt64, path: String) -> HealthCheck {
    let percent = total == 0 ? 0 : available / max(1, total / 100)
    let text = "\(size(available)) (\(percent) %) free at \(path)"
    if available < 64 << 20 || percent < 2 {
      return .init("disk", .critical, text, fix: "remove files there; df -h \(path)")
    }
    if available < 512 << 20 || percent < 10 {
      return .init(
        "disk", .warning, text,
        fix: "remove files there, or shorten the retention; bindctl journal compact")
    }
    return .init("disk", .ok, text)
  }

  /// Checks the size of the state.
  package static func state(bytes: UInt64, of limit: UInt64) -> HealthCheck {
    let percent = bytes * 100 / max(1, limit)
    let text = "\(size(bytes)) of \(size(limit)) (\(percent) %)"
    guard percent >= 80 else { return .init("state", .ok, text) }
    return .init(
      "state", percent >= 95 ? .critical : .warning, text,
      fix: "remove values, or raise \"limits\": {\"state\": …} and type: bindctl reload")
  }

  /// Checks the number of clients.
  package static func clients(_ count: UInt64, of limit: UInt64) -> HealthCheck {
    let text = "\(count) of \(limit) connections"
    guard count * 100 / max(1, limit) >= 80 else { return .init("clients", .ok, text) }
    return .init("clients", .warning, text, fix: "bindctl get daemon/connections")
  }

  /// Checks how many files the daemon may have open; each client needs one.
  package static func files(limit: UInt64) -> HealthCheck {
    guard limit < 1024 else { return .init("files", .ok, "\(limit) may be open") }
    return .init(
      "files", .warning, "only \(limit) files may be open, and each client is one",
      fix: "raise LimitNOFILE= of the unit, or 'ulimit -n', and restart the daemon")
  }

  /// Shows how the daemon sends small outputs to several clients.
  package static func sending(by way: String) -> HealthCheck {
    let text =
      way == "io_uring"
      ? "io_uring sends to several clients with one call"
      : "each client needs a call, because the system has no io_uring or does not allow it"
    return .init("sending", .ok, text)
  }

  /// The limits of one user that `daemon/users` has figures for, with the figure of each.
  package static let usesOfUser = [
    ("connections_user", "connections"), ("state_user", "state_bytes"),
    ("memory_user", "memory_bytes"), ("buffered_user", "buffered_bytes"),
  ]

  /// Checks what a user has of the limits that the role sets.
  ///
  /// - Parameter uses: The name of each limit, how much is used, and the limit.
  package static func limits(
    ofUser user: String, _ limits: String, _ uses: [(name: String, used: UInt64, limit: UInt64)]
  ) -> HealthCheck {
    guard let full = uses.first(where: { $0.used >= $0.limit - $0.limit / 5 }) else {
      return .init("limits", .ok, "\(user): \(limits)")
    }
    return .init(
      "limits", .warning, "\(user) has \(full.used) of \(full.limit): \(full.name) of the role",
      fix: "bindctl stats --users; raise the limit in the role and type: bindctl reload")
  }

  /// Checks the clock of the daemon.
  ///
  /// - Parameters:
  ///   - ahead: Seconds by which the wall clock is ahead of the expected time; `nil` for none.
  ///   - behind: Seconds by which it is behind the last event; `nil` for none.
  package static func clock(ahead: UInt64?, behind: UInt64?) -> HealthCheck {
    if let ahead {
      return .init(
        "clock", .warning,
        "the clock jumped \(time(ahead)) ahead; age-based retention is paused",
        fix: "if the time is right: bindctl journal compact --force")
    }
    if let behind {
      return .init(
        "clock", .warning, "the clock is \(time(behind)) behind the last event",
        fix: "timedatectl; new events get the time of the last one until the clock catches up")
    }
    return .init("clock", .ok, "fits the times of the events")
  }

  /// Checks that the journal accepts writes, and says which events it has.
  package static func journal(
    _ path: String, count: UInt64, first: UInt64, last: UInt64, isWritable: Bool
  ) -> HealthCheck {
    // The retention removes events of a stream also behind the first of all.
    let removed = last - min(last, count)
    let text =
      "\(path): \(count) \(count == 1 ? "event" : "events"), "
      + (removed == 0 ? "all since the first" : "the first is \(first), \(removed) were removed")
    guard !isWritable else { return .init("journal", .ok, text) }
    return .init(
      "journal", .critical, text + "; it accepts no writes",
      fix: "journalctl -u binderd -n 50; a full disk, or --read-only")
  }

  /// Checks that the journal does not grow unnoticed, and that no stream loses events unexpectedly.
  ///
  /// - Parameter filling: The streams that have most of what the default rule keeps of each.
  package static func retention(rules: Int, bytes: UInt64, filling: [String] = []) -> HealthCheck {
    if let first = filling.first {
      let others =
        filling.count == 1
        ? "" : " and \(filling.count - 1) \(filling.count == 2 ? "other" : "others")"
      return .init(
        "retention", .warning,
        "\(first)\(others): near the 1 GiB that is kept of each stream; then the oldest events go",
        fix: "add {\"streams\": \"\(first)\", \"max_stream_bytes\": \"1G\"} to \"retention\" in "
          + "binder.conf, with as much as you want to keep, then type: bindctl reload")
    }
    guard rules == 0 else {
      return .init("retention", .ok, rules == 1 ? "1 rule" : "\(rules) rules")
    }
    guard bytes >= 1 << 30 else {
      return .init("retention", .ok, "no rules; 1 GiB of each stream is kept")
    }
    return .init(
      "retention", .warning,
      "no rules, so 1 GiB of each stream is kept, and the journal has \(size(bytes))",
      fix: "set \"retention\" in binder.conf, then type: bindctl reload")
  }

  /// Checks the bindings that the daemon keeps.
  ///
  /// - Parameters:
  ///   - failures: The names of those that do not pass values on, each with the reason.
  ///   - count: The number of all.
  package static func bindings(
    _ failures: [(name: String, reason: String)], notRun: [String] = [], of count: Int
  ) -> HealthCheck {
    guard let first = failures.first else {
      guard !notRun.isEmpty else { return .init("bindings", .ok, "\(count) active") }
      let names = notRun.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
      let others = notRun.count > 3 ? " and \(notRun.count - 3) more" : ""
      let verb = notRun.count == 1 ? "has" : "have"
      return .init(
        "bindings", .ok,
        "\(count) active; by their schedule \(names)\(others) \(verb) not run yet")
    }
    let others = failures.count > 1 ? ", and \(failures.count - 1) more" : ""
    return .init(
      "bindings", .warning, "'\(first.name)' does not pass values on: \(first.reason)\(others)",
      fix: "bindctl bindings")
  }

  /// The silence of a daemon that can take over, in milliseconds.
  private static let maxSilence: UInt64 = 3_000

  /// Checks the daemons that share a journal.
  package static func cluster(_ cluster: ClusterReport) -> HealthCheck {
    if let reason = cluster.away {
      return .init(
        "cluster", .critical,
        "\(cluster.node) cannot reach the database: \(reason); values are served, commands wait",
        fix: "look at the database; journalctl -u binderd -n 20")
    }
    guard let active = cluster.active else {
      return .init(
        "cluster", .critical, "no daemon is active, so no command is taken",
        fix: "bindctl cluster; journalctl -u binderd -n 20")
    }
    let silent = cluster.nodes.filter { $0.role == "silent" }.map(\.name)
    guard silent.isEmpty else {
      return .init(
        "cluster", .warning,
        "\(silent.joined(separator: ", ")) \(silent.count == 1 ? "shows" : "show") no sign of life",
        fix: "start binderd there, or stop it in order; bindctl cluster")
    }
    let own = cluster.nodes.first { $0.name == cluster.node }
    let behind = own.map { cluster.last - min(cluster.last, $0.position) } ?? 0
    guard behind < 10_000 else {
      return .init(
        "cluster", .warning, "\(cluster.node) is \(behind) events behind '\(active)'",
        fix: "look at its processor and its way to the database; bindctl cluster")
    }
    let versions = Set(cluster.nodes.map(\.version)).sorted()
    guard versions.count < 2 else {
      return .init(
        "cluster", .warning, "the daemons have the versions \(versions.joined(separator: ", "))",
        fix: "upgrade all of them, those that follow first")
    }
    let others = cluster.nodes.count { $0.name != active && $0.silent < maxSilence }
    return .init(
      "cluster", .ok,
      "'\(active)' is active; \(others < 1 ? "no other daemon" : "\(others) more") can take over")
  }

  /// Checks a unit of systemd.
  ///
  /// - Parameter properties: The output of `systemctl show`, by name.
  package static func unit(
    _ name: String, _ properties: [String: String], manager: String
  ) -> HealthCheck {
    let (active, result) = (properties["ActiveState"] ?? "", properties["Result"] ?? "success")
    let isSocket = name.hasSuffix(".socket")
    let journalctl = manager + " -n 50"
    if active == "failed" || result != "success" && active != "active" {
      return .init(
        name, .critical, "\(active), result \(result)",
        fix: "\(journalctl.replacingPrefix("systemctl", "journalctl")) -u \(name);"
          + " then \(manager) reset-failed \(name)")
    }
    if let count = properties["NRestarts"].flatMap(UInt64.init), count > 0 {
      return .init(
        name, .warning, "\(active), restarted \(count) times by systemd",
        fix: "\(journalctl.replacingPrefix("systemctl", "journalctl")) -u \(name)")
    }
    guard active == "active" || !isSocket else {
      return .init(name, .critical, active, fix: "\(manager) start \(name)")
    }
    return .init(name, .ok, active)
  }

  // MARK: Numbers

  private static func size(_ bytes: UInt64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var (value, unit) = (bytes, 0)
    while value >= 10 << 10, unit < units.count - 1 { (value, unit) = (value >> 10, unit + 1) }
    return "\(value) \(units[unit])"
  }

  private static func time(_ seconds: UInt64) -> String {
    seconds < 7200 ? "\(seconds) s" : "\(seconds / 3600) hours"
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, _ other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }
}

/// The daemons that share a journal, as one of them sees them.
package struct ClusterReport {
  package struct Node {
    package let name: String
    package let role: String
    package let position: UInt64

    /// The time since its last sign of life, in milliseconds.
    package let silent: UInt64
    package let version: String

    package init(name: String, role: String, position: UInt64, silent: UInt64, version: String) {
      (self.name, self.role, self.position) = (name, role, position)
      (self.silent, self.version) = (silent, version)
    }
  }

  /// The name of the daemon that sees them.
  package let node: String

  /// The name of the active daemon; `nil` if there is none.
  package let active: String?

  /// Why it cannot reach the database; `nil` if it can.
  package let away: String?
  package let nodes: [Node]

  package init(node: String, active: String?, away: String?, nodes: [Node]) {
    (self.node, self.active, self.away, self.nodes) = (node, active, away, nodes)
  }

  /// The last position that some daemon has applied.
  package var last: UInt64 { nodes.map(\.position).max() ?? 0 }
}
