import Configuration
import Connections
import Console
import EventLoop
import EventSourcing
internal import Features
import Glibc
import JSON
import Journal
import JournalPostgres
import JournalSQLite
import Model

/// A task on a whole journal, run as a separate process.
///
/// A daemon may write the journal that the task reads, but not the one that it creates.
struct JournalWork {
  let program: Program
  let task: JournalTask
  let location: JournalAddress

  /// Returns the place of a journal that is named as in `--journal`.
  let locate: (_ name: String) throws(JournalError) -> JournalAddress

  /// The epoch that the journal must have; `nil` for any.
  let epoch: String?
  let isForced: Bool

  /// Whether a journal may be made of one that belongs to another daemon.
  let adopts: Bool
  let progress: ProgressMeter.Form

  /// Runs the task.
  ///
  /// - Returns: The exit code: 0 on success, 1 for damage or another failure, 78 if a journal
  ///   cannot be used.
  func run() -> CInt {
    umask(0o077)
    do {
      if case .file(let path) = location { try JournalFileCheck(path: path).checkKind() }
      switch task {
      case .verify: return try verify()
      case .info:
        let figures = try JournalFigures(of: location)
        try checkIdentity(figures.epoch)
        print(try JSONEncoder().text(figures).text)
      case .sql(let statement): try query(statement)
      case .`init`: try create()
      case .backup(let target):
        let source = try journalOrigin()
        try copy(
          source, to: makeBackup(at: target, of: source), as: target, "backup")
      case .restore(let backup):
        let source = try JournalSource(path: backup)
        try checkOwner(source.daemon, of: source.name)
        try copy(source, to: makeTarget(location), as: location.name, "restore")
      case .copy(let name):
        let target = try locate(name)
        try checkNobodyHas(location)
        let source = try journalOrigin()
        try checkOwner(source.daemon, of: source.name)
        try copy(source, to: makeTarget(target), as: target.name, "copy")
      case .branch(let target, let moment):
        // The daemon of the journal goes on meanwhile, on the same machine.
        Process.lowerPriority()
        try branch(try journalOrigin(), to: target, at: moment)
      case .export(let target): try export(to: target)
      case .import(let origin): try read(from: origin)
      }
      return EXIT_SUCCESS
    } catch let error as JournalError {
      complain("\(error)")
      return isUnusable(error) ? EX_CONFIG : EXIT_FAILURE
    } catch {
      complain("\(error)")
      return EXIT_FAILURE
    }
  }

  /// Checks the epoch.
  ///
  /// - Throws: ``JournalError`` if the journal has another epoch than required.
  private func checkIdentity(_ found: String) throws(JournalError) {
    guard let epoch, epoch != found else { return }
    throw .unavailable(
      detail:
        "\(location.name) is another journal: its epoch is \(found), but the daemon reported \(epoch);"
        + " run this where that daemon runs, or name a file (bindctl: --file)")
  }

  /// Checks that a journal belongs to this daemon, or may be adopted.
  private func checkOwner(_ owner: String, of journal: String) throws(JournalError) {
    guard owner != program.name, !adopts else { return }
    throw .unavailable(
      detail: "\(journal) is of \(owner), not of \(program.name); use \(owner), or --adopt to make "
        + "a journal for \(program.name) of it")
  }

  /// The daemon that the copy of a journal belongs to; `nil` for that of the original.
  private var newOwner: String? {
    if case .backup = task { return nil }
    return adopts ? program.name : nil
  }

  private func journalOrigin() throws(JournalError) -> any JournalOrigin {
    let origin: any JournalOrigin =
      switch location {
      case .file(let path): try JournalSource(path: path)
      case .postgres(let settings): try PostgresSource(settings.journal)
      }
    try checkIdentity(origin.epoch)
    return origin
  }

  private func create() throws(JournalError) {
    guard case .postgres(let settings) = location else {
      throw .unavailable(
        detail: "--init is for a PostgreSQL database; a journal file is created by itself")
    }
    let epoch = try settings.journal.create(for: program.name)
    print("\(location.name): epoch \(epoch), an empty journal")
  }

