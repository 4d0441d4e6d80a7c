import API
import Configuration
import EventLoop
import Features

/// Applies a configuration and its files to the daemon.
///
/// Returns what has changed besides the configuration, and the faults of bindings that cannot run.
typealias TakeOver = (Configuration, DeclaredFiles) -> (
  changed: [String], faults: [ConfigurationFault]
)

/// Returns what files would change besides the configuration, without changing it.
typealias FileChanges = (DeclaredFiles) -> [String]

/// Checks the views of files against the catalogue and the types against the present values, and
/// returns faults and warnings.
///
/// Sources and methods of services in files that change are checked when these are in use.
typealias CheckViews = (DeclaredFiles) -> (
  faults: [ConfigurationFault], warnings: [ConfigurationFault]
)

/// Reloads the configuration and applies it, or changes nothing if it has faults.
final class Reload {
  private let file: ConfigurationFile
  private let manager: ServiceManager
  private let log: Log

  /// The configuration at the start, and the current one.
  private let started: Configuration
  private var configuration: Configuration
  private let options: Options
  private let takeOver: TakeOver
  private let checkViews: CheckViews
  private let changes: FileChanges

  /// Returns the warnings about a configuration that only the running daemon can give.
  let warnings: (Configuration) -> [ConfigurationFault]

  init(
    _ file: ConfigurationFile, _ settings: Settings, _ log: Log, _ manager: ServiceManager,
    warnings: @escaping (Configuration) -> [ConfigurationFault],
    checkViews: @escaping CheckViews, changes: @escaping FileChanges,
    takeOver: @escaping TakeOver
  ) {
    (self.warnings, self.checkViews, self.changes) = (warnings, checkViews, changes)
    self.file = file
    options = settings.options
    (started, configuration) = (settings.configuration, settings.configuration)
    self.log = log
    self.manager = manager
    self.takeOver = takeOver
  }

  /// The path of the file; `nil` if it is missing.
  var path: String? { file.isMissing ? nil : file.path }

  /// Reloads the configuration, applies it and returns the changes.
  ///
  /// - Parameter isCheck: Whether to report the changes without applying them.
  /// - Throws: All faults of the file, which are also logged; nothing is changed then.
  @discardableResult
  func run(isCheck: Bool = false) throws(ConfigurationFaults) -> ReloadReport {
    if isCheck { return try check() }
    manager.notify("RELOADING=1", "MONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
    defer { manager.notify("READY=1") }
    let new: Configuration
    let files: DeclaredFiles
    let ofViews: [ConfigurationFault]
    do throws(ConfigurationFaults) {
      new = try file.read()
      (files, ofViews) = try read(new)
    } catch {
      for fault in error.faults { log.write(.error, "\(fault)") }
      log.write(.error, "the configuration was not changed", .reloadFailed)
      throw error
    }
    let (changed, faults) = takeOver(new, files)
    let report = ReloadReport(
      file: path, changed: configuration.changes(in: new) + changed,
      needsRestart: started.needsRestart(for: new),
      warnings: new.warnings + warnings(new) + faults + ofViews)
    configuration = new
    tell(report)
    return report
  }

  private func check() throws(ConfigurationFaults) -> ReloadReport {
    let new = try file.read()
    let (files, ofViews) = try read(new)
    return ReloadReport(
      file: path, changed: configuration.changes(in: new) + changes(files),
      needsRestart: started.needsRestart(for: new),
      warnings: new.warnings + warnings(new) + ofViews)
  }

  /// Reads and checks the files that a configuration names, and returns the warnings about views.
  private func read(
    _ configuration: Configuration
  ) throws(ConfigurationFaults) -> (DeclaredFiles, [ConfigurationFault]) {
    let files = try DeclaredFiles(Settings(options: options, configuration: configuration))
    try files.checkAll()
    let (faults, warnings) = checkViews(files)
    guard faults.isEmpty else { throw ConfigurationFaults(faults) }
    return (files, warnings)
  }

  private func tell(_ report: ReloadReport) {
    for warning in report.warnings { log.write(.warning, "\(warning)") }
    let changed = report.changed.isEmpty ? "nothing" : report.changed.joined(separator: ", ")
    log.write(.notice, "the configuration was reloaded; changed: \(changed)", .reloaded)
    guard !report.needsRestart.isEmpty else { return }
    log.write(
      .warning, "\(report.needsRestart.joined(separator: ", ")): takes effect only after a restart")
  }
}
