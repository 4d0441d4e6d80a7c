internal import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Journal
internal import Model
internal import Signals
internal import Wire

/// Offers the check of a text, and its trial on the events of the journal without effect.
func bindTrials(_ catalog: Catalog, to scripts: ScriptsService) {
  catalog.query(
    "scripts.check", "Checks the text of a service, and tells all its faults.",
    CheckScript.self,
    .members(
      .init("faults", .array(ScriptTrial.faultShape)),
      .optional("warnings", .array(ScriptTrial.faultShape)), .optional("service", .string),
      .optional("methods", .array(.string)), .optional("sources", .array(.string)))
  ) { context, call, check in
    try context.checkIsOwner(scripts)
    var (faults, script): ([ConfigurationFault], Script?) = ([], nil)
    do throws(ConfigurationFaults) {
      script = try check.script(scripts)
    } catch {
      faults = error.faults
    }
    call.answer { buffer in
      buffer.object { buffer in
        buffer.member("faults", JSONValue.array(faults.map(\.shownPlace)).text)
        guard let script else { return }
        let warnings = script.warnings(path: check.file ?? script.file)
        buffer.member("warnings", JSONValue.array(warnings.map(\.shownPlace)).text)
        buffer.member("service", script.name)
        let methods = script.declaration.commands + script.declaration.queries
        buffer.member(
          "methods",
          JSONText(elements: methods.map { JSONText(string: "\(script.name).\($0.name)") })
        )
        buffer.member(
          "sources",
          JSONText(elements: script.declaration.tables.map { JSONText(string: $0.name) }))
      }
    }
  }
  catalog.query(
    "scripts.try", "Folds the events of the journal by a text, and runs calls, without effect.",
    TryScript.self,
    .members(
      .init("service", .string), .init("events", .natural), .init("milliseconds", .natural),
      .optional("stopped", .string), .init("differs", .natural),
      .init("sources", .array(.map(.any))), .init("calls", .array(.map(.any))),
      .init("warnings", .array(ScriptTrial.faultShape))),
    kind: .late, errors: ["bad_service"]
  ) { context, call, attempt in
    try context.checkIsOwner(scripts)
    let script: Script
    do throws(ConfigurationFaults) {
      script = try attempt.script(scripts)
    } catch {
      throw WireError(
        .rejected, error.description,
        ["reason": .string("bad_service"), "faults": .array(error.faults.map(\.shownPlace))])
    }
    let calls = try attempt.parsedCalls(of: script)
    let begun = catalog.clock()
    guard let call = call.later() else { return }
    let caller = context.caller
    var state = ScriptState(script)
    state.isWatched = true
    scripts.host.fold(script.name, from: state).observe { event in
      switch event {
      case .next(let folded):
        let trial = ScriptTrial(script, folded.state, scripts)
        let time = catalog.clock() - begun
        let results = calls.map { trial.run($0, by: caller) }
        call.answer { buffer in
          let path = attempt.file ?? script.file
          buffer.append(trial.answer(time, results, attempt.diff ?? false, path).text)
        }
      case .failed(let error): call.refuse(catalog.error(error))
      case .completed: break
      }
    }.dispose(in: scripts.trials)
  }
}

extension CallContext {
  /// - Throws: `permission_denied` unless the client administers the daemon: the limits of a script
  ///   protect from mistakes, not from an attacker.
  fileprivate func checkIsOwner(_ scripts: ScriptsService) throws(WireError) {
    guard caller.uid == 0 || scripts.host.owners.contains(caller.uid) else {
      throw WireError(
        .permissionDenied, "only administrators of the daemon check and try services",
        ["need": .string("administrator")])
    }
  }
}

private struct CheckScript: DocumentedParameters {
  let text: String
  let file: String?

  func script(_ scripts: ScriptsService) throws(ConfigurationFaults) -> Script {
    try Script.read(text, file, scripts)
  }

