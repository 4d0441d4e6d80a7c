import Configuration
import Connections
import Console
import EventLoop
import EventSourcing
import Features
import Glibc
import Journal
import Model
import Signals
import Wire

/// Runs a program as its command line says.
///
/// - Returns: An exit code of sysexits(3).
package func runProgram(_ program: Program) -> CInt {
  let words = Process.start()
  AppliedEvent.reportTraps()
  let manager = ServiceManager()
  let log = Log(
    isJournal: manager.isLoggedByJournal,
    journalSocket: manager.isLoggedByJournal ? "/run/systemd/journal/socket" : nil,
    of: program.name)
  guard DaemonName(program.name)?.text == program.name else {
    log.write(.error, "'\(program.name)' is no name of a daemon: \(DaemonName.rule)")
    return EX_SOFTWARE
  }
  do {
    let options = try Options(words, of: program)
    log.level = options.logLevel
    let code = try execute(options, log, manager)
    try Process.flushOutput()
    return code
  } catch let failure as OutputFailure {
    log.write(.error, "\(failure)")
    return EX_IOERR
  } catch let misuse as Options.Misuse {
    log.write(.error, misuse.message)
    return EX_USAGE
  } catch let error as ConfigurationFaults {
    for fault in error.faults { log.write(.error, "\(fault)") }
    return EX_CONFIG
  } catch let error as SocketListener.PathError {
    log.write(.error, "socket: \(error)")
    return EX_UNAVAILABLE
  } catch let error as JournalError {
    switch error {
    case .corrupt, .notUnderstood, .outOfRange:
      log.write(
        .error,
        "\(error); see \(program.name) --verify, or serve the readable part with "
          + "\(program.name) --read-only")
    default: log.write(.error, "\(error)")
    }
    // A full disk may have room later; then a restart succeeds.
    if case .readOnly = error { return EX_IOERR }
    return EX_CONFIG
  } catch {
    log.write(.error, "\(error)")
    return EX_UNAVAILABLE
  }
}

/// Executes a request and returns its exit code.
private func execute(_ options: Options, _ log: Log, _ manager: ServiceManager) throws -> CInt {
  switch options.request {
  case .help: print(options.help, terminator: "")
  case .version: print("\(options.program.name) \(Release.version)")
  case .work(let task):
    let hasBar = isatty(STDERR_FILENO) == 1 && !Style.isDumb(Options.environment)
    guard let form = ProgressMeter.Form(options.progress, isTerminal: hasBar) else {
      throw Options.Misuse(message: "--progress takes bar, lines, json or none")
    }
    return try workOnJournal(task, options, form)
  case .compact: return try compactJournal(options, log, manager)
  case .remove(let pattern): return try removeValues(pattern, options, log, manager)
  case .printUnit(let kind):
    let file: UnitFile
    do throws(UnitFile.PathFault) {
      file = try UnitFile(of: options.program, at: options.executable)
    } catch {
      throw Options.Misuse(message: "\(error)")
    }
    print(file.text(kind), terminator: "")
  case .checkConfiguration: return reportConfiguration(options)
  case .run: return try runDaemon(options, log, manager)
  }
  return EXIT_SUCCESS
}
