package import Configuration
internal import Connections
internal import JSON
package import Model
package import Signals
internal import Wire

/// The administrative operations of the daemon.
package struct Administration {
  /// Reloads the configuration and applies the settings that do not need a restart, or only reports
  /// what a reload would change.
  package let reload: (_ isCheck: Bool) throws(ConfigurationFaults) -> ReloadReport

  /// Checks whether a client may perform an operation.
  package let decide: (AccessRequest, Peer) -> AccessDecision

  /// Returns the path of the configuration file; `nil` if there is none.
  package let file: () -> String?

  /// The clock, if it is not that of the machine.
  package let clock: ClockControl?

  package init(
    reload: @escaping (_ isCheck: Bool) throws(ConfigurationFaults) -> ReloadReport,
    decide: @escaping (AccessRequest, Peer) -> AccessDecision, file: @escaping () -> String?,
    clock: ClockControl? = nil
  ) {
    self.reload = reload
    self.decide = decide
    self.file = file
    self.clock = clock
  }
}

/// The clock of a private daemon, which clients may set.
package struct ClockControl {
  /// The lowest speed, so that a timer of a year waits for at most a thousand.
  package static let slowest = 0.001

  /// The highest speed.
  package static let fastest = 100_000.0

  /// The latest time that can be set.
  ///
  /// A clock goes on from there, and years have four digits.
  package static let latest: Int64 = 221_845_392_000_000_000  // 9000-01-01T00:00:00Z

  /// Returns the time in microseconds since 1970.
  package let now: () -> Int64

  /// Returns the seconds that pass in one second.
  package let speed: () -> Double

  /// Sets time and speed, and calls a function after the timers that are due have run.
  package let set:
    (_ time: Int64?, _ speed: Double?, _ ended: @escaping () -> Void) -> any Disposable

  package init(
    now: @escaping () -> Int64, speed: @escaping () -> Double,
    set:
      @escaping (
        _ time: Int64?, _ speed: Double?, _ ended: @escaping () -> Void
      ) -> any Disposable
  ) {
    (self.now, self.speed, self.set) = (now, speed, set)
  }
}

/// Offers the administration of the daemon to clients.
package func bindAdministration(_ catalog: Catalog, to administration: Administration) {
  catalog.query(
    "reload", "Reloads the configuration; new limits, retention and roles apply at once.",
    ReloadParameters.self,
    .members(
      .optional("file", .string), .init("changed", .array(.string)),
      .init("needs_restart", .array(.string)), .init("warnings", .array(ConfigurationFault.shape)))
  ) { _, call, parameters in
    do throws(ConfigurationFaults) {
      let report = try administration.reload(parameters.check ?? false)
      call.answer { JSONValue.object(report.shown).write(to: &$0) }
    } catch {
      call.refuse(WireError(error))
    }
  }
  catalog.query(
    "acl", "Tells whether a user with groups may do something, and by which rule.",
    AccessQuestion.self,
    .members(
      .init("allowed", .bool), .optional("role", .string), .init("rule", .string),
      .optional("file", .string), .optional("line", .natural),
      .optional("limits", .map(.natural)))
  ) { context, call, question throws(WireError) in
    let request = try question.request
    if case .call(let method) = request {
      guard context.catalog.methods.contains(method) else {
        throw context.access.methodNotFound(method)
      }
    }
    let decision = administration.decide(request, question.peer)
    call.answer { decision.shown(in: administration.file()).write(to: &$0) }
  }
  bindClock(catalog, administration.clock)
}

/// Offers to read and set the clock of a private daemon.
private func bindClock(_ catalog: Catalog, _ clock: ClockControl?) {
  catalog.query(
    "clock", "Sets the clock of a private daemon; answers after the timers that are due have run.",
    ClockSetting.self, .members(.init("time", .string), .init("speed", .number)), kind: .late,
    errors: ["no_clock", "clock_back"]
  ) { _, call, setting throws(WireError) in
    guard let clock else {
      throw WireError(
        .rejected, "this daemon has the clock of the machine; a session with --clock has its own",
        ["reason": .string("no_clock")])
    }
    let (time, speed) = (try setting.microseconds(after: clock.now()), setting.speed)
    if let speed, !(speed >= ClockControl.slowest && speed <= ClockControl.fastest) {
      throw .unusable(
        "speed", "a number from \(ClockControl.slowest) to \(Int(ClockControl.fastest))",
        "\(speed)")
    }
    guard let call = call.later() else { return }
    call.keep(
      clock.set(time, speed) {
        call.answer {
          $0.object {
            $0.member("time", JSONText(string: Timestamp(microseconds: clock.now()).text))
            $0.member("speed", JSONNumber(clock.speed()).map { JSONValue.number($0).text })
          }
        }
      })
  }
}

