import Apps
import struct Binder.Caller
import EventSourcing
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport

/// Users, rooms and sessions on a memory store.
final class ChatBench {
  let store: MemoryStore
  let host: ServiceHost
  let users: UsersService
  let presence = PresenceService()
  let chat: ChatService
  let sessions: SessionFactory
  let time = ManualScheduler()

  init(_ store: MemoryStore = MemoryStore()) throws {
    self.store = store
    host = ServiceHost(store: store)
    users = UsersService(in: host.library, secrets: CountedSecrets())
    chat = ChatService(in: host.library)
    sessions = SessionFactory(
      in: host.library, users: users, presence: presence, chat: chat, on: time)
    try host.start()
  }

  /// Returns a bench with the same users after a restart.
  func restarted() throws -> ChatBench {
    store.commit()
    return try ChatBench(store)
  }

  func session(uid: UInt32 = 1) -> ClientSession {
    sessions.session(of: Caller(Peer(uid: uid, pid: 2)))
  }

  /// Runs a method as a command, and rethrows its error.
  @discardableResult
  func run<Value>(_ body: () throws -> Value) throws -> Value { try host.run(body) }

  /// The data and metadata of all events in the journal, concatenated.
  var journal: String {
    var text = ""
    store.replay(after: 0) { text += $0.records.map { $0.data + ($0.meta ?? "") }.joined() }
    return text
  }

  /// Returns a user whose login is durable.
  func user(_ name: String, uid: UInt32 = 1) throws -> LoggedInUser {
    let session = session(uid: uid)
    try host.run { _ = try session.logIn(name: name) }
    store.commit()
    guard let user = session.user.value else { throw UsersError.notLoggedIn }
    kept.append(session)
    return user
  }

  private var kept: [ClientSession] = []
}