  private func makeBackup(
    at path: String, of origin: any JournalOrigin
  ) throws(JournalError) -> any JournalTarget {
    var source: String?
    if case .file(let path) = location { source = path }
    return try JournalBuilder(
      at: path, of: source, for: .backup(epoch: origin.epoch), isForced: isForced)
  }

  /// Returns a new journal for a daemon.
  private func makeTarget(_ target: JournalAddress) throws(JournalError) -> any JournalTarget {
    switch target {
    case .file(let path):
      try checkNobodyHas(target)
      try JournalFileCheck(path: path).makeDirectory()
      var source: String?
      if case .file(let path) = location, path != target.name { source = path }
      return try JournalBuilder(at: path, of: source, for: .use, isForced: isForced)
    case .postgres(let settings):
      return try PostgresBuilder(settings.journal, isForced: isForced)
    }
  }

  /// Checks that no process has a journal file.
  ///
  /// - Throws: ``JournalError`` with the command that stops the process.
  private func checkNobodyHas(_ location: JournalAddress) throws(JournalError) {
    guard case .file(let path) = location, let pid = JournalOwner.process(of: path) else { return }
    throw .unavailable(
      detail: "\(path) is in use by pid \(pid); stop it first: \(stopCommand(for: pid))")
  }

  private func isUnusable(_ error: JournalError) -> Bool {
    switch error {
    case .newerFormat, .notAJournal, .locked, .unavailable: true
    case .readOnly, .following, .corrupt, .notUnderstood, .outOfRange: false
    }
  }

  private func complain(_ text: String) {
    let line = "\(program.name): \(text)\n"
    _ = Glibc.write(STDERR_FILENO, line, line.utf8.count)
  }

  /// Prints the rows of a statement, with `|` between columns, as `sqlite3` does.
  private func query(_ statement: String) throws(JournalError) {
    guard case .file(let path) = location else {
      throw .unavailable(detail: "\(location.name) is a PostgreSQL database: use psql")
    }
    let query = try JournalQuery(path: path)
    try checkIdentity(query.epoch)
    try query.run(statement) { row in
      print(row.map { $0 ?? "" }.joined(separator: "|"))
    }
  }

  // MARK: Verify

  private func verify() throws(JournalError) -> CInt {
    let report: JournalReport
    switch location {
    case .file(let path):
      let check = try JournalCheck(path: path)
      try checkIdentity(check.epoch)
      try checkReader(of: check.daemon)
      let shown = Shown("verify", progress, total: check.last)
      report = try check.run { shown.show($0) }
      shown.end(at: report.last)
    case .postgres(let settings):
      let check = try PostgresCheck(settings.journal)
      try checkIdentity(check.epoch)
      try checkReader(of: check.daemon)
      let shown = Shown("verify", progress, total: check.last)
      report = try check.run { shown.show($0) }
      shown.end(at: report.last)
    }
    print("\(location.name): epoch \(report.epoch), events \(report.first) to \(report.last)")
    for damage in report.damages { print("damaged: \(damage)") }
    let fault = startFault
    if let fault { print("damaged: \(fault)") }
    let all = report.last + 1 - report.first
    let kept = all - min(all, report.removed)
    print("\(report.count) of \(kept) events read back")
    return report.damages.isEmpty && fault == nil ? EXIT_SUCCESS : EXIT_FAILURE
  }

  /// Checks that the services of this daemon can read the events of a journal.
  private func checkReader(of owner: String) throws(JournalError) {
    guard owner != program.name else { return }
    throw .unavailable(
      detail: "\(location.name) is the journal of \(owner), not of \(program.name), which does not "
        + "know its events; type: \(owner) --verify --journal \(location.name)")
  }

  /// The reason why no daemon could start on the journal; `nil` if one can or runs now.
  ///
  /// A daemon may start on a damaged journal if a snapshot covers the damage.
  private var startFault: JournalError? {
    do throws(JournalError) {
      try checkReplay(location, by: program)
      return nil
    } catch {
      if case .locked = error { return nil }
      return error
    }
  }

  // MARK: Copies

  /// The pause after each page, which leaves disk and processor time to a daemon.
  private static let pauseMicroseconds: UInt32 = 2_000

