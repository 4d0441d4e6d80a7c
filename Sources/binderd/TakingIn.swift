import Configuration
import Connections
import EventLoop
import EventSourcing
import Facts
import Journal

/// Checks whether a daemon could start on a journal, by replaying it into all services.
///
/// - Throws: ``JournalError`` with the event that the services reject.
func takeIn(_ location: JournalLocation) throws(JournalError) {
  do {
    var options = try Options([])
    options.isReadOnly = true
    options.configuration = "/dev/null"
    var settings = try Settings(reading: options)
    settings.location = location
    let daemon = try Daemon(
      settings, ConfigurationFile(options), Log(isJournal: false), ServiceManager())
    defer { daemon.abandon() }
    try daemon.host.start()
  } catch let error as JournalError {
    throw error
  } catch {
    throw .unavailable(detail: "\(error)")
  }
}
