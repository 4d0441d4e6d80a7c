import Apps
import Binder
import EventSourcing
import JSON
import Journal
import JournalMemory
import ServiceTestSupport
import Signals
import TestSupport
import Testing

/// Logins, names and tokens.
@Suite(.leavesNothing)
struct SessionTests {
  private let bench: ChatBench

  init() throws { bench = try ChatBench() }

  @Test
  func `a user who takes a free name is logged in when the event is durable`() throws {
    let session = bench.session()
    var seen: [String?] = []
    let bag = DisposeBag()
    session.user.observeNext { seen.append($0?.name) }.dispose(in: bag)
    try bench.run { _ = try session.logIn(name: "kim") }
    #expect(session.user.value == nil, "nothing is durable yet")
    #expect(try session.actor() == "kim", "what is asked behind it is asked as kim")
    bench.store.commit()
    #expect(seen == [nil, "kim"])
    #expect(bench.presence.online.value == ["kim"])
    #expect(session.logOut())
    #expect(seen == [nil, "kim", nil])
    #expect(bench.presence.online.value == [])
    #expect(throws: UsersError.notLoggedIn) { try session.actor() }
    #expect(!session.logOut())
    bag.dispose()
  }

  @Test
  func `repeated logins keep only one observer`() throws {
    let nodes = try #require(LiveNodes.counter)
    let session = bench.session()
    let before = nodes.counts
    var once: [String: Int]?
    for i in 0..<1000 {
      try bench.run { _ = try session.logIn(name: i % 2 == 0 ? "kim" : "lee") }
      bench.store.commit()
      if i == 1 { once = nodes.counts }
    }
    #expect(session.user.value?.name == "lee")
    #expect(nodes.counts == once)
    session.logOut()
    #expect(nodes.counts == before, "nobody is logged in")
  }