  static let docs = [
    "text": "The text of the service.", "file": "The name of its file, for messages.",
  ]
}

private struct TryScript: DocumentedParameters {
  struct Call: Decodable {
    let method: String
    let params: JSONText?
  }

  let text: String
  let file: String?
  let calls: [Call]?
  let diff: Bool?

  func script(_ scripts: ScriptsService) throws(ConfigurationFaults) -> Script {
    try Script.read(text, file, scripts)
  }

  func parsedCalls(of script: Script) throws(WireError) -> [ScriptTrial.Call] {
    try (calls ?? []).map { call throws(WireError) in
      let prefix = script.name + "."
      let name =
        call.method.hasPrefix(prefix) ? String(call.method.dropFirst(prefix.count)) : call.method
      let queries = script.declaration.queries
      let all = script.declaration.commands + queries
      guard let method = all.first(where: { $0.name == name }) else {
        let guess = nearest(to: name, among: all.map(\.name)).map { "; did you mean '\($0)'?" }
        throw .unusable(
          "calls", "'\(script.name)' has no method '\(name)'\(guess ?? "")", "'\(name)'")
      }
      return ScriptTrial.Call(
        name: name, isQuery: queries.contains { $0.name == name },
        parameters: try ScriptParameters(method.parameters).checked(call.params))
    }
  }

  static let docs = [
    "text": "The text of the service.", "file": "The name of its file, for messages.",
    "calls": "Calls to run: method and params.",
    "diff": "Whether to show the sources that would differ, 100 at most.",
  ]
}

extension Script {
  fileprivate static func read(
    _ text: String, _ file: String?, _ scripts: ScriptsService
  ) throws(ConfigurationFaults) -> Script {
    let path = file ?? "service"
    guard text.utf8.count <= maxBytes else {
      throw ConfigurationFaults([
        ConfigurationFault(
          file: path, message: "it has \(text.utf8.count) bytes; at most \(maxBytes)")
      ])
    }
    let base = String(path.split(separator: "/").last ?? "service")
    let name = base.hasSuffix(".service") ? String(base.dropLast(".service".count)) : nil
    let script = try Script(text, named: name, file: base, path: path, in: scripts.language)
    let faults = script.faults(in: path, among: scripts.eventTypes())
    guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    return script
  }
}

/// A state of its own that a text has made from the events of the journal, and calls on it.
private final class ScriptTrial: ScriptWorld {
  struct Call {
    let name: String
    let isQuery: Bool
    let parameters: JSONText
  }

  static let faultShape = Shape.object([
    .init("file", .string), .init("line", .natural), .init("column", .natural),
    .init("message", .string),
  ])

  private static let mostShown = 100
  private let script: Script
  private let scripts: ScriptsService
  private var state: ScriptState
  private let stopped: StoppedFold?
  private let count: Int
  private let before: [String: JSONText]
  private var events: [JSONText] = []

  /// The copies of rows that were changed and not assigned.
  private var lost: [ScriptName] = []

  init(_ script: Script, _ state: ScriptState, _ scripts: ScriptsService) {
    var state = state
    state.checkVariables()
    (self.script, self.state, self.scripts) = (script, state, scripts)
    (stopped, count) = (state.stopped, state.appliedCount)
    var before: [String: JSONText] = [:]
    for source in state.sources { before[source] = state.value(of: source) }
    self.before = before
    keepLost(of: state.interpreter)
  }

  private func keepLost(of interpreter: (any ScriptInterpreter)?) {
    for change in interpreter?.lostChanges ?? [] where !lost.contains(change) {
      lost.append(change)
    }
  }

