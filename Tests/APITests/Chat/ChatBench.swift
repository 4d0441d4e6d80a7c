import API
import Apps
import BinderTesting
import Configuration
import Features
import JSON
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

/// A bench with users and rooms, and the sessions of its clients in connection order.
final class ChatBench {
  let bench: Bench
  let time: ManualTime
  let secrets: CountedSecrets
  var sessions: [ClientSession] { made.entries.compactMap(\.session) }
  private let made: Made

  /// The sessions, held weakly: they end with their clients.
  private final class Made {
    struct Entry {
      weak var session: ClientSession?
    }

    var entries: [Entry] = []
  }

  /// - Parameters:
  ///   - hits: The result of every search.
  ///   - bind: Binds clients to more.
  init(finding hits: [SearchHit] = [], bind: @escaping (Catalog) -> Void = { _ in }) throws {
    let (time, secrets) = (ManualTime(), CountedSecrets())
    self.secrets = secrets
    self.time = time
    let made = Made()
    self.made = made
    var logins: (users: UsersService, presence: PresenceService, chat: ChatService)?
    bench = try Bench(
      time: time,
      sessions: { host in
        let users = UsersService(in: host.library, secrets: secrets)
        let (presence, chat) = (PresenceService(), ChatService(in: host.library))
        let sessions = SessionFactory(
          in: host.library, users: users, presence: presence, chat: chat, on: time)
        logins = (users, presence, chat)
        return {
          let session = sessions.session(of: $0)
          made.entries.append(.init(session: session))
          return session
        }
      },
      services: { parts in
        let (host, clients) = (parts.host, parts.clients)
        guard let (users, presence, chat) = logins else { preconditionFailure("no sessions") }
        let threads = ThreadsService(in: host.library)
        let search = SearchService([FixedBackend(hits)], on: time)
        return { catalog in
          bind(catalog)
          bindUsers(catalog, to: users, clients)
          bindPresence(catalog, to: presence)
          bindChat(catalog, to: chat, clients)
          bindThreads(catalog, to: threads, clients)
          bindSearch(catalog, to: search, opening: SearchHit.views) { view, hit in
            try openSelected(hit, from: view, clients, threads, chat)
          }
        }
      })
  }

  /// Returns a client that is logged in.
  func client(_ name: String, uid: UInt32 = 1000, as role: Role = .owner) -> TestClient {
    let client = bench.connect(uid: uid, as: role)
    _ = client.call(#"{"id":1,"method":"users.log_in","params":{"name":"\#(name)"}}"#)
    return client
  }

  func makeRoom(_ name: String, by client: TestClient) {
    _ = client.call(#"{"id":1,"method":"chat.create","params":{"name":"\#(name)"}}"#)
  }
}

/// Returns a token of the logged-in user.
func token(of client: TestClient) throws -> String {
  try #require(
    call(client, "users.token", "{}").split(separator: "\"").map(String.init).first {
      $0.contains(".secret-")
    })
}

/// Calls a method and returns the answer.
func call(_ client: TestClient, _ method: String, _ params: String) -> String {
  client.call(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
}

/// Calls a method and returns the error; `nil` if it succeeds.
func error(_ client: TestClient, _ method: String, _ params: String) -> WireError? {
  client.error(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
}

/// A search backend with a fixed result.
final class FixedBackend: SearchBackend {
  let name = "fixed"
  let doc = "What a test says."
  private let hits: [SearchHit]

  init(_ hits: [SearchHit]) { self.hits = hits }

  func find(_ term: String, limit: Int) -> Signal<[SearchHit], SearchError> { Signal(just: hits) }
}

extension TestClient {
  /// Opens a view and returns the answer and the frames that follow.
  func open(_ binder: String, _ view: String, _ args: String = "{}") -> [String] {
    send(
      #"{"id":1,"method":"open","params":{"binder":"\#(binder)","view":"\#(view)","args":\#(args)}}"#
    )
    return settle()
  }

  /// Sends an intent of a view and returns the answer and the frames that follow.
  func ask(_ view: String, _ intent: String, _ args: String = "{}") -> [String] {
    send(
      #"{"id":2,"method":"intent","params":{"view":"\#(view)","name":"\#(intent)","args":\#(args)}}"#
    )
    return settle()
  }
}
