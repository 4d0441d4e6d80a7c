import EventLoop
import Journal
import JournalSQLite
import Services

/// Whether a daemon could start on a journal: the services take all of it in, as they would then.
///
/// - Throws: ``JournalError`` with the event that they cannot take.
func takeIn(_ path: String) throws(JournalError) {
  let loop: Loop
  do throws(SystemError) {
    loop = try Loop()
  } catch {
    throw .unavailable(detail: "\(error)")
  }
  let store = try SQLiteStore(path: path, durability: nil, on: loop, clock: { Process.now })
  defer {
    store.close()
    loop.run()
  }
  let host = ServiceHost(store: store)
  let services: [AnyObject] = [
    CellsService(in: host), ListsService(in: host), MapsService(in: host), PeopleService(in: host),
    ThreadsService(in: host), BindingsService(in: host), ReadersService(in: host),
    Ledger<DaemonRecord>("daemon", in: host), Ledger<Feeds>("feeds", in: host),
  ]
  defer { withExtendedLifetime(services) {} }
  do throws(JournalFault) {
    try host.start()
  } catch {
    switch error {
    case .damaged(let seq, let detail): throw .corrupt(seq: seq, detail: detail)
    case .notUnderstood(let seq, let detail): throw .notUnderstood(seq: seq, detail: detail)
    case .readOnly, .outOfRange, .unavailable: throw .unavailable(detail: "\(error)")
    }
  }
}
