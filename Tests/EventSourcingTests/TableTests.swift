import JSON
import JournalMemory
import Journal
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing

@testable import EventSourcing

/// A state with each kind of table.
private struct Shelf: TableState, Codable {
  enum Event: ServiceEvent, Codable {
    case put(id: Int, title: String)
    case taken(id: Int)
    case noted(room: String, text: String)
    case renamed(id: Int, title: String)
    case queued(list: String, value: Int)
    case dropped(list: String, at: Int)
    case moved(list: String, from: Int, to: Int)
    case sorted(list: String)
    case putMany(count: Int)
    case emptied
    case replaced(all: Bool)
    case swapped
    case weighed(Double)

    static let kinds: Set = [
      "put", "taken", "noted", "renamed", "queued", "dropped", "moved", "sorted", "putMany",
      "emptied", "replaced", "swapped", "weighed",
    ]
  }

  typealias Lookup = TableLookup<Shelf>

  var titles = Table<Int, String>()
  var notes = Table<String, [String]>()
  var lists = ListTable<String, Int>()
  var total = Single(0)
  var seen = Table<String, UInt64>()
  var kept = Table<Int, String>()
  var weight = Single(0.0)

  static let tables = TableList<Shelf>([
    .rows(\.titles, "shelf/*", "A title."), .rows(\.notes, "shelf/notes/*/texts", "The notes."),
    .lists(\.lists, "shelf/lists/*", "A list."), .single(\.total, "shelf", "How many events."),
    .rows(\.seen, nil), .rows(\.kept, nil), .single(\.weight, nil),
  ])

  var tables: TableList<Shelf> { Self.tables }

  mutating func apply(_ event: Event, at place: EventContext) {
    total.value += 1
    seen[place.stream] = place.seq
    switch event {
    case .put(let id, let title): titles[id] = title
    case .taken(let id): titles[id] = nil
    case .renamed(let id, let title): titles[id]? = title
    case .noted(let room, let text): notes[room, default: []].append(text)
    case .queued(let list, let value): lists.append(value, to: list)
    case .dropped(let list, let at): lists.remove(at: at, in: list)
    case .moved(let list, let from, let to): lists.move(from: from, to: to, in: list)
    case .sorted(let list): lists[list] = lists[list].sorted()
    case .putMany(let count):
      for i in 1...count { titles[i] = "first" }
      for i in 1...count { titles[i] = "\(i)" }
    case .emptied:
      titles.removeAll()
      lists.removeAll()
    case .replaced(let all): if all { self = Shelf() } else { titles = Table() }
    case .swapped: swap(&titles, &kept)
    case .weighed(let more): weight.value += more
    }
  }
}

extension Table {
  fileprivate subscript(key: Key, default row: Row) -> Row {
    get { self[key] ?? row }
    set { self[key] = newValue }
  }
}

@Suite(.leavesNothing)
struct TableTests {
  private final class House {
    let store: MemoryStore
    let host: ServiceHost
    let ledger: Ledger<Shelf>

    init(_ store: MemoryStore = MemoryStore()) throws {
      self.store = store
      host = ServiceHost(store: store)
      ledger = Ledger("shelf", in: host)
      try host.start()
    }

    func record(_ events: Shelf.Event..., in stream: String? = nil) throws {
      try host.run { for event in events { ledger.record(event, in: stream) } }
    }

    /// All sources with their values, and the charges of all streams.
    var whole: [String] {
      ledger.sources.map { "\($0)=\(ledger.value(of: $0)?.text ?? "nil")" }.sorted()
        + ["\(host.stateBytes) bytes", "next \(ledger.committed.titles.nextID)"]
    }

    var found: [String] {
      var names: [String] = []
      ledger.search(withPrefix: "") {
        names.append($0); return true
      }
      return names.sorted()
    }
  }