  @Test
  func `a name belongs to the first system user who took it`() throws {
    _ = try bench.user("kim", uid: 1)
    #expect(throws: UsersError.taken(name: "kim")) {
      try bench.run { _ = try bench.session(uid: 2).logIn(name: "kim") }
    }
    #expect(throws: UsersError.taken(name: "kim")) { try bench.session(uid: 2).actor(as: "kim") }
    #expect(try bench.session(uid: 1).actor(as: "kim") == "kim", "who owns it need not log in")
    #expect(throws: UsersError.unknown(name: "lee")) { try bench.session().actor(as: "lee") }
    let after = try bench.restarted()
    #expect(throws: UsersError.taken(name: "kim")) {
      try after.run { _ = try after.session(uid: 2).logIn(name: "kim") }
    }
  }

  @Test(arguments: ["", "Kim", "1kim", "k m", "kim/x", String(repeating: "k", count: 33)])
  func `invalid names are refused`(name: String) throws {
    #expect(throws: UsersError.badName) {
      try bench.run { _ = try bench.session().logIn(name: name) }
    }
  }

  @Test
  func `the number of names is limited`() throws {
    for i in 0..<UsersService.maxNames { _ = try bench.user("kim\(i)") }
    #expect(throws: UsersError.tooManyNames(max: 16)) {
      try bench.run { _ = try bench.session().logIn(name: "one-more") }
    }
  }

  @Test
  func `a token logs in until it is revoked, and only its hash is stored`() throws {
    let kim = try bench.user("kim")
    let token = try bench.run { try bench.users.issueToken(to: "kim") }
    bench.store.commit()
    #expect(token == "1.secret-1")
    let kept = bench.journal
    #expect(!kept.contains(#""secret-1""#))
    #expect(kept.contains("hash of secret-1"))

    let elsewhere = bench.session(uid: 2)
    for wrong in ["", "1", "1.", "1.secret-2", "2.secret-1", "x.secret-1", "1.hash of secret-1"] {
      #expect(throws: UsersError.badToken) { try elsewhere.logIn(token: wrong) }
    }
    #expect(try elsewhere.logIn(token: token).name == "kim")
    #expect(elsewhere.user.value?.name == "kim")
    #expect(bench.presence.online.value == ["kim"], "on two connections, once")

    #expect(try bench.run { try kim.users.revokeTokens() } == 1)
    bench.store.commit()
    #expect(elsewhere.user.value == nil)
    #expect(throws: UsersError.badToken) { try elsewhere.logIn(token: token) }
    #expect(bench.presence.online.value == ["kim"], "on the connection without a token")
  }

  @Test
  func `a replaced session can no longer act`() throws {
    let kim = try bench.user("kim")
    _ = try bench.user("guest", uid: 2)
    try bench.run { _ = try kim.rooms.create("lobby", topic: "") }
    let token = try bench.run { try bench.users.issueToken(to: "kim") }
    bench.store.commit()
    let session = bench.session(uid: 2)
    _ = try session.logIn(token: token)
    let user = try #require(session.user.value)
    let messages = user.messages(in: 1)
    _ = try session.logIn(name: "guest")
    #expect(session.user.value !== user)
    #expect(try refusals(of: user, messages).count == 13)
    user.logOut()
    #expect(session.user.value?.name == "guest", "it is nobody's to log out any more")
    // A revoked token is invalid at once, before the event is durable.
    _ = try session.logIn(token: token)
    let again = try #require(session.user.value)
    try bench.run { _ = try kim.users.revokeTokens() }
    #expect(session.user.value === again, "it is not durable yet")
    #expect(throws: ChatError.user(.notLoggedIn)) {
      try bench.run { _ = try again.messages(in: 1).send("hello") }
    }
  }

  /// Returns the errors of all actions of a user.
  private func refusals(of user: LoggedInUser, _ messages: MessagesService) throws -> [String] {
    var told: [String] = []
    let bag = DisposeBag()
    let asks: [() throws -> Void] = [
      { _ = try messages.send("hello") }, { try messages.describe(name: "x", topic: "y") },
      { _ = try messages.remove() }, { _ = try messages.join() }, { try messages.leave() },
      { _ = try user.rooms.create("hall", topic: "") }, { try user.rooms.enter(1) },
      { _ = try user.rooms.leave(1) }, { _ = try user.users.removeFriend("guest") },
      { try user.users.edit(fullName: "x", about: "y") },
      { _ = try user.users.revokeTokens() },
      { user.users.addFriend("guest").observeNext { told.append("\($0)") }.dispose(in: bag) },
      { user.users.token.observeNext { told.append("\($0)") }.dispose(in: bag) },
    ]
    let last = bench.host.last
    for ask in asks {
      do { try bench.run(ask) } catch { told.append("\(error)") }
    }
    #expect(bench.host.last == last)
    return told
  }

  @Test
  func `tokens and their numbers survive a restart`() throws {
    _ = try bench.user("kim")
    let token = try bench.run { try bench.users.issueToken(to: "kim") }
    let after = try bench.restarted()
    #expect(try after.session(uid: 9).logIn(token: token).name == "kim")
    #expect(try after.run { try after.users.issueToken(to: "kim") }.hasPrefix("2."))
  }

  @Test
  func `a login in a failed command logs nobody in`() throws {
    struct Failed: Error {}
    let session = bench.session()
    _ = try? bench.run {
      _ = try session.logIn(name: "kim")
      throw Failed()
    }
    bench.store.commit()
    #expect(session.user.value == nil)
    #expect(throws: UsersError.notLoggedIn) { try session.actor() }
  }

  @Test
  func `a user who disconnects is no longer present`() throws {
    let session = bench.session()
    try bench.run { _ = try session.logIn(name: "kim") }
    bench.store.commit()
    weak let user = session.user.value
    #expect(user != nil)
    session.end()
    #expect(bench.presence.online.value == [])
    #expect(user == nil, "nothing holds what there was for them")
  }

  @Test
  func `only the system user of an account can claim its name`() throws {
    let host = ServiceHost(store: MemoryStore())
    let users = UsersService(
      in: host.library, secrets: CountedSecrets(), account: { ["root": 0, "kim": 7][$0] })
    try host.start()
    for name in ["root", "kim"] {
      #expect(throws: UsersError.taken(name: name)) {
        try host.run { try users.claim(name, by: 8) }
      }
    }
    #expect(try host.run { try users.claim("kim", by: 7) }.uid == 7)
    #expect(try host.run { try users.claim("lee", by: 8) }.uid == 8)
  }
}