  func run(_ call: Call, by caller: Peer) -> JSONText {
    events = []
    var kept = state
    var outcome = ScriptOutcome.failed(.fault("the fold of the past has failed"))
    if stopped == nil {
      do throws(ScriptFailure) {
        let call = ScriptCall(
          call.name, isQuery: call.isQuery, call.parameters, uid: caller.uid, pid: caller.pid)
        let interpreter = try state.makeInterpreter()
        outcome = interpreter.call(call, in: self)
        keepLost(of: interpreter)
        if interpreter.hasChanged {
          (kept.interpreter, state.interpreter) = (nil, nil)
          if case .failed = outcome {} else { outcome = .failed(.changed(script)) }
        }
      } catch {
        outcome = .failed(error)
      }
    }
    var error: String?
    var value: JSONText?
    switch outcome {
    case .done(let result): value = result
    case .refused(let refusal): error = "\(refusal)"
    case .failed(let failure): error = "\(failure)"
    }
    // What a refused command has recorded is rolled back.
    if error != nil { (state, events) = (kept, []) }
    var text = ByteBuffer()
    text.object {
      $0.member("method", "\(script.name).\(call.name)")
      $0.member("value", value)
      $0.member("error", error)
      $0.member("events", JSONText(elements: events))
    }
    return JSONText(trusted: text.string)
  }

  private func warnings(_ path: String) -> [ConfigurationFault] {
    lost.sorted { $0.line < $1.line }.map {
      ConfigurationFault(
        file: path, line: $0.line, column: Script.column(ofLine: $0.line, in: script.text),
        message: "a copy of a row of '\($0.name)', read here, was changed and not assigned")
    }
  }

  func answer(
    _ milliseconds: UInt64, _ results: [JSONText], _ isShown: Bool, _ path: String
  ) -> JSONText {
    let service = scripts.services[script.name]
    var present: [String: JSONText] = [:]
    if let now = service?.ledger.committed {
      for source in now.sources { present[source] = now.value(of: source) }
    }
    let names = Set(before.keys).union(present.keys).filter { before[$0] != present[$0] }
    var text = ByteBuffer()
    text.object { text in
      text.member("service", script.name)
      text.member("events", count)
      text.member("milliseconds", milliseconds)
      if let stopped {
        text.member(
          "stopped", "event \(stopped.seq) (\(stopped.type(of: script.name))): \(stopped.failure)")
      }
      text.member("differs", names.count)
      text.array("sources") { text in
        guard isShown else { return }
        for name in names.sorted().prefix(Self.mostShown) {
          text.separate()
          text.object {
            $0.member("source", name)
            $0.member("before", present[name])
            $0.member("after", before[name])
          }
        }
      }
      text.member("calls", JSONText(elements: results))
      text.member("warnings", JSONValue.array(warnings(path).map(\.shownPlace)).text)
    }
    return JSONText(trusted: text.string)
  }

  // MARK: The world of the calls

  func row(_ key: String, of table: Int) -> JSONText? { state.row(key, of: table) }
  func keys(of table: Int, atMost most: Int) -> [String]? { state.keys(of: table, atMost: most) }

  func set(_ key: String, of table: Int, to row: JSONText?) -> String? {
    "the state is changed by events only"
  }

  func record(_ kind: String, _ data: JSONText, in stream: String?) -> ScriptRecording {
    if let rule = ScriptEvent.fault(data, in: stream, of: script.name) { return .refused(rule) }
    var text = ByteBuffer()
    text.object {
      $0.member("type", "\(script.name).\(kind)")
      $0.member("stream", stream ?? script.name)
      $0.member("data", data)
    }
    events.append(JSONText(trusted: text.string))
    let place = ScriptPlace(
      seq: scripts.host.last + UInt64(events.count), version: 1, time: now, user: 0,
      stream: stream ?? script.name)
    var copy = state
    copy.apply(ScriptEvent(kind, data), at: place)
    state = copy
    return copy.stopped == nil ? .done : .failed
  }

  var now: Int64 { scripts.host.now }
}

extension ConfigurationFault {
  var shownPlace: JSONValue {
    .object([
      "file": .string(file), "line": .number(JSONNumber(line)),
      "column": .number(JSONNumber(column)), "message": .string(message),
    ])
  }
}