  @Test
  func `a state from other rules takes the place of the present one, with its charges`() throws {
    let house = try House()
    let (ledger, store) = (house.ledger, house.store)
    try house.record(.put(id: 1, title: "a"), .put(id: 2, title: "b"), .put(id: 3, title: "c"))
    store.commit()
    let bytes = house.host.stateBytes
    var state = Shelf()
    (state.titles[1], state.titles[2], state.titles[4]) = ("a longer title", "b", "d")
    (state.total.value, state.seen["shelf"], state.kept[1]) = (3, 3, "xx")
    var changes: [String] = []
    let watch = ledger.changes(matching: try #require(Pattern("shelf/*"))).observeNext {
      changes.append("\($0.source) \($0.before?.text ?? "-") \($0.value?.text ?? "-")")
    }
    defer { watch.dispose() }
    var replacement: StateReplacement<Shelf>?
    let reading = ledger.replacement(by: state).observeNext { replacement = $0 }
    defer { reading.dispose() }
    store.read()
    let made = try #require(replacement)
    #expect(made.step() && changes.isEmpty && ledger.value(of: "shelf/4") == nil, "names")
    #expect(made.step() && changes.isEmpty && ledger.value(of: "shelf/4")?.text == "\"d\"")
    #expect(!made.step())
    #expect(
      changes.sorted()
        == ["shelf/1 \"a\" \"a longer title\"", "shelf/3 \"c\" -", "shelf/4 - \"d\""])
    #expect(house.found == ["shelf", "shelf/1", "shelf/2", "shelf/4"])
    // 13 of the longer title, and 4 of the hidden row.
    #expect(house.host.stateBytes == bytes + 17)
    try house.record(.renamed(id: 2, title: "bb"))
    store.commit()
    #expect(ledger.value(of: "shelf")?.text == "4")
    #expect(ledger.value(of: "shelf/2")?.text == "\"bb\"")
    #expect(house.host.stateBytes == bytes + 18)
  }

  @Test
  func `the past is folded in parts`() throws {
    let house = try House()
    let bag = DisposeBag()
    var (state, seq) = (Shelf(), UInt64(0))
    for title in ["a", "b"] {
      try house.record(.put(id: 1, title: title), .queued(list: "l", value: 7))
      house.store.commit()
      house.host.fold("shelf", from: state, after: seq).observeNext { folded in
        (state, seq) = (folded.state, folded.seq)
      }.dispose(in: bag)
      house.store.read()
      #expect(seq == house.host.durable)
    }
    #expect(state.total.value == 4 && state.titles[1] == "b" && state.lists["l"] == [7, 7])
    bag.dispose()
  }

  @Test
  func `rows are sources, and their changes reach watchers when they are durable`() throws {
    let house = try House()
    let (ledger, store) = (house.ledger, house.store)
    var (changes, totals): ([String], [String]) = ([], [])
    let bag = DisposeBag()
    ledger.changes(matching: try #require(Pattern("shelf/**"))).observeNext {
      changes.append(
        "\($0.source) \($0.before?.text ?? "-") \($0.value?.text ?? $0.step?.text ?? "gone")")
    }
    .dispose(in: bag)
    ledger.values(of: "shelf").observeNext { totals.append($0?.text ?? "-") }.dispose(in: bag)
    try house.record(.put(id: 1, title: "a"), .put(id: 2, title: "b"))
    try house.record(.renamed(id: 1, title: "c"), .renamed(id: 9, title: "no"))
    #expect(ledger.value(of: "shelf/1") == nil && changes.isEmpty)
    #expect(ledger.pendingValue(of: "shelf/1")?.text == "\"c\"")
    #expect(ledger.committed.titles.isEmpty && ledger.pending.titles.count == 2)
    store.commit()
    #expect(changes == [#"shelf/1 - "a""#, #"shelf/2 - "b""#, #"shelf/1 "a" "c""#])
    changes = []
    try house.record(.taken(id: 1), .noted(room: "x", text: "hi"))
    try house.record(.queued(list: "l", value: 7))
    store.commit()
    #expect(
      changes == [
        #"shelf/1 "c" gone"#, #"shelf/notes/x/texts - ["hi"]"#,
        #"shelf/lists/l - {"op":"insert","at":0,"value":7}"#,
      ])
    #expect(ledger.value(of: "shelf")?.text == "7" && totals == (0...7).map { "\($0)" })
    #expect(ledger.committed.titles.nextID == 3)
    #expect(house.found == ["shelf", "shelf/2", "shelf/lists/l", "shelf/notes/x/texts"])
    #expect(ledger.has("shelf/2") && !ledger.has("shelf/1") && !ledger.has("shelf/02"))
    #expect(ledger.collection(of: "shelf/lists/none") == .list([]))
    bag.dispose()
  }

  @Test
  func `observers of a change see the whole event, and both states`() throws {
    let house = try House()
    var seen: [String] = []
    let observation = house.ledger.changes(of: "shelf/1").observeNext { [ledger = house.ledger] _ in
      seen.append("\(ledger.committed.total.value) \(ledger.pending.titles.count)")
    }
    try house.record(.put(id: 1, title: "a"))
    try house.record(.put(id: 2, title: "a"))
    house.store.commit(1)
    #expect(seen == ["1 2"])
    observation.dispose()
  }

  @Test
  func `lists in views get the rows that an event changes`() throws {
    let house = try House()
    var keys: [[Int]] = []
    let rows = house.ledger.rows(of: \.titles)
    let observation = rows.changes.observeNext { change in
      if case .rows(let changed) = change { keys.append(changed) }
    }
    try house.record(.put(id: 3, title: "a"), .noted(room: "x", text: "no row"), .taken(id: 5))
    try house.record(.putMany(count: 2))
    house.store.commit()
    #expect(keys == [[3], [5], [1, 2]])
    #expect(rows.keys().sorted() == [1, 2, 3] && rows.row(2) == "2")
    observation.dispose()
    try house.record(.put(id: 4, title: "a"))
    house.store.commit()
    #expect(keys.count == 3)
  }

  @Test
  func `a command that fails, and events that are lost, leave no row and use no number`() throws {
    struct Stop: Error {}
    let house = try House()
    try house.record(.put(id: 1, title: "a"), .queued(list: "l", value: 1))
    house.store.commit()
    try house.record(.put(id: 2, title: "b"))
    let before = "\(house.ledger.pending)"
    _ = try? house.host.perform(Command(method: "m", caller: Peer(uid: 1))) {
      for event: Shelf.Event in [
        .putMany(count: 30), .put(id: 40, title: "c"), .renamed(id: 1, title: "z"),
        .renamed(id: 1, title: "y"), .taken(id: 40), .noted(room: "r", text: "t"),
        .queued(list: "l", value: 3), .queued(list: "l", value: 2),
        .moved(list: "l", from: 0, to: 2), .sorted(list: "l"), .dropped(list: "l", at: 1),
      ] { house.ledger.record(event) }
      #expect(house.ledger.pending.titles.nextID == 41)
      throw Stop()
    }
    #expect(house.ledger.pending.titles.nextID == 3)
    #expect("\(house.ledger.pending.lists.lists)" == #"["l": [1]]"#)
    house.store.reject(.unavailable(detail: "full"))
    #expect(house.ledger.pending.titles.rows == [1: "a"])
    #expect(house.ledger.pending.titles.nextID == 2)
    #expect(house.ledger.pending.total.value == 2)
    #expect(before.contains("\"b\""))
    try house.record(.put(id: 2, title: "d"))
    house.store.commit()
    #expect(house.ledger.committed.titles.rows == [1: "a", 2: "d"])
  }

  @Test
  func `a name that is none fails the command that makes it`() throws {
    let house = try House()
    for (room, rule) in [("a b", "made of"), ("a/b", "is one segment"), ("", "not empty")] {
      do throws(Refusal) {
        _ = try house.host.perform(Command(method: "m", caller: Peer(uid: 1))) {
          house.ledger.record(.noted(room: room, text: ""))
          return nil
        }
        Issue.record("it was recorded")
      } catch {
        #expect("\(error)".contains(rule))
      }
    }
    #expect(house.host.last == 0 && house.ledger.pending.notes.isEmpty)
  }

  /// Runs a command that must fail, and returns why.
  private func refusal(_ house: House, _ events: Shelf.Event...) -> String {
    do throws(Refusal) {
      _ = try house.host.perform(Command(method: "m", caller: Peer(uid: 1))) {
        for event in events { house.ledger.record(event) }
        return nil
      }
      return "none"
    } catch {
      return "\(error)"
    }
  }

  @Test
  func `an event that assigns a whole table is refused, and changes nothing`() throws {
    let house = try House()
    try house.record(.put(id: 1, title: "a"), .queued(list: "l", value: 1))
    house.store.commit()
    try house.record(.put(id: 2, title: "b"))
    for event: Shelf.Event in [.replaced(all: false), .replaced(all: true), .swapped] {
      let fault = refusal(house, .put(id: 3, title: "c"), event, .put(id: 4, title: "d"))
      #expect(fault.contains("assigns a whole table"), "\(event): \(fault)")
      #expect(house.ledger.pending.titles.rows == [1: "a", 2: "b"])
      #expect(house.ledger.pending.titles.nextID == 3 && house.ledger.pending.total.value == 3)
    }
    try house.record(.emptied, .put(id: 5, title: "e"))
    house.store.commit()
    #expect(
      house.ledger.committed.titles.rows == [5: "e"] && house.ledger.committed.lists.count == 0)
    #expect(house.found == ["shelf", "shelf/5"])
    #expect(try House(house.store.killed()).whole == house.whole)
  }

  @Test
  func `a row that cannot be stored fails its command`() throws {
    let house = try House()
    let long = String(repeating: "x", count: ValueFault.maxBytes)
    for (event, rule) in [
      (Shelf.Event.weighed(.infinity), "not finite"), (.put(id: 1, title: long), "at most"),
      (.put(id: .max, title: "x"), "too high"),
      (.noted(room: "r", text: long), "at most"),
    ] {
      let fault = refusal(house, event)
      #expect(fault.contains(rule), "\(fault)")
    }
    // The event can be stored, and the sum that follows from it cannot.
    let fault = refusal(house, .weighed(1e308), .weighed(1e308))
    #expect(fault.contains("not finite"), "\(fault)")
    #expect(house.ledger.pending.weight.value == 0 && house.ledger.pending.titles.isEmpty)
    #expect(house.host.last == 0)
  }

  @Test
  func `a write is noted if the code that makes it throws`() throws {
    struct Stop: Error {}
    func change(_ row: inout String?) throws {
      row = "z"
      throw Stop()
    }
    var table = Table<Int, String>()
    table.setNoting(as: 0)
    try? change(&table[7])
    #expect(table.nextID == 8)
    table.finishEvent(at: 1) { _, _, _ in }
    table.revertEvent(at: 1)
    #expect(table.isEmpty && table.nextID == 1)
  }

  @Test
  func `snapshots of before a table, or without a last number, are read`() throws {
    let coder = EventCoder()
    let old = JSONText(
      trusted: #"{"titles":{"rows":{"4":"a"}},"notes":{"rows":{}},"total":2,"weight":0}"#)
    let state: Shelf = try #require(coder.value(of: old))
    #expect(state.titles.rows == [4: "a"] && state.seen.isEmpty && state.lists.count == 0)
    #expect(state.titles.nextID == 5)
  }

  @Test
  func `a row that was written through the stream of the service is found in the past`() throws {
    let house = try House()
    try house.record(.put(id: 1, title: "a"))
    try house.record(.put(id: 2, title: "b"))
    try house.record(.renamed(id: 1, title: "c"), in: "shelf/1")
    house.store.commit()
    var values: [String] = []
    for seq: UInt64 in 1...3 {
      let observation = house.host.value(of: "shelf/1", at: seq).suppressError().observeNext {
        values.append($0.value?.text ?? "gone")
      }
      house.store.read()
      observation.dispose()
    }
    #expect(values == [#""a""#, #""a""#, #""c""#])
  }

  @Test
  func `the last change of a row is found, whatever stream its event is in`() throws {
    let house = try House()
    try house.record(.put(id: 1, title: "a"), .put(id: 2, title: "b"))
    house.store.commit()
    house.host.saveSnapshots()
    try house.record(.renamed(id: 1, title: "c"), in: "shelf/2")
    try house.record(.renamed(id: 9, title: "no"), in: "shelf/9")
    house.store.commit()
    let changes = try house.host.lastChanges(of: ["shelf/1", "shelf/2", "shelf/9"])
    #expect(changes["shelf/1"]?.positions == 3...3)
    #expect(changes["shelf/2"]?.positions == 2...2)
    #expect(changes["shelf/9"]?.positions == 0...0)
    var found: [String] = []
    for source in ["shelf/1", "shelf/2", "shelf/9"] {
      let search = house.host.lastChange(of: [source], upTo: 4).suppressError()
      let observation = search.observeNext { finding in
        if case .found(let change) = finding {
          found.append("\(change.event.seq) \(change.value?.text ?? "-")")
        } else {
          found.append("\(finding)")
        }
      }
      house.store.read()
      observation.dispose()
    }
    #expect(found == [#"3 "c""#, #"2 "b""#, "none"])
  }

  @Test
  func `the charge of a stream that begins again after it was forgotten has its row`() throws {
    let house = try House()
    try house.record(.put(id: 1, title: "a"), in: "shelf/1")
    try house.record(.taken(id: 1), in: "shelf/1")
    house.store.commit()
    for id in 0...StreamHeads.maxReleased {
      try house.record(.put(id: 2, title: ""), in: "shelf/x\(id)")
      if id % 500 == 0 { house.store.commit() }
    }
    house.store.commit()
    try house.record(.put(id: 1, title: String(repeating: "x", count: 5000)))
    try house.record(.renamed(id: 1, title: "y"), in: "shelf/1")
    house.store.commit()
    #expect(try House(house.store.killed()).host.stateBytes == house.host.stateBytes)
  }

  /// A service that records in the streams of its rows only.
  private struct Vault: TableState, Codable {
    enum Event: ServiceEvent, Codable {
      case locked(secret: String)
      case opened

      static let kinds: Set = ["locked", "opened"]
    }

    typealias Lookup = TableLookup<Vault>

    var doors = Table<Int, String>()
    var secrets = Table<String, String>()
    var size = Single(0)

    static let tables = TableList<Vault>([
      .rows(\.doors, "vault/*", "A door."), .rows(\.secrets, nil), .single(\.size, nil),
    ])

    var tables: TableList<Vault> { Self.tables }

    mutating func apply(_ event: Event, at place: EventContext) {
      switch event {
      case .locked(let secret):
        if let door = Int(place.stream.dropFirst("vault/".count)) { doors[door] = "locked" }
        secrets[place.stream] = secret
      case .opened: secrets[place.stream] = nil
      }
    }
  }

  @Test
  func `hidden rows count toward the quota of their user without events of the service`() throws {
    final class House {
      let store: MemoryStore
      let host: ServiceHost
      let vault: Ledger<Vault>

      init(_ store: MemoryStore = MemoryStore()) throws {
        self.store = store
        host = ServiceHost(store: store)
        vault = Ledger("vault", in: host)
        try host.start()
      }

      func record(_ event: Vault.Event, in stream: String?, by uid: UInt32 = 7) throws(Refusal) {
        _ = try host.perform(Command(method: "m", caller: Peer(uid: uid, pid: 1))) {
          vault.record(event, in: stream)
          return nil
        }
      }

      var charges: [Int] { [host.stateBytes, host.stateBytes(of: 7), host.stateBytes(of: 8)] }
    }
    func secret(_ bytes: Int) -> Vault.Event {
      .locked(secret: String(repeating: "x", count: bytes))
    }
    let house = try House()
    house.host.quota = StateQuota(total: .max, ofUser: 10_000)
    try house.record(secret(5_000), in: "vault/1")
    #expect(5_500...6_000 ~= house.host.stateBytes(of: 7))
    let charges = house.charges
    // A refused command, and events that are lost, leave the charges as they were.
    #expect(throws: Refusal.self) { try house.record(secret(6_000), in: "vault/2") }
    #expect(house.charges == charges)
    house.store.commit()
    try house.record(secret(1_000), in: "vault/2", by: 8)
    house.store.reject(.unavailable(detail: "full"))
    #expect(house.charges == charges)
    #expect(try House(house.store.killed()).charges == charges)
    // The stream of the service gets an event: nothing is charged twice.
    try house.record(.opened, in: nil)
    #expect(house.charges == charges)
    try house.record(.opened, in: "vault/1")
    #expect(house.host.stateBytes < 1_000)
    house.store.commit()
    #expect(try House(house.store.killed()).charges == house.charges)
    // So does it where all hidden rows go before.
    let other = try House()
    try other.record(secret(5_000), in: "vault/1")
    try other.record(.opened, in: "vault/1")
    #expect(other.host.stateBytes < 1_000)
    other.store.commit()
    try other.record(secret(5_000), in: "vault/1", by: 8)
    other.store.reject(.unavailable(detail: "full"))
    #expect(other.host.stateBytes < 1_000)
    try other.record(secret(5_000), in: "vault/1", by: 8)
    #expect(other.host.stateBytes(of: 8) > 5_000)
  }

  @Test
  func `a key does not take the name of another table's source`() throws {
    struct Named: TableState, Codable {
      enum Event: ServiceEvent, Codable {
        case put(String)
        static let kinds: Set = ["put"]
      }
      typealias Lookup = TableLookup<Named>
      var rows = Table<String, Int>()
      var open = Single(0)
      static let tables = TableList<Named>([.rows(\.rows, "n/*"), .single(\.open, "n/open")])
      var tables: TableList<Named> { Self.tables }
      mutating func apply(_ event: Event, at place: EventContext) {
        if case .put(let key) = event { rows[key] = 1 }
      }
    }
    let host = ServiceHost(store: MemoryStore())
    let ledger = Ledger<Named>("n", in: host)
    try host.start()
    try host.run { ledger.record(.put("shut")) }
    #expect(throws: Refusal.self) {
      try host.perform(Command(method: "m", caller: Peer(uid: 1))) {
        ledger.record(.put("open"))
        return nil
      }
    }
    #expect(ledger.pending.rows.rows == ["shut": 1])
  }

  @Test(arguments: [
    ("a/*", "a/b", "a/b"), ("a/*", "a/*/b", nil), ("a/**", "a/*/b", "a/1/b"),
    ("a/*/c", "a/b/*", "a/b/c"), ("a/**", "a/b/**", "a/b/1"), ("a/*", "a", nil), ("a/**", "a", nil),
  ])
  func `patterns that may have the same name have an example`(
    one: String, other: String, example: String?
  ) {
    #expect(SourcePattern(one).example(with: SourcePattern(other)) == example)
    #expect(SourcePattern(other).example(with: SourcePattern(one)) == example)
  }

  @Test(arguments: 1...20)
  func `random events lead to the state of a replay`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    struct Stop: Error {}
    let (leader, follower) = (try House(), try House())
    follower.store.follow(leader.store)
    func event() -> Shelf.Event {
      let (id, list) = (
        Int.random(in: 1...6, using: &random), ["p", "q"][Int.random(in: 0...1, using: &random)]
      )
      return switch Int.random(in: 0...9, using: &random) {
      case 0, 1:
        .put(id: id, title: String(repeating: "x", count: Int.random(in: 0...40, using: &random)))
      case 2: .taken(id: id)
      case 3: .noted(room: list, text: "n")
      case 4: .renamed(id: id, title: "renamed")
      case 5, 6: .queued(list: list, value: id)
      case 7: .dropped(list: list, at: id - 1)
      case 8: .moved(list: list, from: id - 1, to: id / 2)
      default: Bool.random(using: &random) ? .sorted(list: list) : .putMany(count: id * 3)
      }
    }
    for _ in 1...60 {
      let fails = Int.random(in: 0...3, using: &random) == 0
      _ = try? leader.host.perform(Command(method: "m", caller: Peer(uid: 1))) {
        for _ in 0...Int.random(in: 0...3, using: &random) {
          let stream = ["shelf", "shelf/1", "shelf/2", "shelf/lists/p", "shelf/other"]
          leader.ledger.record(event(), in: stream.randomElement(using: &random))
        }
        if fails { throw Stop() }
        return nil
      }
      switch Int.random(in: 0...5, using: &random) {
      case 0: leader.store.commit()
      case 1: leader.store.commit(1)
      case 2 where seed % 2 == 0: leader.store.reject(.unavailable(detail: "full"))
      default: break
      }
      #expect(leader.found == leader.ledger.sources.sorted())
    }
    leader.store.commit()
    let again = try House(leader.store.killed())
    #expect(again.whole == leader.whole)
    #expect(again.found == leader.found)
    #expect(follower.whole == leader.whole)
    #expect(
      "\(follower.ledger.pending.lists.lists["p"] ?? [])"
        == "\(leader.ledger.committed.lists.lists["p"] ?? [])")
    #expect(leader.ledger.pending.titles.rows == leader.ledger.committed.titles.rows)
    #expect(leader.ledger.pending.titles.notes.isEmpty && leader.ledger.pending.total.notes.isEmpty)
  }

  @Test
  func `a snapshot has all tables`() throws {
    let house = try House()
    try house.record(.put(id: 1, title: "a"), .taken(id: 1), .queued(list: "l", value: 2))
    house.store.commit()
    house.host.saveSnapshots()
    let snapshot = try #require(house.store.snapshot(of: "shelf"))
    let projection = StateProjection<Shelf>(service: "shelf", Names(), from: Shelf(), .none)
    #expect(snapshot.seq == 3 && projection.start(from: snapshot))
    #expect(projection.state.titles.nextID == 2 && projection.state.total.value == 3)
    #expect(projection.value(of: "shelf/lists/l")?.text == "[2]")
  }

  @Test
  func `the past and the cause of a change are found`() throws {
    let house = try House()
    try house.record(.put(id: 1, title: "a"), .renamed(id: 1, title: "b"), .taken(id: 1))
    try house.record(.queued(list: "l", value: 2), in: "shelf/lists/l")
    house.store.commit()
    let projection = StateProjection<Shelf>(service: "shelf", Names(), from: Shelf(), .none)
    let records = house.store.records
    #expect(projection.sources(changedBy: records[2]) == nil)
    let changes = records.map { record in
      projection.changes(by: record, where: { _ in true }).map {
        "\($0.source) \($0.value?.text ?? $0.step?.text ?? "gone")"
      }
    }
    #expect(changes[0] == [#"shelf/1 "a""#, "shelf 1"])
    #expect(changes[1] == [#"shelf/1 "b""#, "shelf 2"])
    #expect(changes[2] == ["shelf/1 gone", "shelf 3"])
    #expect(changes[3] == [#"shelf/lists/l {"op":"insert","at":0,"value":2}"#, "shelf 4"])
  }

  @Test
  func `tables in an array are shown under their own names`() throws {
    struct Script: TableState {
      struct Event: ServiceEvent {
        let (name, value): (String, JSONText?)
        static let kinds: Set = ["set"]

        func write(to data: inout ByteBuffer, _ coder: EventCoder) -> String {
          data.append(
            #"{"name":\#(JSONText(string: name).text),"value":\#(value?.text ?? "null")}"#)
          return "set"
        }

        init(_ name: String, _ value: JSONText?) { (self.name, self.value) = (name, value) }

        init?(kind: String, data: JSONText, _ coder: EventCoder) {
          guard let members = data.members, let name = members["name"]?.string else { return nil }
          self.init(name, members["value"] == .null ? nil : members["value"])
        }
      }

      typealias Lookup = TableLookup<Script>

      let tables: TableList<Script>
      var all: [Table<String, JSONText>]

      init() { self.init([]) }

      init(_ names: [String]) {
        all = names.map { _ in Table() }
        tables = TableList(
          names.enumerated().map { i, name in
            .rows(
              name, "", get: { $0.all[i] }, access: { state, body in body(&state.all[i]) })
          })
      }

      mutating func apply(_ event: Event, at place: EventContext) {
        all[event.name.hasPrefix("b") ? 1 : 0][event.name] = event.value
      }

      func encodeSnapshot(by coder: EventCoder, _ names: NameList) -> JSONText { coder.text(all) }

      init?(snapshot text: JSONText, by coder: EventCoder, _ names: Names) { nil }

      func restored(from text: JSONText, by coder: EventCoder, _ names: Names) -> Script? {
        var state = self
        guard let all = try? JSONDecoder().decode([Table<String, JSONText>].self, from: text)
        else { return nil }
        state.all = all
        return state
      }
    }
    func start(_ store: MemoryStore) throws -> (ServiceHost, Ledger<Script>) {
      let host = ServiceHost(store: store)
      let ledger = Ledger("s", in: host, from: Script(["s/a/*", "s/b/*"]))
      try host.start()
      return (host, ledger)
    }
    let store = MemoryStore()
    let (host, ledger) = try start(store)
    try host.run { for name in ["a1", "b1", "b2"] { ledger.record(.init(name, JSONText(1))) } }
    store.commit()
    try host.run { ledger.record(.init("b1", nil)) }
    #expect(ledger.sources.sorted() == ["s/a/a1", "s/b/b1", "s/b/b2"])
    #expect(ledger.pendingValue(of: "s/b/b1") == nil)
    store.commit()
    #expect(ledger.sources.sorted() == ["s/a/a1", "s/b/b2"])
    host.saveSnapshots()
    let again = try start(store.killed())
    #expect(again.1.sources.sorted() == ["s/a/a1", "s/b/b2"])
  }

  @Test(arguments: [
    ("a/*", true, nil), ("a/*/b", true, nil), ("a/**", true, nil), ("a", false, nil),
    ("a/b", false, nil), ("b/*", true, "it does not begin with a/"), ("a/b", true, "it has no *"),
    ("a/*", false, "it has a *"), ("a/*/*", true, "more than one"), ("a/x*", true, "whole segment"),
    ("a/*x", true, "whole segment"), ("a/**/b", true, "not at its end"), ("a/ä/*", true, "made of"),
    ("", false, "not empty"),
  ])
  func `a pattern that names no sources is refused`(text: String, hasKey: Bool, rule: String?) {
    let fault = SourcePattern(text).fault(of: "a", hasKey: hasKey)
    #expect(
      (fault == nil) == (rule == nil) && fault?.contains(rule ?? "") != false, "\(fault ?? "")")
  }

  @Test
  func `one key has one name`() {
    let rows = SourcePattern("a/*/b")
    for number in [0, 7, -7, 10, .max, .min] {
      #expect(rows.key(of: rows.name(number)) == number)
    }
    for text in ["00", "07", "+7", "-", "-0", "", "1x", "9223372036854775808", "1/2"] {
      #expect((rows.key(of: "a/\(text)/b") as Int?) == nil, "\(text)")
    }
    #expect(rows.key(of: "a/x y/b") == "x y")
    #expect((rows.key(of: "a/x/y/b") as String?) == nil && (rows.key(of: "a/b") as String?) == nil)
    #expect(SourcePattern("a/**").key(of: "a/x/y") == "x/y")
    #expect(rows.key(of: "a/true/b") == true && (rows.key(of: "a/yes/b") as Bool?) == nil)
  }
}
