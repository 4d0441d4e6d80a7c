import API
import Apps
import BinderTesting
import Configuration
import EventSourcing
import Features
import JSON
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

/// A daemon in this process with all services and binders.
///
/// The test simulates web, machine and disk.
final class WholeBench {
  let bench: Bench
  let web = FakeWeb()
  let people: PeopleService
  let users: UsersService
  let chat: ChatService

  /// Checks the index of source names of each service against its sources.
  let checkNames: () throws -> Void

  /// - Parameter lineOrder: Reorders the lines of all binders.
  init(
    lineOrder: @escaping ([Assembly.Line]) -> [Assembly.Line] = { $0 }
  ) throws {
    let (time, web) = (ManualTime(), web)
    var made: (people: PeopleService, users: UsersService, chat: ChatService)?
    var logins: (users: UsersService, presence: PresenceService, chat: ChatService)?
    var checkNames: () throws -> Void = {}
    var end: () -> Void = {}
    bench = try Bench(
      time: time,
      sessions: { host in
        let users = UsersService(in: host.library, secrets: CountedSecrets())
        let (presence, chat) = (PresenceService(), ChatService(in: host.library))
        let sessions = SessionFactory(
          in: host.library, users: users, presence: presence, chat: chat, on: time)
        logins = (users, presence, chat)
        return sessions.session
      },
      services: { parts in
        let host = parts.host
        guard let (users, presence, chat) = logins else { preconditionFailure("no sessions") }
        let (lists, maps) = (ListsService(in: host), MapsService(in: host))
        let people = PeopleService(in: host.library)
        let (threads, todo) = (ThreadsService(in: host.library), TodoService(in: host.library))
        let bindings = BindingsService(in: host)
        let journal = JournalService(
          in: host, on: time,
          {
            AgeClock.Reading(
              wall: 1_767_323_045_000_000, milliseconds: time.milliseconds, boot: "b",
              isSynchronized: false)
          })
        let feeds = FeedsService(
          in: host.library(on: time), web: web, reader: FakeReader())
        let leases = LeasesService(in: host, on: time)
        let (clientLeases, locks) = (ClientLeases(leases), LocksService(in: host))
        let programs = Programs(in: host)
        let types = TypesService(in: host)
        let silence = SilenceWatch(in: host, on: time)
        let scripts = ScriptsService(in: host, NoLanguage(), ScriptFiles(in: NoLanguage()))
        end = { [unowned host] in
          #expect(throws: Never.self) { try feeds.end(in: host) }
          leases.stop()
          silence.stop()
        }
        let search = SearchService([FixedBackend([])], on: time)
        let daemon = DaemonService(
          on: time, stats: { DaemonStats() }, connections: { [] },
          streams: StreamMeter(host) { time.nanoseconds })
        let activeNode = ClusterState(node: "a", role: .active, term: 1)
        let nobody = Accounts(user: { _ in nil }, group: { _ in nil })
        let administration = Administration(
          reload: { _ throws(ConfigurationFaults) in
            ReloadReport(file: nil, changed: [], needsRestart: [], warnings: [])
          },
          decide: { Configuration(nobody).roles.decision(on: $0, by: $1, owner: 0) }, file: { nil })
        made = (people, users, chat)
        checkNames = {
          try Self.checkNames(lists.ledger)
          try Self.checkNames(maps.ledger)
          try Self.checkNames(leases.ledger)
          try Self.checkNames(locks.ledger)
          try Self.checkNames(programs.ledger)
          try people.ledger.checkNames()
          try threads.ledger.checkNames()
          try todo.ledger.checkNames()
          try users.ledger.checkNames()
          try chat.ledger.checkNames()
          try feeds.ledger.checkNames()
          try Self.checkNames(bindings.ledger)
          try Self.checkNames(types.ledger)
        }
        return { catalog in
          bindLists(catalog, to: lists)
          bindMaps(catalog, to: maps)
          bindLeases(catalog, to: leases, clientLeases)
          bindLocks(catalog, to: locks, clientLeases)
          bindPrograms(catalog, to: programs)
          bindTypes(catalog, to: types, silence)
          bindScripts(catalog, to: scripts)
          bindPeople(catalog, to: people)
          bindThreads(catalog, to: threads, parts.clients)
          bindTodo(catalog, to: todo)
          bindBindings(catalog, to: bindings, parts.live)
          bindUsers(catalog, to: users, parts.clients)
          bindPresence(catalog, to: presence)
          bindChat(catalog, to: chat, parts.clients)
          bindFeeds(catalog, to: feeds)
          bindSearch(catalog, to: search, opening: SearchHit.views) { view, hit in
            try openSelected(hit, from: view, parts.clients, threads, chat)
          }
          bindDaemon(catalog, to: daemon)
          bindCluster(catalog, to: PolledValue(every: 1, on: time) { activeNode })
          bindJournal(catalog, to: journal)
          bindUndo(catalog)
          bindWhy(catalog, parts.live)
          catalog.offerSource("daemon/journal", "How far the work is.", journal.progress)
          bindAdministration(catalog, to: administration)
        }
      }, lineOrder: lineOrder)
    bench.endServices = end
    guard let made else { preconditionFailure("a bench makes its services") }
    (people, users, chat) = made
    self.checkNames = checkNames
  }

  private static func checkNames<State>(_ ledger: Ledger<State>) throws {
    var found: Set<String> = []
    try ledger.search(.everything) { name in
      found.insert(name)
      return true
    }
    #expect(found == Set(ledger.committed.sources), "\(ledger.service)")
  }
}

/// Orders of the lines of binders.
enum LineOrder {
  /// Returns an order: unchanged, reversed or random.
  static func order(_ seed: Int) -> ([Assembly.Line]) -> [Assembly.Line] {
    switch seed {
    case 0: return { $0 }
    case 1: return { $0.reversed() }
    default:
      var random = SeededRandom(seed: UInt64(seed))
      return { $0.shuffled(using: &random) }
    }
  }
}

/// A language without an interpreter, for a bench without services in files.
struct NoLanguage: ScriptLanguage {
  var obstacle: String? { "there is none" }

  func interpreter(
    for text: String, file: String
  ) throws(ScriptFailure) -> any ScriptInterpreter {
    throw .fault("there is none")
  }

  func rowNames(in text: String, _ declaration: ScriptDeclaration) -> [String: Set<String>] {
    [:]
  }
}
