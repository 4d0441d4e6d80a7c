import JSON
import Journal
import Services
import Signals
import Testing

/// What a user sees of a room.
struct MessagesServiceTests {
  private let bench: ChatBench
  private let kim: UserSession
  private let lee: UserSession

  init() throws {
    bench = try ChatBench()
    kim = try bench.user("kim")
    lee = try bench.user("lee", uid: 2)
    let (kim, lee) = (kim, lee)
    try bench.run { _ = try kim.rooms.create("lobby", topic: "") }
    try bench.run { try lee.rooms.enter(1) }
    bench.store.commit()
  }

  private func say(_ text: String, by user: UserSession) throws {
    try bench.run { _ = try bench.chat.send(text, to: RoomKey(1), by: user.name) }
    bench.store.commit()
  }

  @Test
  func `it is shared while it is used, and gone with the last who uses it`() {
    var first: MessagesService? = kim.messages(in: 1)
    let second = kim.messages(in: 1)
    #expect(first === second)
    #expect(kim.messages(in: 2) !== second)
    weak let messages = second
    let bag = DisposeBag()
    second.messages.observeNext { _ in }.dispose(in: bag)
    first = nil
    #expect(messages != nil)
    withExtendedLifetime(second) {}
    _ = first
    bag.dispose()
  }

  @Test
  func `who observes it holds it, and nobody else`() {
    weak var messages: MessagesService?
    let bag = DisposeBag()
    do {
      let made = kim.messages(in: 1)
      messages = made
      made.messages.observeNext { _ in }.dispose(in: bag)
    }
    #expect(messages != nil)
    bag.dispose()
    #expect(messages == nil)
  }

  @Test
  func `each change is told as it was made`() throws {
    try say("one", by: kim)
    let messages = lee.messages(in: 1)
    var told: [String] = []
    let bag = DisposeBag()
    messages.messages.observeNext { change in
      let texts = change.collection.map(\.text).joined(separator: ",")
      told.append("\(change.patch.count):\(texts)")
    }
    .dispose(in: bag)
    try say("two", by: kim)
    try bench.run { try bench.chat.edit(1, in: RoomKey(1), to: "uno", by: "kim") }
    bench.store.commit()
    try bench.run { try bench.chat.delete(2, in: RoomKey(1), by: "kim") }
    bench.store.commit()
    #expect(told == ["0:one", "1:one,two", "1:uno,two", "1:uno,"])
    bag.dispose()
  }

  @Test
  func `as long as it is there its user reads, once for what comes together`() throws {
    let entry = { [lee] in lee.rooms.now.first?.unread }
    try say("one", by: kim)
    #expect(entry() == 1)
    let messages = lee.messages(in: 1)
    let before = bench.host.last
    for i in 0..<5 {
      try bench.run { _ = try bench.chat.send("\(i)", to: RoomKey(1), by: "kim") }
    }
    bench.store.commit()
    bench.store.commit()
    #expect(entry() == 0)
    #expect(bench.host.last == before + 6)
    withExtendedLifetime(messages) {}
  }

  @Test
  func `what was seen and not noted is noted at the end, and is read after a start anew`() throws {
    let messages = lee.messages(in: 1)
    for i in 1...3 { try say("\(i)", by: kim) }
    #expect(bench.chat.unread(by: "lee", in: 1) == 0)
    #expect(bench.chat.ledger.shown.value.unread(by: "lee", in: 1) == 2)
    bench.sessions.marks.finish()
    #expect(bench.time.count == 0)
    let again = try bench.restarted()
    #expect(again.chat.unread(by: "lee", in: 1) == 0)
    withExtendedLifetime(messages) {}
  }

  @Test
  func `the window is widened into the past`() throws {
    for i in 1...70 {
      try bench.run { _ = try bench.chat.send("\(i)", to: RoomKey(1), by: "kim") }
    }
    bench.store.commit()
    let messages = kim.messages(in: 1)
    var first: [Int?] = []
    let bag = DisposeBag()
    messages.messages.observeNext { first.append($0.collection.first?.id) }.dispose(in: bag)
    #expect(messages.widen() == 20)
    #expect(messages.widen() == 0)
    #expect(first == [21, 1])
    bag.dispose()
  }
}
