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

/// Rooms and their messages.
@Suite(.leavesNothing)
struct ChatServiceTests {
  private let bench: ChatBench
  private var chat: ChatService { bench.chat }
  private let lobby: RoomKey = RoomKey("lobby")

  init() throws {
    bench = try ChatBench()
    try bench.run { _ = try bench.chat.create("lobby", topic: "all", by: "kim") }
    try bench.run { _ = try bench.chat.join(RoomKey(1), by: "lee") }
    bench.store.commit()
  }

  private func send(_ text: String, by name: String) throws -> Int {
    let id = try bench.run { try chat.send(text, to: lobby, by: name) }
    bench.store.commit()
    return id
  }

  private func unread(_ name: String) -> Int {
    chat.ledger.committed.unread(by: name, in: 1)
  }

  @Test
  func `messages of others are unread until the user reads them`() throws {
    #expect(try send("one", by: "kim") == 1)
    #expect(try send("two", by: "kim") == 2)
    #expect(unread("kim") == 0, "who speaks has read")
    #expect(unread("lee") == 2)
    #expect(unread("nobody") == 0)
    #expect(try bench.run { try chat.read(lobby, upTo: 1, by: "lee") } == 1)
    bench.store.commit()
    #expect(unread("lee") == 1)
    try bench.run { try chat.removeMessage(2, in: lobby, by: "kim") }
    bench.store.commit()
    #expect(unread("lee") == 0, "what is gone need not be read")
    _ = try bench.run { try chat.join(lobby, by: "ann") }
    bench.store.commit()
    #expect(unread("ann") == 0, "what was said before counts as read")
  }

