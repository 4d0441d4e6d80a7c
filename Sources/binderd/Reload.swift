import Binders
import Configuration
import EventLoop

/// Lets the daemon do what a configuration and its `*.bind` files say.
///
/// It returns whether other bindings live, and those that cannot.
typealias TakeOver = (Configuration, BindFiles) -> (
  hasChanged: Bool, faults: [ConfigurationFault]
)

/// Reads the configuration again and lets the daemon take it over, or leaves everything as it is.
final class Reload {
  private let file: ConfigurationFile
  private let manager: ServiceManager
  private let log: Log

  /// What was read at the start, and what was read last.
  private let started: Configuration
  private var configuration: Configuration
  private let options: Options
  private let takeOver: TakeOver

  init(
    _ file: ConfigurationFile, _ settings: Settings, _ log: Log, _ manager: ServiceManager,
    takeOver: @escaping TakeOver
  ) {
    self.file = file
    options = settings.options
    (started, configuration) = (settings.configuration, settings.configuration)
    self.log = log
    self.manager = manager
    self.takeOver = takeOver
  }

  /// The file, when there is one.
  var path: String? { file.isMissing ? nil : file.path }

  /// What has changed; it holds from now on, for everything that is asked.
  ///
  /// - Throws: All that is wrong with the file, when everything stays as it was; the log has it too.
  @discardableResult
  func run() throws(ConfigurationFaults) -> ReloadReport {
    manager.notify("RELOADING=1", "MONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
    defer { manager.notify("READY=1") }
    let new: Configuration
    let files: BindFiles
    do throws(ConfigurationFaults) {
      new = try file.read()
      files = try Settings(options: options, configuration: new).bindDirectory.read()
    } catch {
      for fault in error.faults { log.write(.error, "\(fault)") }
      log.write(.error, "the configuration stays as it was")
      throw error
    }
    let (hasBound, faults) = takeOver(new, files)
    let report = ReloadReport(
      file: path, changed: configuration.changes(in: new) + (hasBound ? ["bindings"] : []),
      needsRestart: started.needsRestart(for: new), warnings: new.warnings + faults)
    configuration = new
    tell(report)
    return report
  }

  private func tell(_ report: ReloadReport) {
    for warning in report.warnings { log.write(.warning, "\(warning)") }
    let changed = report.changed.isEmpty ? "nothing" : report.changed.joined(separator: ", ")
    log.write(.notice, "the configuration was read again; changed: \(changed)")
    guard !report.needsRestart.isEmpty else { return }
    log.write(
      .warning, "\(report.needsRestart.joined(separator: ", ")): changed by the next start only")
  }
}
