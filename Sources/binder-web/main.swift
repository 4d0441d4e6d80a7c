import EventLoop
import Glibc
import Wire

/// Executes the request of the command line and returns an exit code of sysexits(3).
func runRequest() -> CInt {
  let words = Process.start()
  let manager = ServiceManager()
  let log = Log(isJournal: manager.isLoggedByJournal)
  do {
    let options = try Options(words, Options.environment)
    switch options.request {
    case .help: print(Options.help, terminator: "")
    case .version: print("binder-web \(Release.version)")
    case .own: return try serveOwner(options, log)
    case .proxied: return try serveProxy(options, log, manager)
    }
    try Process.flushOutput()
    return EXIT_SUCCESS
  } catch let failure as OutputFailure {
    log.write(.error, "\(failure)")
    return EX_IOERR
  } catch let misuse as Options.Misuse {
    log.write(.error, misuse.message)
    return EX_USAGE
  } catch let error as SocketListener.PathError {
    log.write(.error, "socket: \(error)")
    return EX_UNAVAILABLE
  } catch {
    log.write(.error, "\(error)")
    return EX_UNAVAILABLE
  }
}

exit(runRequest())
