import Binder

/// The same things to do, on a table.
struct OnTables: State {
  enum Event: Codable {
    case added(title: String)
    case renamed(title: String)
    case removed
  }

  private(set) var items = Table<Int, Item>()

  static let sources = [Source.rows(\OnTables.items, "todo/*", "What is to be done.")]

  mutating func apply(_ event: Event, at context: EventContext) {
    guard let id: Int = context.key() else { return }
    switch event {
    case .added(let title): items[id] = Item(id: id, title: title, done: false)
    case .renamed(let title): items[id]?.title = title
    case .removed: items[id] = nil
    }
  }
}