  @Test
  func `the author edits and deletes a message, and the room's creator deletes it`() throws {
    _ = try send("mine", by: "lee")
    #expect(throws: ChatError.notAuthor(id: 1)) {
      try bench.run { try chat.edit(1, in: lobby, to: "yours", by: "kim") }
    }
    try bench.run { try chat.edit(1, in: lobby, to: "ours", by: "lee") }
    bench.store.commit()
    #expect(chat.ledger.committed.message(1, in: 1)?.text == "ours")
    #expect(chat.ledger.committed.message(1, in: 1)?.isEdited == true)
    try bench.run { try chat.removeMessage(1, in: lobby, by: "kim") }
    bench.store.commit()
    #expect(chat.ledger.committed.message(1, in: 1)?.text == "")
    #expect(throws: ChatError.isRemoved(id: 1)) {
      try bench.run { try chat.edit(1, in: lobby, to: "back", by: "lee") }
    }
    for id in [0, 2, -1] {
      #expect(throws: ChatError.unknownMessage(id: id, room: 1)) {
        try bench.run { try chat.removeMessage(id, in: lobby, by: "lee") }
      }
    }
  }

  @Test
  func `only members send messages and rename a room`() throws {
    #expect(throws: ChatError.notMember(room: "lobby")) {
      try bench.run { _ = try chat.send("hi", to: lobby, by: "ann") }
    }
    #expect(throws: ChatError.notMember(room: "lobby")) {
      try bench.run { try chat.rename(lobby, to: "hall", by: "ann") }
    }
    #expect(try bench.run { try chat.leave(lobby, by: "lee") })
    #expect(try !bench.run { try chat.leave(lobby, by: "lee") })
    #expect(throws: ChatError.notMember(room: "lobby")) {
      try bench.run { _ = try chat.send("hi", to: lobby, by: "lee") }
    }
    #expect(throws: ChatError.unknownRoom("attic")) {
      try bench.run { _ = try chat.join(RoomKey("attic"), by: "kim") }
    }
  }

  @Test
  func `invalid names, topics and texts are refused`() throws {
    func create(_ name: String, _ topic: String = "") throws {
      try bench.run { _ = try chat.create(name, topic: topic, by: "kim") }
    }
    #expect(throws: ChatError.nameTaken("lobby")) { try create("LOBBY") }
    #expect(throws: ChatError.empty(parameter: "name")) { try create("") }
    try create("Tea  room")
    #expect(throws: ChatError.nameTaken("Tea  room")) { try create("tea\u{A0}Room") }
    #expect(throws: ChatError.badName) { try create("lobby ") }
    for hidden: Unicode.Scalar in ["\u{200B}", "\u{202E}", "\u{200D}", "\u{FEFF}", "\u{3164}"] {
      #expect(throws: ChatError.hidden(hidden)) { try create("lob\(hidden)by") }
    }
    for name in ["room1\u{200D}", "room1\u{FE0F}", "1\u{200D}2", "fire \u{1F525}\u{200D}"] {
      #expect(throws: ChatError.self, "\(name)") { try create(name) }
    }
    try create("Love \u{2764}\u{FE0F}\u{200D}\u{1F525}")
    #expect(throws: ChatError.badName) { try create("1") }
    #expect(throws: ChatError.tooLong(parameter: "name", max: 48)) {
      try create(String(repeating: "x", count: 49))
    }
    #expect(throws: ChatError.badText(parameter: "topic")) { try create("x", "a\nb") }
    #expect(throws: ChatError.empty(parameter: "text")) { _ = try send("", by: "kim") }
    #expect(throws: ChatError.tooLong(parameter: "text", max: 4000)) {
      _ = try send(String(repeating: "x", count: 4001), by: "kim")
    }
    try bench.run { try chat.rename(lobby, to: "Lobby", by: "kim") }
    try bench.run { try chat.setTopic(of: lobby, to: "new", by: "lee") }
    bench.store.commit()
    #expect(
      chat.ledger.value(of: "chat/rooms/1")?.text
        == #"{"id":1,"name":"Lobby","topic":"new","creator":"kim","messages":0,"#
        + #""members":["kim","lee"]}"#)
  }

  @Test(arguments: 0..<8)
  func `a room is found by its folded name after random commands`(seed: UInt64) throws {
    let names = [
      ["tea room", "Tea  room", "TEA\u{A0}ROOM"], ["hall", "Hall", "HALL"],
      ["love \u{2764}\u{FE0F}", "Love \u{2764}"], ["attic"],
    ]
    func look(_ name: String) -> Int? { names.firstIndex { $0.contains(name) } }
    func check(_ chat: Chat) {
      for (i, group) in names.enumerated() {
        let scanned = chat.allRooms.filter { look($0.name) == i }
        for name in group { #expect(chat.rooms(lookingLike: name) == scanned) }
      }
      #expect(chat.rooms(lookingLike: "LOBBY").map(\.id) == [1])
    }
    var random = SeededRandom(seed: seed)
    for _ in 0..<60 {
      let name = names.randomElement(using: &random)?.randomElement(using: &random) ?? "attic"
      let room = chat.ledger.pending.allRooms.dropFirst().randomElement(using: &random)
      let others = chat.ledger.pending.allRooms.filter { look($0.name) == look(name) }
      switch (Int.random(in: 0..<4, using: &random), room) {
      case (0, let room?):
        _ = try bench.run { try chat.remove(RoomKey(room.id), by: "kim") }
      case (1, let room?):
        func rename() throws {
          try bench.run { try chat.rename(RoomKey(room.id), to: name, by: "kim") }
        }
        if others.allSatisfy({ $0.id == room.id }) {
          try rename()
        } else {
          #expect(throws: ChatError.self) { try rename() }
        }
      case (2, _):
        // A command that is rolled back.
        #expect(throws: ChatError.empty(parameter: "name")) {
          try bench.run {
            if others.isEmpty { _ = try chat.create(name, topic: "", by: "kim") }
            _ = try chat.create("", topic: "", by: "kim")
          }
        }
      default:
        func create() throws { try bench.run { _ = try chat.create(name, topic: "", by: "kim") } }
        if others.isEmpty { try create() } else { #expect(throws: ChatError.self) { try create() } }
      }
      if Bool.random(using: &random) { bench.store.commit() }
      let state = chat.ledger.pending
      check(state)
      check(chat.ledger.committed)
      check(try JSONDecoder().decode(from: JSONEncoder().text(state)))
    }
  }

  @Test
  func `history pages go back to the first message`() throws {
    for i in 1...120 { _ = try bench.run { try chat.send("\(i)", to: lobby, by: "kim") } }
    bench.store.commit()
    var seen: [Int] = []
    var before: Int?
    while true {
      let page = try chat.history(of: lobby, before: before, limit: nil)
      guard let first = page.first else { break }
      seen = page.map(\.id) + seen
      before = first.id
    }
    #expect(seen == Array(1...120))
    #expect(try chat.history(of: lobby, before: 4, limit: 2).map(\.text) == ["2", "3"])
    #expect(throws: ChatError.badLimit(max: 200)) {
      _ = try chat.history(of: lobby, before: nil, limit: 201)
    }
    #expect(chat.ledger.value(of: "chat/rooms/1/messages")?.elements?.count == 50)
    for _ in 0..<20 {
      _ = try send(String(repeating: "x", count: 4000), by: "kim")
    }
    #expect(try chat.history(of: lobby, before: nil, limit: 200).count == 6, "long ones are fewer")
  }

  @Test
  func `search finds messages until they are deleted`() throws {
    _ = try send("hello", by: "kim")
    let corpus = chat.corpus
    #expect(
      corpus.all() == [
        SearchText(id: "chat/1", text: "lobby: all"), SearchText(id: "chat/1/1", text: "hello"),
      ])
    var changes: [SearchChange] = []
    let bag = DisposeBag()
    corpus.changes.observeNext { changes += $0 }.dispose(in: bag)
    _ = try send("two", by: "lee")
    try bench.run { try chat.edit(1, in: lobby, to: "hi", by: "kim") }
    try bench.run { try chat.removeMessage(2, in: lobby, by: "lee") }
    bench.store.commit()
    #expect(
      changes == [
        .put(SearchText(id: "chat/1/2", text: "two")), .put(SearchText(id: "chat/1/1", text: "hi")),
        .remove(id: "chat/1/2"),
      ])
    #expect(corpus.describe("chat/1/1")?.source == "chat/rooms/1/messages")
    #expect(corpus.describe("chat/1/1")?.title == "lobby, kim")
    #expect(corpus.describe("chat/1/2") == nil)
    #expect(corpus.describe("chat/9") == nil)
    bag.dispose()
  }

  @Test
  func `a restart restores the whole state`() throws {
    _ = try send("hello", by: "kim")
    _ = try send("hullo", by: "lee")
    try bench.run { try chat.edit(2, in: lobby, to: "hi", by: "lee") }
    let before = bench.chat.ledger.pending
    for after in [try bench.restarted(), try snapshotted()] {
      #expect(after.chat.ledger.committed.allRooms == before.allRooms)
      #expect(after.chat.ledger.committed.messages(in: 1) == before.messages(in: 1))
    }
  }

  @Test
  func `a snapshot of the first form is read`() throws {
    func message(_ id: Int, removed: Bool = false) -> String {
      #"{"id":\#(id),"author":"kim","text":"\#(removed ? "" : "hi")","time":5,"edited":false,"#
        + #""removed":\#(removed)}"#
    }
    func room(_ id: Int, _ name: String, _ members: String, _ count: Int) -> String {
      #""\#(id)":{"id":\#(id),"name":"\#(name)","topic":"","creator":"kim","#
        + #""members":{\#(members)},"count":\#(count)}"#
    }
    let rooms = [
      room(2, "Tea Room", #""lee":1,"kim":3"#, 3), room(4, "hall", #""kim":0"#, 0),
      room(5, "empty", "", 0),
    ]
    let messages = [message(1), message(2, removed: true), message(3)].joined(separator: ",")
    let store = MemoryStore()
    store.save(
      Snapshot(
        service: "chat", seq: 0, schema: 1,
        data: #"{"rooms":{\#(rooms.joined(separator: ","))},"messages":{"2":[\#(messages)]},"#
          + #""lastRoom":7}"#))
    let bench = try ChatBench(store)
    let state = bench.chat.ledger.committed
    #expect(state.allRooms.map(\.name) == ["Tea Room", "hall", "empty"])
    #expect(state.members(of: 2) == ["kim", "lee"] && state.members(of: 5) == [])
    #expect(state.read(by: "lee", in: 2) == 1 && state.read(by: "kim", in: 2) == 3)
    #expect(state.unread(by: "lee", in: 2) == 1)
    #expect(state.messages(in: 2).map(\.text) == ["hi", "", "hi"])
    #expect(state.rooms(lookingLike: "TEA  room").map(\.id) == [2])
    #expect(try bench.run { try bench.chat.create("x", topic: "", by: "kim") } == 8)
    #expect(try bench.run { try bench.chat.send("x", to: RoomKey(4), by: "kim") } == 1)
  }

  @Test
  func `a snapshot with read positions as numbers is read`() throws {
    let store = MemoryStore()
    let message = #"{"id":1,"author":"kim","text":"hi","time":5,"edited":false,"removed":false}"#
    store.save(
      Snapshot(
        service: "chat", seq: 0, schema: 2,
        data: #"{"rooms":{"rows":{"2":{"id":2,"name":"tea","topic":"","creator":"kim"}},"#
          + #""lastID":7},"members":{"2":["kim","lee"]},"marks":{"2":[1,0]},"deleted":{},"#
          + #""messages":{"2":[\#(message)]},"looks":{"rows":{"tea":[2]}}}"#))
    let bench = try ChatBench(store)
    let state = bench.chat.ledger.committed
    #expect(state.read(by: "lee", in: 2) == 0 && state.read(by: "kim", in: 2) == 1)
    #expect(state.unread(by: "lee", in: 2) == 1)
    try bench.run { try bench.chat.read(RoomKey(2), upTo: 1, by: "lee") }
    bench.store.commit()
    bench.host.saveSnapshots()
    let again = try bench.restarted()
    #expect(again.chat.ledger.committed.read(by: "lee", in: 2) == 1)
  }

  @Test
  func `a user who reads is not charged for the room`() throws {
    for number in 1...100 { _ = try send("m\(number)", by: "kim") }
    var charges: [Int] = []
    for id in [1, 9, 10, 99, 100] {
      _ = try bench.run { try chat.read(lobby, upTo: id, by: "lee") }
      bench.store.commit()
      charges.append(bench.host.stateBytes)
    }
    #expect(Set(charges).count == 1, "\(charges)")
  }

  /// A bench started from a snapshot.
  private func snapshotted() throws -> ChatBench {
    bench.store.commit()
    bench.host.saveSnapshots()
    return try bench.restarted()
  }
}
