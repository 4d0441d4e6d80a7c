import Binder
import EventSourcing
import Signals

/// A service whose state is a table.
struct TableService: Measured {
  private let ledger: Binder.Ledger<OnTables>

  init(in host: ServiceHost) {
    ledger = Binder.Ledger("todo", in: Host(host, on: Unscheduled()))
  }

  var count: Int { ledger.committed.items.count }

  func rename(_ id: Int, to title: String) {
    guard let item = ledger.pending.items[id], item.title != title else { return }
    ledger.record(.renamed(title: title), of: \.items, id)
  }
}

/// The services here have no timers.
private final class Unscheduled: Scheduler {
  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    NonDisposable.instance
  }
}
