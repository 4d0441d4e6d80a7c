package import EventSourcing
internal import Signals

/// Why the list is not changed.
enum ChoreError: ServiceError {
  case emptyTitle
  case unknown(id: Int)

  var kind: ServiceErrorKind {
    switch self {
    case .emptyTitle: .invalid(parameter: "title", expected: "a title")
    case .unknown(let id): .notFound(what: "chore", id: "\(id)")
    }
  }

  var description: String {
    switch self {
    case .emptyTitle: "a title is not empty"
    case .unknown(let id): "nothing to do has the id \(id)"
    }
  }
}

/// A list of things to do.
package final class ChoreService {
  let ledger: Ledger<Chores>

  package init(in host: ServiceHost) {
    ledger = Ledger("chores", in: host)
  }

  /// The open tasks by id: a list for views, of which an event changes one row.
  var all: RowList<Int, String> {
    ledger.rows(of: \.titles) { event, _ in
      switch event {
      case .added(let id, _), .done(let id): [id]
      }
    }
  }

  /// Adds something to do and returns its id.
  func add(title: String) throws(ChoreError) -> Int {
    guard !title.isEmpty else { throw .emptyTitle }
    let id = ledger.pending.lastID + 1
    ledger.record(.added(id: id, title: title))
    return id
  }

  /// Takes something off the list and returns its title.
  func finish(_ id: Int) throws(ChoreError) -> String {
    guard let title = ledger.pending.titles[id] else { throw .unknown(id: id) }
    ledger.record(.done(id: id))
    return title
  }
}
