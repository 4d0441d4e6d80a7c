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

/// Each event notifies only the observers that it affects.
@Suite(.leavesNothing)
struct AffectedTests {
  private let bench: ChatBench
  private let bag = DisposeBag()
  private let heard = Heard()

  /// The notifications received so far.
  private final class Heard {
    private var lines: [String] = []

    func note(_ line: String) { lines.append(line) }

    func take() -> [String] {
      defer { lines = [] }
      return lines
    }
  }

  init() throws { bench = try ChatBench() }

  private func note<Element>(_ what: String, _ signal: SafeSignal<Element>) {
    signal.observeNext { [heard] _ in heard.note(what) }.dispose(in: bag)
  }

  private func does(_ body: () throws -> Void) throws -> [String] {
    try bench.run(body)
    bench.store.commit()
    return heard.take()
  }

  @Test
  func `a new message notifies the members, and a change of a message notifies all`() throws {
    let (kim, lee, ann) = (try bench.user("kim"), try bench.user("lee"), try bench.user("ann"))
    try bench.run { _ = try kim.rooms.create("lobby", topic: "") }
    try bench.run { _ = try kim.rooms.create("hall", topic: "") }
    bench.store.commit()
    try bench.run { try lee.rooms.enter(1) }
    bench.store.commit()
    for user in [kim, lee, ann] { note("rooms of \(user.name)", user.rooms.all.changes) }
    for room in 1...2 {
      let messages = ann.messages(in: room)
      note("info \(room)", messages.info.dropFirst(1))
      note("members \(room)", messages.members.changes)
      note("events \(room)", bench.chat.events(in: room))
    }
    let said = try does { _ = try kim.messages(in: 1).send("hello") }
    #expect(said.sorted() == ["events 1", "rooms of kim", "rooms of lee"])
    #expect(try does { try kim.messages(in: 1).edit(1, to: "hullo") } == ["events 1"])
    #expect(try does { _ = try bench.chat.read(RoomKey(1), by: "lee") } == ["rooms of lee"])
    let joined = try does { _ = try ann.messages(in: 2).join() }
    #expect(
      joined.sorted() == [
        "events 2", "info 2", "members 2", "rooms of ann", "rooms of kim", "rooms of lee",
      ])
    bench.presence.leave("lee")
    #expect(heard.take() == ["members 1"])
    bag.dispose()
  }

  @Test
  func `a profile change notifies viewers of the profile and of friend lists`() throws {
    let (kim, lee, ann) = (
      try bench.user("kim"), try bench.user("lee", uid: 2), try bench.user("ann")
    )
    _ = try does { _ = try bench.users.befriend("lee", of: "kim") }
    note("kim", ann.users.profile(of: "kim").dropFirst(1))
    note("lee", ann.users.profile(of: "lee").dropFirst(1))
    note("friends of kim", kim.users.friendsHere.changes)
    note("friends of ann", ann.users.friendsHere.changes)
    let session = bench.session(uid: 2)
    note("names of 2", session.names.changes)
    #expect(try does { try ann.users.edit(fullName: "Ann", about: nil) } == ["friends of ann"])
    #expect(
      try does { try lee.users.edit(fullName: "Lee", about: nil) }.sorted() == [
        "friends of kim", "lee",
      ])
    bench.presence.leave("ann")
    #expect(heard.take() == [])
    bench.presence.leave("lee")
    #expect(heard.take() == ["friends of kim"])
    #expect(try does { _ = try bench.users.claim("leo", by: 2) } == ["names of 2"])
    #expect(session.names.keys() == ["lee", "leo"])
    _ = try does { _ = try bench.users.unfriend("lee", of: "kim") }
    #expect(try does { try lee.users.edit(fullName: "", about: nil) } == ["lee"])
    bag.dispose()
  }

  @Test
  func `friends are sorted, with their presence`() throws {
    let kim = try bench.user("kim")
    let others = try ["lee", "ann"].map { try bench.user($0) }
    for user in others { _ = try does { _ = try bench.users.befriend(user.name, of: "kim") } }
    bench.presence.leave("lee")
    #expect(kim.users.friendsHere.value().map(\.user.name) == ["lee", "ann"])
    #expect(kim.users.friendsHere.value().map(\.isHere) == [false, true])
    bag.dispose()
  }

  @Test
  func `present users are sorted, with one notification for each arrival and departure`() {
    var told: [[String]] = []
    let presence = bench.presence
    presence.online.toSignal().observeNext { told.append($0) }.dispose(in: bag)
    note("kim", presence.presence(of: "kim").dropFirst(1))
    for name in ["lee", "kim", "zoe", "kim", "ann"] { presence.enter(name) }
    presence.leave("kim")
    presence.leave("lee")
    presence.leave("kim")
    presence.leave("nobody")
    #expect(
      told == [
        [], ["lee"], ["kim", "lee"], ["kim", "lee", "zoe"], ["ann", "kim", "lee", "zoe"],
        ["ann", "kim", "zoe"], ["ann", "zoe"],
      ])
    #expect(heard.take() == ["kim", "kim"])
    #expect(presence.rows.keys().sorted() == ["ann", "zoe"])
    #expect(presence.all.value() == ["ann", "zoe"])
    bag.dispose()
  }

  @Test(arguments: 0..<20)
  func `unread messages are later ones by others that were not deleted`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let users = try ["kim", "lee", "ann"].map { try bench.user($0) }
    try bench.run { _ = try users[0].rooms.create("lobby", topic: "") }
    for _ in 0..<60 {
      guard let user = users.randomElement(using: &random) else { return }
      let count = bench.chat.ledger.pending.messages(in: 1).count
      try? bench.run {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: _ = try user.messages(in: 1).join()
        case 1: try user.messages(in: 1).leave()
        case 2:
          try bench.chat.read(
            RoomKey(1), upTo: .random(in: 0...count, using: &random), by: user.name)
        case 3, 4: try user.messages(in: 1).removeMessage(.random(in: 0...count, using: &random))
        default: _ = try user.messages(in: 1).send("hello")
        }
      }
    }
    bench.store.commit()
    let state = bench.chat.ledger.committed
    let copy: Chat = try JSONDecoder().decode(from: JSONEncoder().text(state))
    for user in users {
      let read = state.read(by: user.name, in: 1)
      let unread = read.map { read in
        state.messages(in: 1)[read...].count { $0.author != user.name && !$0.isRemoved }
      }
      #expect(state.unread(by: user.name, in: 1) == unread ?? 0)
      #expect(copy.unread(by: user.name, in: 1) == unread ?? 0)
    }
    bag.dispose()
  }
}
