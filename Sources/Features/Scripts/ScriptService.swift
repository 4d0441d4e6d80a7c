package import EventSourcing
internal import JSON
internal import Model
internal import Signals

/// A service in a script: its present text, and the state that its folds have made.
package final class ScriptService {
  package var name: String { script.name }
  package private(set) var script: Script
  package let ledger: Ledger<ScriptState>
  private let host: ServiceHost

  /// Whether the past is being folded by a first or by another text.
  package internal(set) var isFolding = false

  /// Whether it has no state yet, because its first text folds the past.
  package internal(set) var isNew = false { didSet { updateWaiting() } }

  /// Whether another state takes the place of the present one.
  ///
  /// Until that is done its commands wait, and events of others are applied afterwards.
  package private(set) var isReplacing = false { didSet { updateWaiting() } }

  /// Called when it is done, or when the first text is in use or refused.
  private var waiting: [() -> Void] = []

  /// The new text that could not be used, with the reason; `nil` if there is none.
  package internal(set) var refused: String?

  init(_ script: Script, in host: ServiceHost) {
    (self.script, self.host) = (script, host)
    ledger = Ledger(script.name, in: host, from: ScriptState(script))
    ledger.undone.observeNext { [unowned self] in
      // The event of another service that it could not apply is rolled back.
      guard let stopped, stopped.seq > self.host.last else { return }
      ledger.pending.stopped = nil
    }.dispose(in: bag)
  }

  private func updateWaiting() {
    let isWaiting = isNew || isReplacing
    guard ledger.pending.isWaiting != isWaiting else { return }
    ledger.pending.isWaiting = isWaiting
    ledger.committed.isWaiting = isWaiting
  }

  /// Calls a function when another state has taken the place of the present one, or when the first text
  /// is refused.
  func wait(_ body: @escaping () -> Void) { waiting.append(body) }

  /// Calls the functions that wait.
  func endWaiting() {
    let waiting = waiting
    self.waiting = []
    for body in waiting { body() }
  }

  private let bag = DisposeBag()

  /// Returns the fold that has stopped it since the last call, with an event that is durable; `nil` if
  /// none has.
  func popStop() -> StoppedFold? {
    guard ledger.committed.hasStopped else { return nil }
    ledger.committed.hasStopped = false
    return ledger.committed.stopped
  }

  /// Stops it if the folds of the past have changed a variable of the file.
  func checkVariables() {
    ledger.pending.checkVariables()
    ledger.committed.stopped = ledger.pending.stopped
  }

  /// The fold that has failed; the methods are unavailable.
  package var stopped: StoppedFold? { ledger.pending.stopped }

  /// Stops it, because its events cannot be read.
  func stop(_ reason: String) {
    ledger.pending.stopped = StoppedFold(seq: 0, kind: "", failure: .fault(reason))
    ledger.committed.stopped = ledger.pending.stopped
  }

  /// Runs a command within ``ServiceHost/perform(_:_:)``, or a query.
  ///
  /// - Throws: ``ScriptRefusal``, or ``FailedScript`` if the script is wrong.
  func run(_ call: ScriptCall) throws -> JSONText? {
    world.begin(isQuery: call.isQuery)
    let interpreter: any ScriptInterpreter
    do throws(ScriptFailure) {
      interpreter = try ledger.pending.makeInterpreter()
    } catch {
      throw FailedScript(script.file, error)
    }
    let outcome = interpreter.call(call, in: world)
    // Its event is rolled back, so the service goes on.
    if world.hasFailed { ledger.pending.stopped = nil }
    if interpreter.hasChanged {
      ledger.pending.interpreter = nil
      guard case .failed = outcome else { throw FailedScript(script.file, .changed(script)) }
    }
    switch outcome {
    case .done(let value): return value
    case .refused(let refusal): throw refusal
    case .failed(let failure): throw FailedScript(script.file, failure)
    }
  }

  /// The names that members of rows can have, and the text in which they were found.
  private var found: (script: Script, names: [String: Set<String>])?

  /// Returns the names that members of the rows of a row set can have; `nil` if they may have any.
  func rowNames(of rowSet: String) -> Set<String>? {
    if let found, found.script === script { return found.names[rowSet] }
    let names = script.rowNames()
    found = (script, names)
    return names[rowSet]
  }

  private lazy var world = LiveWorld(ledger, host)

  /// Uses another text with the same tables and folds.
  func use(_ script: Script) {
    self.script = script
    ledger.pending.use(script)
    ledger.committed.use(script)
    ledger.setInitial(ScriptState(script))
  }

  /// Keeps the state as it is, because another one takes its place.
  func beginReplacement() { isReplacing = true }

  /// Uses another text, whose state has taken the place of the former one.
  func exchange(_ script: Script) {
    self.script = script
    ledger.otherTypes = ledger.committed.otherTypes
    ledger.setInitial(ScriptState(script))
    updateWaiting()
  }

  /// Applies a durable event that it has not applied, because it was waiting.
  func catchUp(_ event: ScriptEvent, at place: EventContext) {
    ledger.pending.isWaiting = false
    ledger.catchUp(event, at: place, isOther: event.isOther, isDurable: true)
    ledger.pending.isWaiting = true
  }

  /// Goes on with the present state and the recorded events.
  func endReplacement() {
    guard isReplacing else { return }
    (isReplacing, isNew) = (false, false)
    ledger.applyRecorded(\.isOther)
    checkVariables()
    endWaiting()
  }
}

