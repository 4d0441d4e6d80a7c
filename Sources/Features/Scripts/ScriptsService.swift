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

  /// Queues work that an administrator causes; the function performs a step, and returns whether one
  /// is left.
  package var addWork: (_ step: @escaping () -> Bool) -> Void = { step in while step() {} }

  /// The services whose past is being folded.
  private(set) var folding: [String: ScriptFolding] = [:]

  /// The texts that came while the state of the one before took its place.
  private var followers: [String: Script] = [:]

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

  /// Returns whether files have a text that would be used in place of another one.
  package func hasOtherTexts(than files: ScriptFiles) -> Bool {
    changing(in: files).contains { conflict($0) == nil }
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
    if let folding = folding[script.name], folding.isReplacing {
      let isSame = folding.script.text == script.text && !folding.isRelease
      followers[script.name] = isSame ? nil : script
      service.isFolding = true
      if folding.isRelease { service.isNew = true }
      if forgotten.remove(script.name) != nil { onChange() }
      return .folding
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
    let change = fold(script)
    if wasForgotten { onChange() }
    return change
  }

  /// Tells everybody that a service has a new text.
  private func finish(_ script: Script) {
    services[script.name]?.refused = nil
    services[script.name]?.isNew = false
    if isActive, !forgotten.contains(script.name) { keep(script) }
    onChange()
  }

  /// Folds the past by a text, off the loop; then the new state takes the place of the old one.
  private func fold(_ script: Script) -> Change {
    guard let service = services[script.name] else { return .done }
    if let former = folding[script.name] { drop(former) }
    let folding = ScriptFolding(script)
    self.folding[script.name] = folding
    service.isFolding = true
    // From now on it gets the events of other services that the new text folds, too.
    service.ledger.otherTypes.formUnion(script.others.keys)
    service.ledger.happened.observeNext { event, place in
      folding.keep(event, at: place)
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
  private func read(_ folding: ScriptFolding, from state: ScriptState) {
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
  private func fail(_ folding: ScriptFolding, _ reason: String) {
    let script = folding.script
    guard let seq = folding.durableAt else { return refuse(script, reason) }
    onMessage("service '\(script.name)' lacks events: \(reason)", true)
    folding.forgetDropped()
    folding.isIncomplete = true
    replace(folding, at: seq)
  }

  /// Records the text, so that the new state takes its place when the text is durable.
  private func finish(_ folding: ScriptFolding) {
    let script = folding.script
    if let seq = folding.durableAt { return replace(folding, at: seq) }
    if let stopped = folding.catchUp(), let service = services[script.name] {
      return refuse(script, service.message(of: stopped))
    }
    guard isActive, needsKeeping(script) else { return replace(folding, at: host.durable) }
    if !keep(script) { refuse(script, "the journal does not take it") }
  }

  /// Lets the new state take the place of the former one, whose commands wait meanwhile.
  private func replace(_ folding: ScriptFolding, at seq: UInt64) {
    folding.durableAt = seq
    guard let service = services[folding.script.name] else { return }
    // Too many events have become durable before the text was.
    if folding.lacksEvents, let state = folding.state { return read(folding, from: state) }
    folding.isReplacing = true
    service.beginReplacement()
    // Both states are the same then, and stay so.
    host.durability(of: host.last).observe { [unowned self] event in
      switch event {
      case .next: compare(folding, with: service)
      case .failed(let error): giveUp(folding, "\(error)")
      case .completed: break
      }
    }.dispose(in: folding.work)
  }

  private func compare(_ folding: ScriptFolding, with service: ScriptService) {
    if folding.isFarBehind, let state = folding.state { return read(folding, from: state) }
    _ = folding.catchUp()
    guard let state = folding.removeState() else {
      // It has taken its place, and later events could not be read.
      return addWork { [unowned self] in goOn(folding, service) }
    }
    service.ledger.replacement(by: state).observe { [unowned self] event in
      switch event {
      case .next(let replacement): exchange(folding, by: replacement, of: service)
      case .failed(let error): giveUp(folding, "\(error)")
      case .completed: break
      }
    }.dispose(in: folding.work)
  }

  private func exchange(
    _ folding: ScriptFolding, by replacement: StateReplacement<ScriptState>,
    of service: ScriptService
  ) {
    replacement.onExchange = { [unowned self] in
      service.exchange(folding.script)
      onChange()
    }
    addWork { [unowned self] in
      guard self.folding[folding.script.name] === folding else { return false }
      return replacement.step() || goOn(folding, service)
    }
  }

  /// Applies an event that has become durable meanwhile; ends the replacement after the last one.
  ///
  /// - Returns: Whether a step is left.
  private func goOn(_ folding: ScriptFolding, _ service: ScriptService) -> Bool {
    if folding.hasDropped, service.stopped == nil {
      var state = service.ledger.committed
      state.isWaiting = false
      // The other thread gets an interpreter of its own.
      state.use(folding.script)
      read(folding, from: state)
      return false
    }
    if let (event, place) = folding.popLater() {
      service.catchUp(event, at: place)
      return true
    }
    guard service.ledger.recordedCount <= ScriptFolding.mostLater else {
      host.durability(of: host.last).observe { [unowned self] event in
        if case .next = event { addWork { [unowned self] in goOn(folding, service) } }
      }.dispose(in: folding.work)
      return false
    }
    end(folding, service)
    return false
  }

  private func end(_ folding: ScriptFolding, _ service: ScriptService) {
    let script = folding.script
    endFolding(script.name)
    service.endReplacement()
    let count = service.ledger.pending.appliedCount
    let stopped = service.stopped
    host.setComplete(stopped == nil && !folding.isIncomplete, script.name)
    if let stopped { onMessage(service.message(of: stopped), true) }
    let lost =
      folding.removed == 0
      ? "" : "; it lacks those of other services that were removed up to \(folding.removed)"
    onMessage(
      "service '\(script.name)' has folded \(count) events by its new text\(lost)",
      false)
    finish(script)
    useFollower(of: script.name)
    if forgotten.contains(script.name) { release(service) }
  }

  /// Uses the text that came while a state took the place of another one.
  private func useFollower(of name: String) {
    if let next = followers.removeValue(forKey: name) { _ = use(next) }
  }

  // MARK: Forgetting

  /// Frees the rows of a service that clients do not see any more, in steps; a later text folds the past
  /// first.
  private func release(_ service: ScriptService) {
    let name = service.name
    guard folding[name] == nil, !service.isNew else { return }
    let release = ScriptFolding(releasing: service.script)
    folding[name] = release
    // No snapshot may be made of it from now on, and its events and those of others do not matter to it.
    host.setComplete(false, name)
    service.ledger.otherTypes = []
    // Those that are recorded and not durable yet are in one of its states only.
    host.durability(of: host.last).observe { [unowned self] event in
      guard case .next = event else { return }
      service.isNew = true
      var empty = ScriptState(service.script)
      empty.isWaiting = true
      service.ledger.replacement(by: empty).observe { [unowned self] event in
        guard case .next(let replacement) = event else { return }
        addWork { [unowned self] in
          guard folding[name] === release else { return false }
          if replacement.step() { return true }
          endRelease(release, of: service)
          return false
        }
      }.dispose(in: release.work)
    }.dispose(in: release.work)
  }

  private func endRelease(_ release: ScriptFolding, of service: ScriptService) {
    folding[service.name] = nil
    service.isFolding = false
    release.work.dispose()
    useFollower(of: service.name)
  }

  /// Goes on with the present state, because the journal does not work any more.
  private func giveUp(_ folding: ScriptFolding, _ reason: String) {
    refuse(folding.script, reason)
    services[folding.script.name]?.endReplacement()
  }

  private func refuse(_ script: Script, _ reason: String) {
    endFolding(script.name)
    services[script.name]?.refused = reason
    services[script.name]?.endWaiting()
    onMessage("the new text of service '\(script.name)' is not used: \(reason)", true)
  }

  private func endFolding(_ name: String) {
    if let folding = folding.removeValue(forKey: name) { drop(folding) }
    guard let service = services[name] else { return }
    service.isFolding = false
    service.ledger.otherTypes = Set(service.script.others.keys)
  }

  private func drop(_ folding: ScriptFolding) {
    folding.work.dispose()
    if let state = folding.removeState() { host.free(state) }
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
    if folding[name]?.isReplacing != true { endFolding(name) }
    followers[name] = nil
    // A later text folds the past first; until then retention need not wait for it.
    if service.stopped != nil || service.isNew { service.ledger.otherTypes = [] }
    forgotten.insert(name)
    onChange()
    service.endWaiting()
    release(service)
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
