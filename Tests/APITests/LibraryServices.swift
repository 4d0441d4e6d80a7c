import API
import Apps
import Binder
import EventSourcing
import Model
import ServiceTestSupport
import Testing

// The applications that use the library, in a catalogue of the engine.

func bindPeople(_ catalog: API.Catalog, to people: PeopleService) {
  bind(catalog, people.ledger.host) { Apps.bindPeople($0, to: people) }
}

func bindTodo(_ catalog: API.Catalog, to todo: TodoService) {
  bind(catalog, todo.ledger.host) { Apps.bindTodo($0, to: todo) }
}

func bindFeeds(_ catalog: API.Catalog, to feeds: FeedsService) {
  bind(catalog, feeds.ledger.host) { Apps.bindFeeds($0, to: feeds) }
}

func bindSearch(
  _ catalog: API.Catalog, to search: SearchService, opening views: [String] = [],
  onSelection: @escaping (Binder.View, SearchHit) throws -> Void = { _, _ in }
) {
  bind(catalog, catalog.host.library) {
    Apps.bindSearch($0, to: search, opening: views, onSelection: onSelection)
  }
}

func bindUsers(_ catalog: API.Catalog, to users: UsersService, _ clients: SessionTable) {
  bind(catalog, users.ledger.host) { Apps.bindUsers($0, to: users, clients) }
}

func bindPresence(_ catalog: API.Catalog, to presence: PresenceService) {
  bind(catalog, catalog.host.library) { Apps.bindPresence($0, to: presence) }
}

func bindThreads(
  _ catalog: API.Catalog, to threads: ThreadsService, _ clients: SessionTable
) {
  bind(catalog, threads.ledger.host) { Apps.bindThreads($0, to: threads, clients) }
}

func bindChat(_ catalog: API.Catalog, to chat: ChatService, _ clients: SessionTable) {
  bind(catalog, chat.ledger.host) { Apps.bindChat($0, to: chat, clients) }
}

/// Offers what a binder offers in a catalogue of the library.
private func bind(
  _ catalog: API.Catalog, _ host: Host, _ build: (Binder.Catalog) -> Void
) {
  do {
    try Daemon.feature(host) { build($1) }.bind(catalog)
  } catch {
    Issue.record("\(error)")
  }
}

extension Binder.Ledger {
  /// Checks the index of source names against the sources.
  func checkNames() throws {
    var found: Set<String> = []
    try engine.search(.everything) { name in
      found.insert(name)
      return true
    }
    #expect(found == Set(engine.committed.sources), "\(service)")
  }
}

extension FeedsService {
  /// Ends all fetches and all subscriptions.
  func end(in host: ServiceHost) throws {
    stop()
    let command = Command(method: "test.end", caller: Peer(uid: 0, pid: 1))
    _ = try host.perform(command) {
      for id in ledger.pending.ids.sorted() { _ = try unsubscribe(id) }
      return nil
    }
  }
}
