import JSON
import Journal
import Services
import Signals
import Testing

/// Who is logged in, and who may be.
struct SessionTests {
  private let bench: ChatBench

  init() throws { bench = try ChatBench() }

  @Test
  func `who takes a free name is logged in as soon as the disk has it`() throws {
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
  func `a name belongs to the user of the machine who was first`() throws {
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
  func `names keep a rule`(name: String) throws {
    #expect(throws: UsersError.badName) {
      try bench.run { _ = try bench.session().logIn(name: name) }
    }
  }

  @Test
  func `names are limited`() throws {
    for i in 0..<UsersService.maxNames { _ = try bench.user("kim\(i)") }
    #expect(throws: UsersError.tooManyNames(max: 16)) {
      try bench.run { _ = try bench.session().logIn(name: "one-more") }
    }
  }

  @Test
  func `a token logs in from elsewhere until it is revoked, and only its hash is kept`() throws {
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
  func `tokens go on after a start, and their numbers with them`() throws {
    _ = try bench.user("kim")
    let token = try bench.run { try bench.users.issueToken(to: "kim") }
    let after = try bench.restarted()
    #expect(try after.session(uid: 9).logIn(token: token).name == "kim")
    #expect(try after.run { try after.users.issueToken(to: "kim") }.hasPrefix("2."))
  }

  @Test
  func `what a command has recorded that fails logs nobody in`() throws {
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
  func `who has left is not here any more`() throws {
    let session = bench.session()
    try bench.run { _ = try session.logIn(name: "kim") }
    bench.store.commit()
    weak let user = session.user.value
    #expect(user != nil)
    session.end()
    #expect(bench.presence.online.value == [])
    #expect(user == nil, "nothing holds what there was for them")
  }
}
