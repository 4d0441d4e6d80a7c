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

/// The messages of a room as a user sees them.
@Suite(.leavesNothing)
struct MessagesServiceTests {
  private let bench: ChatBench
  private let kim: LoggedInUser
  private let lee: LoggedInUser

  init() throws {
    bench = try ChatBench()
    kim = try bench.user("kim")
    lee = try bench.user("lee", uid: 2)
    let (kim, lee) = (kim, lee)
    try bench.run { _ = try kim.rooms.create("lobby", topic: "") }
    try bench.run { try lee.rooms.enter(1) }
    bench.store.commit()
  }

  private func say(_ text: String, by user: LoggedInUser) throws {
    try bench.run { _ = try bench.chat.send(text, to: RoomKey(1), by: user.name) }
    bench.store.commit()
  }

  @Test
  func `callers share a service, which is released with the last of them`() {
    var first: MessagesService? = kim.messages(in: 1)
    let second = kim.messages(in: 1)
    #expect(first === second)
    #expect(kim.messages(in: 2) !== second)
    weak let messages = second
    let bag = DisposeBag()
    second.window().messages.observeNext { _ in }.dispose(in: bag)
    first = nil
    #expect(messages != nil)
    withExtendedLifetime(second) {}
    _ = first
    bag.dispose()
  }

  @Test
  func `only observers keep the service alive`() {
    weak var messages: MessagesService?
    let bag = DisposeBag()
    do {
      let made = kim.messages(in: 1)
      messages = made
      made.window().messages.observeNext { _ in }.dispose(in: bag)
    }
    #expect(messages != nil)
    bag.dispose()
    #expect(messages == nil)
  }

  @Test
  func `observers receive each change as its own patch`() throws {
    try say("one", by: kim)
    let messages = lee.messages(in: 1).window()
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
    try bench.run { try bench.chat.removeMessage(2, in: RoomKey(1), by: "kim") }
    bench.store.commit()
    #expect(told == ["0:one", "1:one,two", "1:uno,two", "1:uno,"])
    bag.dispose()
  }

  @Test
  func `an open window marks messages as read, once for messages that arrive together`() throws {
    let entry = { [lee] in lee.rooms.now.first?.unread }
    try say("one", by: kim)
    #expect(entry() == 1)
    let messages = lee.messages(in: 1).window()
    #expect(entry() == 0, "what is shown is read, though nothing else happens")
    bench.store.commit()
    bench.time.advance(1)
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
  func `shutdown records pending read marks, and a restart keeps them`() throws {
    let messages = lee.messages(in: 1).window()
    for i in 1...3 { try say("\(i)", by: kim) }
    #expect(bench.chat.unread(by: "lee", in: 1) == 0)
    #expect(bench.chat.ledger.committed.unread(by: "lee", in: 1) == 2)
    bench.sessions.marks.finish()
    #expect(bench.time.count == 0)
    let again = try bench.restarted()
    #expect(again.chat.unread(by: "lee", in: 1) == 0)
    withExtendedLifetime(messages) {}
  }

  /// Sends a number of messages to the room.
  private func say(_ count: Int) throws {
    for i in 1...count {
      try bench.run { _ = try bench.chat.send("\(i)", to: RoomKey(1), by: "kim") }
    }
    bench.store.commit()
  }

  @Test
  func `the window moves through the whole history and back within its limit`()
    throws
  {
    try say(1120)
    let window = lee.messages(in: 1).window()
    var copy: [Message] = []
    var beyond: [MessageWindow.Beyond] = []
    let bag = DisposeBag()
    window.messages.observeNext { change in
      if change.patch.isEmpty { copy = change.collection } else { copy.apply(change.patch) }
    }
    .dispose(in: bag)
    window.beyond.observeNext { beyond.append($0) }.dispose(in: bag)
    var seen = Set(copy.map(\.id))
    func move(_ step: () -> Int) {
      while step() > 0 {
        seen.formUnion(copy.map(\.id))
        #expect(copy.count <= MessageWindow.maxCount)
      }
    }
    move(window.showOlder)
    #expect(seen == Set(1...1120))
    #expect(copy.map(\.id) == Array(1...500))
    #expect(beyond.last == .init(before: 0, after: 620))
    try say("another", by: kim)
    #expect(copy.last?.id == 500, "it comes where the end is")
    #expect(beyond.last == .init(before: 0, after: 621))
    #expect(lee.rooms.now.first?.unread == 1, "and is not seen")
    try bench.run { try bench.chat.removeMessage(500, in: RoomKey(1), by: "kim") }
    bench.store.commit()
    #expect(copy.last?.isRemoved == true)
    seen = []
    move(window.showNewer)
    #expect(seen == Set(51...1121))
    #expect(beyond.last == .init(before: 621, after: 0))
    #expect(lee.rooms.now.first?.unread == 0)
    move(window.showOlder)
    window.showEnd()
    #expect(copy.map(\.id) == Array(1072...1121))
    try say("and another", by: kim)
    #expect(copy.last?.text == "and another")
    bag.dispose()
  }

  @Test(arguments: [1, 100, 880, 900, 901, .max, 0, -1])
  func `a window opens at a message without moving other windows`(message: Int) throws {
    try say(900)
    let messages = lee.messages(in: 1)
    let (window, other) = (messages.window(at: message), messages.window())
    var (ids, others): ([Int], [Int]) = ([], [])
    let bag = DisposeBag()
    window.messages.observeNext { ids = $0.collection.map(\.id) }.dispose(in: bag)
    other.messages.observeNext { others = $0.collection.map(\.id) }.dispose(in: bag)
    let near = min(max(message, 1), 900)
    #expect(ids.contains(near))
    #expect(ids == Array(max(1, near - 49)...min(900, near + 50)))
    _ = window.showOlder()
    #expect(others == Array(851...900))
    bag.dispose()
  }
}