/// An error in a script, or a limit that it has reached; the details are for the log.
struct FailedScript: Error, CustomStringConvertible {
  let description: String

  private init(description: String) { self.description = description }

  init(_ file: String, _ failure: ScriptFailure) {
    // Some faults have no line, such as a variable that a function has changed.
    let text = "\(failure)"
    self.init(description: text.hasPrefix(file + ":") ? text : "\(file): \(text)")
  }

  /// Returns the failure with the name of the method that has run.
  func naming(_ method: String) -> FailedScript {
    FailedScript(description: "\(method): \(description)")
  }
}

/// The state and the journal of a service, for its commands and queries.
private final class LiveWorld: ScriptWorld {
  private let ledger: Ledger<ScriptState>
  private let host: ServiceHost
  private var isQuery = false

  /// Whether the fold of a recorded event has failed.
  private(set) var hasFailed = false

  init(_ ledger: Ledger<ScriptState>, _ host: ServiceHost) {
    (self.ledger, self.host) = (ledger, host)
  }

  /// Begins with another call.
  func begin(isQuery: Bool) { (self.isQuery, hasFailed) = (isQuery, false) }

  func row(_ key: String, of table: Int) -> JSONText? {
    isQuery ? row(key, of: table, in: &ledger.committed) : row(key, of: table, in: &ledger.pending)
  }

  // Not a copy: to copy a state costs more than to find the row.
  private func row(_ key: String, of table: Int, in state: inout ScriptState) -> JSONText? {
    state.row(key, of: table)
  }

  func keys(of table: Int, atMost most: Int) -> [String]? {
    isQuery
      ? ledger.committed.keys(of: table, atMost: most)
      : ledger.pending.keys(of: table, atMost: most)
  }

  func set(_ key: String, of table: Int, to row: JSONText?) -> String? {
    "the state is changed by events only"
  }

  func record(_ kind: String, _ data: JSONText, in stream: String?) -> ScriptRecording {
    if let rule = ScriptEvent.fault(data, in: stream, of: ledger.service) { return .refused(rule) }
    ledger.record(ScriptEvent(kind, data), in: stream)
    guard ledger.pending.stopped != nil else { return .done }
    hasFailed = true
    return .failed
  }

  var now: Int64 { host.now }
}

extension ScriptEvent {
  /// Returns the rule that an event breaks; `nil` if it may be recorded.
  static func fault(_ data: JSONText, in stream: String?, of service: String) -> String? {
    if let fault = ValueFault(data) { return "\(fault)" }
    guard let stream, stream != service else { return nil }
    if let rule = SourceName.fault(in: stream) { return "'\(stream.prefix(200))': \(rule)" }
    guard SourceName.isSource(stream, of: service) else {
      return "the stream '\(stream)' does not begin with \(service)/"
    }
    return nil
  }
}