  /// Copies a journal, or its state at a moment, for another daemon.
  private func branch(
    _ origin: any JournalOrigin, to target: String, at moment: JournalCut.Moment?
  ) throws(JournalError) {
    try checkOwner(origin.daemon, of: origin.name)
    guard let file = origin as? JournalSource else {
      let builder = try JournalBuilder(at: target, for: .branch, isForced: isForced)
      return try copy(
        moment.map { JournalCut(origin, at: $0) } ?? origin, to: builder, as: target, "branch")
    }
    let end = try moment.map { moment throws(JournalError) in try file.position(of: moment) }
    let builder = try JournalBuilder(
      at: target, of: file.path, for: .branch, isForced: isForced)
    let shown = Shown("branch", progress, total: end ?? file.last)
    func copyRows(while goesOn: () -> Bool) -> Result<UInt64, JournalError> {
      Result { () throws(JournalError) in
        try file.copyRows(into: builder, upTo: end) {
          shown.show($0)
          usleep(Self.shortPauseMicroseconds)
          return goesOn()
        }
      }
    }
    var copied = Result<UInt64, JournalError>.success(0)
    let deadline = Process.milliseconds + Self.idleMilliseconds
    Process.runWhenIdle { copied = copyRows { Process.milliseconds < deadline } }
    _ = try copied.get()
    // Nothing is left to copy, unless the machine was busy all the time.
    let last = try copyRows { true }.get()
    let source: any JournalOrigin = end.map { JournalCut(file, at: .position($0)) } ?? file
    try copy(source, after: last, to: builder, as: target, shown)
  }

  /// The time in which a branch waits for a processor that nobody else wants.
  private static let idleMilliseconds: UInt64 = 60_000

  /// The pause after each step of a branch, which is short itself.
  private static let shortPauseMicroseconds: UInt32 = 500

  private func copy(
    _ source: any JournalOrigin, to builder: any JournalTarget, as target: String, _ work: String
  ) throws(JournalError) {
    try copy(
      source, after: 0, to: builder, as: target, Shown(work, progress, total: source.last))
  }

  /// - Parameter seq: The last position whose event the target has already.
  private func copy(
    _ source: any JournalOrigin, after seq: UInt64, to builder: any JournalTarget,
    as target: String, _ shown: Shown
  ) throws(JournalError) {
    try source.read(after: seq) {
      shown.show($0)
      usleep(Self.pauseMicroseconds)
    } _: { part throws(JournalError) in
      guard case .notes(var notes) = part else { return try builder.add(part) }
      if let newOwner { notes.daemon = newOwner }
      try builder.add(notes)
    }
    let report = try builder.finish()
    shown.end(at: report.last)
    say(report, target, of: source.name)
    sayReplaced(builder.replaced)
  }

  private func say(_ report: JournalReport, _ target: String, of source: String) {
    print(
      "\(target): epoch \(report.epoch), \(report.count) events, \(report.first) to \(report.last),"
        + " of \(source)")
  }

  private func sayReplaced(_ old: String?) {
    if let old { print("the old file is kept as \(old)") }
  }

  // MARK: Lines

  private func export(to target: String) throws {
    let source = try journalOrigin()
    var besides: String?
    if case .file(let path) = location { besides = path }
    let file = try LineFile(writing: target, besides: besides, isForced: isForced)
    let shown = Shown("export", progress, total: source.last)
    try file.write(JournalLine.head(epoch: source.epoch).text)
    var count = 0
    try source.read {
      shown.show($0)
    } _: { part throws(JournalError) in
      for line in part.lines {
        if case .event = line { count += 1 }
        try file.write(line.text)
      }
    }
    try file.write(JournalLine.end(count: count).text)
    try file.finish()
    shown.end(at: source.last)
    if target != "-" { print("\(target): \(count) events") }
    sayReplaced(file.replaced)
  }

