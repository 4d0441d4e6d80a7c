import Configuration
import Connections
import EventLoop
import EventSourcing
import Facts
import Journal

/// Checks whether a daemon could start on a journal, by replaying it into all services.
///
/// - Throws: ``JournalError`` with the event that the services reject.
func takeIn(_ path: String) throws(JournalError) {
  do {
    var options = try Options([])
    options.journal = path
    options.isReadOnly = true
    options.configuration = "/dev/null"
    let daemon = try Daemon(
      Settings(reading: options), ConfigurationFile(options), Log(isJournal: false),
      ServiceManager())
    defer { daemon.abandon() }
    try daemon.host.start()
  } catch let error as JournalError {
    throw error
  } catch {
    throw .unavailable(detail: "\(error)")
  }
}
