import Binder

/// The things that are still to do.
struct Chores: State {
  enum Event: Codable {
    case added(id: Int, title: String)
    case done(id: Int)
  }

  var titles = Table<Int, String>()

  static let sources = [Source.rows(\Chores.titles, "chores/*", "What is to be done.")]

  mutating func apply(_ event: Event, at context: EventContext) {
    switch event {
    case .added(let id, let title): titles[id] = title
    case .done(let id): titles[id] = nil
    }
  }
}

/// A list of things to do.
final class ChoreService {
  let ledger: Ledger<Chores>

  init(in host: Host) { ledger = Ledger("chores", in: host) }

  func add(title: String) throws(Rejection) -> Int {
    guard !title.isEmpty else { throw .invalid("title", "a title is not empty") }
    let id = ledger.pending.titles.nextID
    ledger.record(.added(id: id, title: title))
    return id
  }

  func finish(_ id: Int) throws(Rejection) -> String {
    guard let title = ledger.pending.titles[id] else { throw .notFound("chore", id) }
    ledger.record(.done(id: id))
    return title
  }
}

/// Binds clients to the list.
func bindChores(_ catalog: Catalog, to chores: ChoreService) {
  catalog.offer("Things to do.", chores.ledger)
  let add = catalog.command(
    "chores.add", "Adds something to do; returns its id.",
    Parameter("title", "What is to be done."), records: "added", calls: chores.add)
  let finish = catalog.command(
    "chores.finish", "Takes something off the list.",
    Parameter("id", "What chores.add has returned."), records: "done", calls: chores.finish)
  catalog.view("chores", "What is to be done.") { view in
    view.bind("chores", to: chores.ledger.rows(\.titles, as: "title"))
    view.intent("add", calls: add).main()
    view.intent("finish", calls: finish)
  }
}
