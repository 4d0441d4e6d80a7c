import Binder
import BinderTesting
import JSON
import Signals
import TestSupport
import Testing

/// Boards with notes; clients see another form than the stored one.
private struct Boards: State {
  enum Event: Codable {
    case made(name: String)
    case counted
    case pinned(text: String)
    case rated(at: Int, by: Int)
    case removed
  }

  struct Board: Codable {
    var name: String
    var secret = 0
  }

  struct Note: Codable {
    let text: String
    var raters: [Int] = []
  }

  struct ShownBoard: Codable, ListRow {
    let key: String
    let name: String

    init(_ key: String, _ board: Board) { (self.key, name) = (key, board.name) }
  }

  struct ShownNote: Codable, Rendering {
    let text: String
    let rates: Int

    init(_ note: Note) { (text, rates) = (note.text, note.raters.count) }
  }

  var boards = Table<String, Board>()
  var notes = Lists<String, Note>()

  static let sources = [
    Source.rows(
      \Boards.boards, "boards/*", "A board.", as: ShownBoard.self, keys: { $0.count < 4 }),
    .lists(\.notes, "boards/*/notes", "Its notes.", as: ShownNote.self, isMerging: true),
  ]

  mutating func apply(_ event: Event, at context: EventContext) {
    guard let key: String = context.key() else { return }
    switch event {
    case .made(let name): boards[key] = Board(name: name)
    case .counted: boards[key]?.secret += 1
    case .pinned(let text): notes.append(Note(text: text), to: key)
    case .rated(let index, let user):
      var note = notes[key][index]
      note.raters.append(user)
      notes.update(note, at: index, in: key)
    case .removed:
      boards[key] = nil
      notes[key] = []
    }
  }
}

/// A cart, which a client has while it is connected.
private final class Cart {
  let caller: Caller
  var name: String?
  var isPaid = false

  init(_ caller: Caller) { self.caller = caller }
}

/// An error of a cart.
private enum CartError: Rejecting {
  case unpaid

  var rejection: Rejection { .rejected("unpaid", "the cart is not paid yet") }
  var isPending: Bool { true }
}

@Suite(.leavesNothing)
struct ShownFormTests {
  private static func daemon() throws -> TestDaemon {
    try TestDaemon { host, catalog in
      let ledger = Ledger<Boards>("boards", in: host)
      catalog.offer("Boards.", ledger)
      func record(_ name: String, _ event: @escaping (String) -> Boards.Event, _ kind: String) {
        catalog.command(
          "boards.\(name)", "Does it.", Parameter<String>("key"), Parameter<String>("text"),
          records: kind
        ) { (key: String, text: String) in ledger.record(event(text), of: \.boards, key) }
      }
      record("make", { .made(name: $0) }, "made")
      record("count", { _ in .counted }, "counted")
      record("pin", { .pinned(text: $0) }, "pinned")
      record("rate", { .rated(at: 0, by: Int($0) ?? 0) }, "rated")
      record("remove", { _ in .removed }, "removed")
    }
  }

  @Test
  func `clients see the form of rows, and only changes of it`() throws {
    let daemon = try Self.daemon()
    let client = daemon.connect()
    try client.subscribe("boards/a")
    func run(_ method: String, _ text: String = "") throws -> [String] {
      _ = client.frames()
      try client.call("boards." + method, ["key": "a", "text": .string(text)])
      return client.frames().map { JSONValue.object($0).text.text }
    }
    #expect(
      try run("make", "tea") == [#"{"sub":1,"seq":1,"value":{"key":"a","name":"tea"}}"#])
    #expect(try run("count") == [], "no client sees the difference")
    #expect(try client.get("boards/a") == ["key": "a", "name": "tea"])
    #expect(try run("remove").count == 1)
    #expect(throws: CallError.notFound) { try client.get("boards/a") }
    #expect(throws: CallError.notFound) { try client.subscribe("boards/long") }
    try daemon.checkReplay()
  }

  @Test
  func `a changed element of a list sends only its changed members`() throws {
    let daemon = try Self.daemon()
    let client = daemon.connect()
    func run(_ method: String, _ text: String = "") throws -> [String] {
      _ = client.frames()
      try client.call("boards." + method, ["key": "a", "text": .string(text)])
      return client.frames().map { JSONValue.object($0).text.text }
    }
    _ = try run("make", "tea")
    _ = try run("pin", "buy")
    try client.subscribe("boards/a/notes")
    #expect(
      try run("rate", "7")
        == [#"{"sub":1,"seq":3,"changes":[{"op":"merge","at":0,"value":{"rates":1}}]}"#])
    #expect(try client.get("boards/a/notes") == [["text": "buy", "rates": 1]])
    try daemon.restart()
    #expect(try daemon.connect().get("boards/a/notes") == [["text": "buy", "rates": 1]])
  }

  @Test
  func `a session lasts as long as its client, names it, and lets a command wait`() throws {
    var made: [() -> Cart?] = []
    let daemon = try TestDaemon { _, catalog in
      let carts = Sessions { caller in
        let cart = Cart(caller)
        made.append { [weak cart] in cart }
        return cart
      } end: {
        $0.name = nil
      }
      catalog.offer("cart", "Carts.")
      catalog.logins(in: carts, name: \.name) { $0.name = $1 as String }
      catalog.command("cart.take", "Takes one.", Parameter<String>("name")) {
        (caller: Caller, name: String) in
        carts[caller].name = name
        caller.keepLogin(name)
      }
      .unkept().changingSession()
      catalog.command("cart.pay", "Pays.") { (caller: Caller) throws -> String in
        guard carts[caller].isPaid else { throw CartError.unpaid }
        return caller.name ?? ""
      }
    }
    let (first, second) = (daemon.connect(), daemon.connect())
    try first.call("cart.take", ["name": "kim"])
    try second.call("cart.take", ["name": "lee"])
    let call = first.begin("cart.pay")
    let cart = try #require(made.first?())
    #expect(cart.caller.name == "kim")
    cart.isPaid = true
    cart.caller.runAgain()
    #expect(try call.result()["value"] == "kim")
    #expect(made.compactMap { $0()?.name } == ["kim", "lee"], "each has its own")
    #expect(
      throws: CallError.invalid,
      performing: { try first.call("cart.take", ["name": "max", "_meta": ["cmd": "c"]]) })
  }
}