private struct ClockSetting: DocumentedParameters {
  let time: String?
  let speed: Double?

  static let docs = [
    "time": "A time such as 2026-01-02T03:04:05Z, not before the present one; left out, it stays.",
    "speed": "The seconds that pass in one second; left out, they stay.",
  ]

  /// Returns the time to set; `nil` if it stays.
  func microseconds(after now: Int64) throws(WireError) -> Int64? {
    guard let time else { return nil }
    guard let known = Timestamp(time) else {
      throw .unusable("time", "a time such as 2026-01-02T03:04:05Z", time)
    }
    guard known.microseconds <= ClockControl.latest else {
      throw .unusable("time", "a time before the year 9000", time)
    }
    guard known.microseconds >= now else {
      throw WireError(
        .rejected, "the clock goes only forward; it is \(Timestamp(microseconds: now).text)",
        ["reason": .string("clock_back")])
    }
    return known.microseconds
  }
}

private struct ReloadParameters: DocumentedParameters {
  let check: Bool?

  static let docs = ["check": "Whether to check the files and change nothing."]
}

private struct AccessQuestion: DocumentedParameters {
  let uid: UInt32
  let groups: [UInt32]?
  let method: String?
  let read: String?
  let write: String?

  static let docs = [
    "uid": "The user, as a number.", "groups": "All groups of the client, as numbers.",
    "method": "A method to call; give one of method, read and write.",
    "read": "A source to read.", "write": "A source to write.",
  ]

  var peer: Peer { Peer(uid: uid, groups: groups ?? []) }

  var request: AccessRequest {
    get throws(WireError) {
      switch (method, read, write) {
      case (let method?, nil, nil): return .call(method)
      case (nil, let source?, nil): return .read(source)
      case (nil, nil, let source?): return .write(source)
      default: throw .unusable("method", "one of method, read and write", "none or several")
      }
    }
  }
}

extension ReloadReport {
  fileprivate var shown: JSONObject {
    var object = JSONObject()
    if let file { object["file"] = .string(file) }
    object["changed"] = .array(changed.map { .string($0) })
    object["needs_restart"] = .array(needsRestart.map { .string($0) })
    object["warnings"] = .array(warnings.map(\.shown))
    return object
  }
}

extension AccessDecision {
  fileprivate func shown(in file: String?) -> JSONValue {
    var object: JSONObject = ["allowed": .bool(isAllowed)]
    if let role { object["role"] = .string(role) }
    object["rule"] = .string(rule)
    if let file, line > 0 {
      object["file"] = .string(file)
      object["line"] = .number(JSONNumber(line))
    }
    if !limits.isEmpty { object["limits"] = .object(JSONObject(limits)) }
    return .object(object)
  }
}

extension ConfigurationFault {
  fileprivate static var shape: Shape {
    .object([
      .init("file", .string), .optional("line", .natural), .optional("column", .natural),
      .init("message", .string),
    ])
  }

  var shown: JSONValue {
    var object: JSONObject = ["file": .string(file)]
    if line > 0 {
      object["line"] = .number(JSONNumber(line))
      object["column"] = .number(JSONNumber(column))
    }
    object["message"] = .string(message)
    return .object(object)
  }
}

extension WireError {
  /// Creates the error for a configuration that was rejected.
  fileprivate init(_ error: ConfigurationFaults) {
    let first = error.faults.first?.description ?? ""
    let others = error.faults.count - 1
    self.init(
      .rejected, others > 0 ? "\(first), and \(others) more" : first,
      [
        "reason": .string("bad_configuration"), "faults": .array(error.faults.map(\.shown)),
      ])
  }
}