  private func read(from origin: String) throws {
    let file = try LineFile(reading: origin)
    let builder = try makeTarget(location)
    let shown = Shown("import", of: .bytes, progress, total: file.size)
    var checker = JournalLineChecker()
    var removals = KnownRemovals()
    var notes: [JournalNote: String] = [:]
    var records: [Record] = []
    while let text = try file.next() {
      do throws(JournalLine.Fault) {
        let line = try JournalLine(text)
        try checker.check(line)
        switch line {
        case .event(let record): records.append(record)
        case .removal(let range, let services):
          removals.stretches.append(.init(range: range, services: services))
        case .lastRemoval(let service, let seq): removals.services[service] = seq
        case .note(let note, let text): notes[note] = text
        case .snapshot(let snapshot): try addTo(builder, snapshot)
        case .head, .end: break
        }
      } catch {
        throw LineFile.Fault(description: "\(origin): line \(file.line): \(error)")
      }
      if records.count >= 1000 {
        try builder.add(records)
        records = []
        shown.show(file.position)
      }
    }
    do throws(JournalLine.Fault) {
      try checker.finish()
    } catch {
      throw LineFile.Fault(description: "\(origin): line \(file.line): \(error)")
    }
    try checkOwner(notes.daemon, of: origin)
    notes.daemon = program.name
    try builder.add(records)
    try builder.add(removals)
    try builder.add(notes)
    let report = try builder.finish { name throws(JournalError) in
      // A file is checked before it is in place.
      var place = location
      if case .file = place { place = .file(path: name) }
      try checkReplay(place, by: program)
    }
    shown.end(at: file.size)
    say(report, location.name, of: origin)
    sayReplaced(builder.replaced)
  }

  private func addTo(
    _ builder: any JournalTarget, _ snapshot: Snapshot
  ) throws(JournalLine.Fault) {
    do throws(JournalError) {
      try builder.add(snapshot)
    } catch {
      throw .init("\(error)")
    }
  }
}

extension JournalPart {
  /// The lines to export.
  fileprivate var lines: [JournalLine] {
    switch self {
    case .events(let records): records.map { .event($0) }
    case .snapshot(let snapshot): [.snapshot(snapshot)]
    case .removals(let removals):
      removals.stretches.map { .removal(range: $0.range, services: $0.services) }
        + removals.services.sorted { $0.key < $1.key }
        .map { .lastRemoval(service: $0.key, seq: $0.value) }
    case .notes(let notes):
      notes.filter { $0.key.isExported }
        .sorted { $0.key.rawValue < $1.key.rawValue }
        .map { .note($0.key, $0.value) }
    }
  }
}

/// A progress display on the standard error.
private final class Shown {
  private var meter: ProgressMeter
  private let total: UInt64

  init(
    _ work: String, of unit: ProgressMeter.Unit = .events, _ form: ProgressMeter.Form,
    total: UInt64
  ) {
    var size = winsize()
    let isSized = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    meter = ProgressMeter(
      work, of: unit, form, width: isSized ? Int(size.ws_col) : 80, milliseconds: Self.now)
    self.total = total
  }

  func show(_ done: UInt64) {
    if let text = meter.show(done: done, total: total, milliseconds: Self.now) { write(text) }
  }

  func end(at done: UInt64) {
    write(meter.end(done: done, total: total))
  }

  private func write(_ text: String) {
    _ = Glibc.write(STDERR_FILENO, text, text.utf8.count)
  }

  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}

/// Runs a task on the journal that the command line or the configuration names.
///
/// - Returns: The exit code.
func workOnJournal(
  _ task: JournalTask, _ options: Options, _ progress: ProgressMeter.Form
) throws -> CInt {
  let settings = try Settings(reading: options)
  let locate = { (name: String) throws(JournalError) -> JournalAddress in
    var options = options
    options.journal = name
    return try Settings(options: options, configuration: settings.configuration).journal
  }
  return JournalWork(
    program: options.program, task: task, location: try settings.journal, locate: locate,
    epoch: options.epoch, isForced: options.isForced, adopts: options.adopts, progress: progress
  ).run()
}

/// Checks whether a daemon could start on a journal, by replaying it into all services.
///
/// - Throws: ``JournalError`` with the event that the services reject.
func checkReplay(_ location: JournalAddress, by program: Program) throws(JournalError) {
  do {
    var options = try Options([], of: program)
    options.isReadOnly = true
    options.configuration = "/dev/null"
    var settings = try Settings(reading: options)
    settings.location = location
    let daemon = try Daemon(
      settings, ConfigurationFile(options), Log(isJournal: false), ServiceManager())
    defer { daemon.abandon() }
    try daemon.replay()
  } catch let error as JournalError {
    throw error
  } catch {
    throw .unavailable(detail: "\(error)")
  }
}
