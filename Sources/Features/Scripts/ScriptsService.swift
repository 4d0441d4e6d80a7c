package import Configuration
package import EventSourcing
internal import JSON
internal import Journal
internal import Model
internal import Signals

/// The services in files: the texts, and the services that they make.
package final class ScriptsService {
  package let ledger: Ledger<ScriptTexts>
  package private(set) var services: [String: ScriptService] = [:]
  let language: any ScriptLanguage
  let host: ServiceHost

  /// The texts of files; those of the journal are used where there is no file.
  private var files: [String: Script] = [:]

  /// Called when the services, or their methods and sources, have changed.
  package var onChange: () -> Void = {}

  /// Called with a sentence for the log; `isError` tells whether something does not work.
  package var onMessage: (_ text: String, _ isError: Bool) -> Void = { _, _ in }

  /// The services whose past is being folded.
  private(set) var folding: [String: Folding] = [:]

  /// The past of a service that is folded by another text.
  final class Folding {
    let script: Script
    let work = DisposeBag()

    /// The events that have become durable meanwhile, and that the text folds.
    private(set) var later: [(event: ScriptEvent, place: ScriptPlace)] = []

    /// The bytes of these events.
    private var laterBytes = 0

    /// The last event that was dropped because too many had become durable; 0 if none was.
    private var dropped: UInt64 = 0

    /// The state at a position, once it is there.
    private(set) var state: ScriptState?
    private(set) var seq: UInt64 = 0

    /// The last event of other services that the state lacks because it was removed; 0 if none was.
    var removed: UInt64 = 0

    /// The position at which the text took effect; `nil` while it may still be refused.
    var durableAt: UInt64?

    init(_ script: Script) { self.script = script }

    /// Goes on without the events that were dropped.
    func forgetDropped() { dropped = 0 }

    /// Keeps an event that has become durable, unless the text does not fold it.
    ///
    /// If there are too many, they are dropped and read from the journal again.
    func keep(_ event: ScriptEvent, at place: ScriptPlace) {
      // A reader may have seen it first.
      guard place.seq > seq else { return }
      if event.isOther, script.folds(of: event.kind, in: place.stream).isEmpty { return }
      later.append((event, place))
      laterBytes += event.data.text.utf8.count
      guard later.count > Self.mostKept || laterBytes > Self.mostKeptBytes else { return }
      dropped = place.seq
      (later, laterBytes) = ([], 0)
    }

    /// Uses the state that was read from the journal up to a position.
    func use(_ state: ScriptState, upTo seq: UInt64) {
      (self.state, self.seq) = (state, seq)
      later.removeAll { $0.place.seq <= seq }
      laterBytes = later.reduce(0) { $0 + $1.event.data.text.utf8.count }
    }

    /// Applies the events that have become durable meanwhile; returns the fold that has failed.
    ///
    /// Only for a state that lacks no events; see ``lacksEvents``.
    func catchUp() -> StoppedFold? {
      for (event, place) in later {
        state?.apply(event, at: place)
        seq = place.seq
      }
      (later, laterBytes) = ([], 0)
      state?.checkVariables()
      return state?.stopped
    }

    /// The most events that are applied on the loop.
    static let mostLater = 100

    /// The most events, and the most bytes of them, that are kept.
    static let mostKept = 10_000
    static let mostKeptBytes = 4 << 20

    /// Whether the state lacks events that were dropped, so that the journal must be read again.
    var lacksEvents: Bool { state?.stopped == nil && dropped > seq }

    /// Whether so many events have become durable meanwhile that they are folded off the loop too.
    var isFarBehind: Bool {
      lacksEvents || state?.stopped == nil && later.count > Self.mostLater
    }
  }
  private var isActive = false

  /// The trials of texts that run.
  let trials = DisposeBag()
  private let bag = DisposeBag()

  /// Returns the types of the events of all services.
  var eventTypes: () -> [String: [String]] = { [:] }

  /// Returns whether a name belongs to a service that is not in a file.
  var isReserved: (_ name: String) -> Bool = { _ in false }

  package init(in host: ServiceHost, _ language: any ScriptLanguage, _ files: ScriptFiles) {
    (self.host, self.language) = (host, language)
    self.files = files.scripts
    ledger = Ledger("scripts", in: host)
    ledger.happened.observeNext { [unowned self] event, place in
      guard case .changed(let name, let text, _) = event else {
        if case .removed(let name) = event { hide(name) }
        return
      }
      if let folding = folding[name], folding.state != nil, folding.script.text == text {
        replace(folding, at: place.seq)
      } else if !host.isActive {
        follow(name, text)
      }
    }.dispose(in: bag)
    host.progress.observeNext { [unowned self] _ in reportStops() }.dispose(in: bag)
  }

  /// Adds the services of all texts, for ``ServiceHost/start(onProgress:addLedgers:)``.
  package func addServices() {
    // A text of the journal has its snapshots; that of a file takes its place when it has folded.
    for (name, kept) in ledger.committed.texts.rows {
      guard conflict(name) == nil, let script = script(kept.text, named: name) else { continue }
      add(script)
    }
    for script in files.values.sorted(by: { $0.name < $1.name })
    where services[script.name] == nil {
      if let fault = conflict(script.name) { onMessage(fault, true) } else { add(script) }
    }
  }

  private func add(_ script: Script) {
    services[script.name] = ScriptService(script, in: host)
  }

  /// Reports the services that a durable event of another service or daemon has stopped.
  private func reportStops() {
    for service in services.values {
      guard let stopped = service.popStop() else { continue }
      host.setComplete(false, service.name)
      onMessage(service.message(of: stopped), true)
    }
  }

  /// Returns the script of a text in the journal; `nil` if it cannot be used.
  private func script(_ text: String, named name: String) -> Script? {
    let file = "\(name).service"
    do throws(ConfigurationFaults) {
      return try Script(text, named: name, file: file, path: file, in: language)
    } catch {
      onMessage("service '\(name)' of the journal cannot run: \(error)", true)
      return nil
    }
  }

  /// Returns the reason why a service cannot have a name; `nil` if it can.
  private func conflict(_ name: String) -> String? {
    services[name] == nil && (host.hasService(name) || isReserved(name))
      ? "there is a service '\(name)' already, which is not in a file" : nil
  }

  /// Stops the services whose events could not be replayed; call it after the start of the host.
  package func checkStart() {
    for service in services.values {
      if let fault = host.startFault(of: service.name) { service.stop("\(fault)") }
      service.checkVariables()
      guard let stopped = service.stopped else { continue }
      host.setComplete(false, service.name)
      onMessage(service.message(of: stopped), true)
    }
  }

  /// Begins to use the texts of files, when the daemon becomes the active one.
  package func begin() {
    isActive = true
    let known = eventTypes()
    for script in services.values.map(\.script) {
      for fault in script.faults(in: script.file, among: known) { onMessage("\(fault)", true) }
    }
    for service in services.values {
      for kind in service.ledger.pending.skipped.sorted() {
        onMessage(
          "\(service.script.file) has no 'on.\(kind)' for events of the journal; write one, or "
            + "'ignore(\"\(kind)\")'", false)
      }
    }
    for script in files.values.sorted(by: { $0.name < $1.name })
    where conflict(script.name) == nil && use(script) == nil { keep(script) }
  }

  package func stop() {
    for folding in folding.values { folding.work.dispose() }
    folding = [:]
    trials.dispose()
  }

  private func needsKeeping(_ script: Script) -> Bool {
    ledger.pending.texts[script.name]?.text != script.text
  }

  /// Records the text of a service, unless the journal has it.
  ///
  /// - Returns: Whether the journal has it now.
  @discardableResult
  private func keep(_ script: Script) -> Bool {
    guard needsKeeping(script) else { return true }
    let hash = SHA256.hash(script.text)
    return record(.changed(service: script.name, text: script.text, sha256: hash), of: script.name)
  }

  private func record(_ event: ScriptTextEvent, of name: String) -> Bool {
    let command = Command(method: "reload", caller: host.daemon)
    do throws(Refusal) {
      _ = try host.perform(command) {
        ledger.record(event, in: "scripts/\(name)")
        return nil
      }
      return true
    } catch {
      onMessage("the text of service '\(name)' was not recorded: \(error)", true)
      return false
    }
  }

  // MARK: Reload

  /// Uses the texts of files.
  ///
  /// - Returns: Whether some have changed, and what the user must know.
  package func use(
    _ files: ScriptFiles
  ) -> (hasChanged: Bool, warnings: [ConfigurationFault]) {
    var warnings: [ConfigurationFault] = []
    var hasChanged = false
    self.files = files.scripts
    for script in files.scripts.values.sorted(by: { $0.name < $1.name }) {
      func warn(_ text: String) {
        warnings.append(ConfigurationFault(file: script.file, message: text))
      }
      if let fault = conflict(script.name) {
        warn(fault)
        continue
      }
      guard let change = use(script) else { continue }
      hasChanged = true
      if change == .folding { warn("the events of the past are folded by the new text first") }
    }
    // One that was forgotten, or whose first text was never used, is not in the journal.
    for name in services.keys.sorted()
    where files.scripts[name] == nil && ledger.pending.texts[name] != nil {
      warnings.append(
        ConfigurationFault(
          file: "\(name).service",
          message: "the file is gone; the service goes on with the text of the journal; "
            + "'bindctl call scripts.forget service=\(name)' ends it"))
    }
    return (hasChanged, warnings)
  }

  /// Returns the faults of folds of events that no service has, with those of the files.
  ///
  /// For a text that is in use already they are warnings, because it goes on in any case.
  package func check(
    _ files: ScriptFiles
  ) -> (faults: [ConfigurationFault], warnings: [ConfigurationFault]) {
    var known = eventTypes()
    for script in files.scripts.values { known[script.name] = script.eventTypes }
    var (faults, warnings): ([ConfigurationFault], [ConfigurationFault]) = ([], [])
    let changing = changing(in: files)
    for script in files.scripts.values.sorted(by: { $0.name < $1.name }) {
      let found = script.faults(in: files.path(of: script), among: known)
      if changing.contains(script.name) { faults += found } else { warnings += found }
    }
    return (faults, warnings)
  }

  /// Returns the services whose sources or methods may be others when files are in use.
  package func changing(in files: ScriptFiles) -> Set<String> {
    Set(
      files.scripts.values.filter { script in
        forgotten.contains(script.name) || services[script.name]?.script.text != script.text
      }.map(\.name))
  }

  private enum Change {
    case done, folding
  }

  /// Uses a text; returns `nil` if it is in use already.
  private func use(_ script: Script) -> Change? {
    guard let service = services[script.name] else {
      add(script)
      guard host.mayHaveEvents(script.name) || !script.others.isEmpty && host.last > 0 else {
        finish(script)
        return .done
      }
      services[script.name]?.isNew = true
      // Until then no snapshot may be made of it.
      host.setComplete(false, script.name)
      onChange()
      return fold(script)
    }
    let wasForgotten = forgotten.remove(script.name) != nil
    let isFolding = folding[script.name] != nil
    if service.script.text == script.text, isFolding, !service.isNew, service.stopped == nil {
      // The file has its former text again, while a later one folds the past.
      endFolding(script.name)
      finish(script)
      return .done
    }
    guard
      service.script.text != script.text || wasForgotten || service.isNew && !isFolding
    else { return nil }
    if service.script.foldHash == script.foldHash, service.stopped == nil, !service.isNew,
      !isFolding
    {
      service.use(script)
      finish(script)
      return .done
    }
    return fold(script)
  }

  /// Tells everybody that a service has a new text.
  private func finish(_ script: Script) {
    services[script.name]?.refused = nil
    services[script.name]?.isNew = false
    if isActive { keep(script) }
    onChange()
  }

  /// Folds the past by a text, off the loop; then the new state takes the place of the old one.
  private func fold(_ script: Script) -> Change {
    guard let service = services[script.name] else { return .done }
    folding[script.name]?.work.dispose()
    let folding = Folding(script)
    self.folding[script.name] = folding
    service.isFolding = true
    // From now on it gets the events of other services that the new text folds, too.
    service.ledger.otherTypes.formUnion(script.others.keys)
    service.ledger.happened.observeNext { event, place in
      folding.keep(event, at: ScriptPlace(place))
    }.dispose(in: folding.work)
    // Those that are recorded and not durable yet are read from the journal.
    host.durability(of: host.last).observe { [unowned self] event in
      switch event {
      case .next: read(folding, from: ScriptState(script))
      case .failed(let error): refuse(script, "\(error)")
      case .completed: break
      }
    }.dispose(in: folding.work)
    return .folding
  }

  /// Folds the events after those of a state.
  private func read(_ folding: Folding, from state: ScriptState) {
    let script = folding.script
    host.fold(script.name, from: state, after: folding.seq).observe { [unowned self] event in
      switch event {
      case .next(let folded):
        folding.use(folded.state, upTo: folded.seq)
        folding.removed = max(folding.removed, folded.removed)
        if folding.isFarBehind { read(folding, from: folded.state) } else { finish(folding) }
      case .failed(let error): fail(folding, "\(error)")
      case .completed: break
      }
    }.dispose(in: folding.work)
  }

  /// Refuses a text whose events cannot be read, unless it is in the journal already: then the next start
  /// uses it too, and the service lacks the events until then.
  private func fail(_ folding: Folding, _ reason: String) {
    let script = folding.script
    guard let seq = folding.durableAt else { return refuse(script, reason) }
    onMessage("service '\(script.name)' lacks events: \(reason)", true)
    folding.forgetDropped()
    replace(folding, at: seq)
    host.setComplete(false, script.name)
  }

  /// Records the text, so that the new state takes its place when the text is durable.
  private func finish(_ folding: Folding) {
    let script = folding.script
    if let seq = folding.durableAt { return replace(folding, at: seq) }
    if let stopped = folding.catchUp(), let service = services[script.name] {
      return refuse(script, service.message(of: stopped))
    }
    guard isActive, needsKeeping(script) else { return replace(folding, at: host.durable) }
    if !keep(script) { refuse(script, "the journal does not take it") }
  }

  private func replace(_ folding: Folding, at seq: UInt64) {
    let script = folding.script
    folding.durableAt = seq
    // Too many events have become durable before the text was.
    if folding.lacksEvents, let state = folding.state { return read(folding, from: state) }
    let stopped = folding.catchUp()
    endFolding(script.name)
    guard let service = services[script.name], let state = folding.state else { return }
    service.use(script, with: state, upTo: folding.seq, at: seq)
    host.setComplete(stopped == nil, script.name)
    if let stopped { onMessage(service.message(of: stopped), true) }
    let lost =
      folding.removed == 0
      ? "" : "; it lacks those of other services that were removed up to \(folding.removed)"
    onMessage(
      "service '\(script.name)' has folded \(state.appliedCount) events by its new text\(lost)",
      false)
    finish(script)
  }

  private func refuse(_ script: Script, _ reason: String) {
    endFolding(script.name)
    services[script.name]?.refused = reason
    onMessage("the new text of service '\(script.name)' is not used: \(reason)", true)
  }

  private func endFolding(_ name: String) {
    folding.removeValue(forKey: name)?.work.dispose()
    guard let service = services[name] else { return }
    service.isFolding = false
    service.ledger.otherTypes = Set(service.script.others.keys)
  }

  /// Uses a text that another daemon has recorded.
  private func follow(_ name: String, _ text: String) {
    guard conflict(name) == nil, let script = script(text, named: name) else { return }
    _ = use(script)
  }

  /// Removes the text of a service; its events stay.
  ///
  /// Clients do not see it any more.
  func forget(_ name: String) throws(ScriptRefusal) {
    guard ledger.pending.texts[name] != nil else {
      throw ScriptRefusal(
        .notFound(what: "service", id: name), "no service '\(name)' is in the journal")
    }
    guard files[name] == nil else {
      throw ScriptRefusal(
        .rejected(reason: "in_file"), "service '\(name)' is in a file: remove the file and reload")
    }
    ledger.record(.removed(service: name), in: "scripts/\(name)")
  }

  /// Hides a service whose end is durable, in each daemon of the journal.
  private func hide(_ name: String) {
    guard let service = services[name], ledger.pending.texts[name] == nil else { return }
    endFolding(name)
    // A later text folds the past first; until then retention need not wait for it.
    if service.stopped != nil || service.isNew { service.ledger.otherTypes = [] }
    forgotten.insert(name)
    onChange()
  }

  /// The services that clients do not see any more.
  private var forgotten: Set<String> = []

  /// The services that clients see, by name.
  var shown: [ScriptService] {
    services.values.filter { !forgotten.contains($0.name) }.sorted { $0.name < $1.name }
  }
}

extension ScriptService {
  /// Returns the message about a fold that has failed.
  func message(of stopped: StoppedFold) -> String {
    stopped.seq == 0
      ? "service '\(name)' stops: \(stopped.failure)"
      : "service '\(name)' stops at event \(stopped.seq) (\(stopped.type(of: name))): \(stopped.failure)"
  }
}

extension ScriptPlace {
  init(_ place: EventContext) {
    self.init(
      seq: place.seq, version: place.version, time: place.time, user: place.uid,
      stream: place.stream)
  }
}
