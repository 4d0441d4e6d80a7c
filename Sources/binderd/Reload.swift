import Configuration
import EventLoop

/// Reads the configuration again and lets the daemon take it over, or leaves everything as it is.
final class Reload {
  private let file: ConfigurationFile
  private let manager: ServiceManager
  private let log: Log

  /// What was read at the start, and what was read last.
  private let started: Configuration
  private var configuration: Configuration
  private let takeOver: (Configuration) -> Void

  /// - Parameter takeOver: Lets the daemon do what a configuration says.
  init(
    _ file: ConfigurationFile, _ configuration: Configuration, _ log: Log,
    _ manager: ServiceManager, takeOver: @escaping (Configuration) -> Void
  ) {
    self.file = file
    (started, self.configuration) = (configuration, configuration)
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
    do throws(ConfigurationFaults) {
      new = try file.read()
    } catch {
      for fault in error.faults { log.write(.error, "\(fault)") }
      log.write(.error, "the configuration stays as it was")
      throw error
    }
    let report = ReloadReport(
      file: path, changed: configuration.changes(in: new),
      needsRestart: started.needsRestart(for: new), warnings: new.warnings)
    configuration = new
    takeOver(new)
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
