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

/// Profiles and friends.
@Suite(.leavesNothing)
struct UserServiceTests {
  private let bench: ChatBench
  private let kim: LoggedInUser

  init() throws {
    bench = try ChatBench()
    kim = try bench.user("kim")
    _ = try bench.user("lee")
  }

  @Test
  func `adding a friend is loading until the event is durable`() throws {
    var states: [LoadingState<String, UsersError>] = []
    var friends: [[String]] = []
    let bag = DisposeBag()
    kim.users.friends.value().observeNext { friends.append($0.map(\.name)) }.dispose(in: bag)
    try bench.run {
      kim.users.addFriend("lee").observeNext { states.append($0) }.dispose(in: bag)
    }
    #expect(states == [.loading])
    #expect(friends == [[]])
    bench.store.commit()
    #expect(states == [.loading, .loaded("lee")])
    #expect(friends == [[], ["lee"]])
    bag.dispose()
  }

  @Test
  func `an invalid friend is a failed state that does not end the signal`() throws {
    var states: [LoadingState<String, UsersError>] = []
    for name in ["nobody", "kim"] {
      try bench.run { _ = kim.users.addFriend(name).observeNext { states.append($0) } }
    }
    #expect(states == [.failed(.unknown(name: "nobody")), .failed(.oneself)])
  }

  @Test
  func `a rolled-back friend request fails as lost, even if another event takes its position`()
    throws
  {
    struct Failed: Error {}
    var states: [LoadingState<String, UsersError>] = []
    let bag = DisposeBag()
    _ = try? bench.run {
      kim.users.addFriend("lee").observeNext { states.append($0) }.dispose(in: bag)
      throw Failed()
    }
    try bench.run { try kim.users.edit(fullName: "Kim", about: "") }
    bench.store.commit()
    #expect(states == [.loading, .failed(.lost)])
    bag.dispose()
  }

  @Test
  func `a rolled-back token fails as lost, even if another token takes its number`() throws {
    struct Failed: Error {}
    var states: [LoadingState<String, UsersError>] = []
    let bag = DisposeBag()
    _ = try? bench.run {
      kim.users.token.observeNext { states.append($0) }.dispose(in: bag)
      throw Failed()
    }
    #expect(try bench.run { try bench.users.issueToken(to: "lee") } == "1.secret-2")
    bench.store.commit()
    #expect(states == [.loading, .failed(.lost)])
    bag.dispose()
  }

  @Test
  func `profiles are edited and stored, friends are added and removed`() throws {
    try bench.run { try kim.users.edit(fullName: "Kim Example", about: "Hi.") }
    #expect(try bench.run { try bench.users.befriend("lee", of: "kim") })
    #expect(try bench.run { try !bench.users.befriend("lee", of: "kim") }, "nothing new")
    let last = bench.host.last
    try bench.run { try kim.users.edit(fullName: "Kim Example", about: "Hi.") }
    #expect(bench.host.last == last, "nothing new is recorded")
    let after = try bench.restarted()
    #expect(
      after.users.ledger.value(of: "users/kim")?.text
        == #"{"name":"kim","full_name":"Kim Example","about":"Hi.","friends":["lee"]}"#)
    #expect(try after.run { try after.users.unfriend("lee", of: "kim") })
    #expect(try after.run { try !after.users.unfriend("lee", of: "kim") })
  }

  @Test
  func `invalid profiles are refused`() throws {
    func edit(_ fullName: String?, _ about: String?) throws {
      try bench.run { _ = try bench.users.edit("kim", fullName: fullName, about: about) }
    }
    #expect(throws: UsersError.tooLong(parameter: "full_name", max: 64)) {
      try edit(String(repeating: "x", count: 65), nil)
    }
    #expect(throws: UsersError.badText(parameter: "about")) { try edit(nil, "a\u{1B}b") }
    #expect(throws: UsersError.tooLong(parameter: "about", max: 400)) {
      try edit(nil, String(repeating: "x", count: 401))
    }
  }

  @Test
  func `the number of tokens is limited`() throws {
    for _ in 0..<UsersService.maxTokens {
      _ = try bench.run { try bench.users.issueToken(to: "kim") }
    }
    #expect(throws: UsersError.tooManyTokens(max: 16)) {
      try bench.run { _ = try bench.users.issueToken(to: "kim") }
    }
  }

  @Test
  func `a snapshot of the first form is read`() throws {
    let store = MemoryStore()
    let kim = #"{"name":"kim","uid":7,"full_name":"Kim","about":"","friends":["lee"]}"#
    let ann = #"{"name":"ann","uid":7,"full_name":"","about":"","friends":[]}"#
    let tokens = #"{"2":{"user":"kim","hash":"hash of s"}}"#
    store.save(
      Snapshot(
        service: "users", seq: 0, schema: 1,
        data: #"{"users":{"kim":\#(kim),"ann":\#(ann)},"tokens":\#(tokens),"lastToken":3}"#))
    let bench = try ChatBench(store)
    let state = bench.users.ledger.committed
    #expect(state["kim"]?.friends == ["lee"])
    #expect(state.names(of: 7) == ["ann", "kim"])
    #expect(state.tokens[2]?.user == "kim")
    #expect(try bench.run { try bench.users.issueToken(to: "kim") }.hasPrefix("4."))
  }
}
