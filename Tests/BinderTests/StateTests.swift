import Binder
import BinderTesting
import JSON
import Signals
import TestSupport
import Testing

@testable import choresd

/// Notes, each with a stream of its own.
private struct Notes: State {
  enum Event: Codable {
    case written(text: String, by: String)
    case removed
  }

  var texts = Table<Int, String>()
  var count = Single(0)
  var log = Lists<String, Int>()
  var last = Table<String, Int>()

  static let sources = [
    Source.rows(\Notes.texts, "notes/*", "A note."), .single(\.count, "notes", "How many."),
    .lists(\.log, "notes/log/*", "The numbers of notes."), .hidden(\.last),
  ]
  static let eventForms: [String: [Upcaster]] = [
    "written": [
      .renaming("body", to: "text"), .adding("by", JSONText(string: "nobody")), .removing("old"),
    ]
  ]

  mutating func apply(_ event: Event, at context: EventContext) {
    guard let id: Int = context.key() else { return }
    switch event {
    case .written(let text, let name):
      if texts[id] == nil { count.value += 1 }
      texts[id] = "\(name): \(text)"
      log.append(id, to: name)
      last[name] = id
    case .removed:
      texts[id] = nil
      count.value -= 1
    }
  }

  static func bind(_ host: Host, _ catalog: Catalog) {
    let ledger = Ledger<Notes>("notes", in: host)
    catalog.offer("Notes.", ledger)
    catalog.write(
      \.texts, of: ledger, records: "written", "removed",
      calls: { key, text in
        guard text != "bad" else { throw Rejection.invalid("value", "a note is not bad") }
        ledger.record(.written(text: text, by: "set"), of: \.texts, key)
      }, removes: { ledger.record(.removed, of: \.texts, $0) })
    catalog.list("notes.list", "All notes.", \.texts, of: ledger)
    catalog.view("notes", "All notes.", reads: "notes/*") { view in
      view.bind("notes", to: ledger.rows(\.texts, as: "text"))
      view.intent("shout", Parameter("id", "Its number.")) {
        (id: Int) throws -> String in
        guard let text = ledger.pending.texts[id] else { throw Rejection.notFound("note", id) }
        ledger.record(.written(text: "\(text)!", by: "loud"), of: \.texts, id)
        return "done"
      }
    }
    catalog.command(
      "notes.write", "Writes.", Parameter("id", "Its number."), Parameter("text", "The text."),
      records: "written"
    ) { (caller: Caller, id: Int, text: String?) -> String in
      ledger.record(.written(text: text ?? "-", by: "u\(caller.uid)"), of: \.texts, id)
      return ledger.pending.texts[id] ?? ""
    }
  }
}

@Suite(.leavesNothing)
struct StateTests {
  @Test
  func `rows are set and removed by name, and have versions of their own`() throws {
    let daemon = try TestDaemon { Notes.bind($0, $1) }
    let client = daemon.connect(uid: 7)
    #expect(try client.call("notes.write", ["id": 3]) == "u7: -")
    try client.set("notes/3", "x")
    #expect(try client.get("notes/3") == "set: x")
    #expect(try client.get("notes") == 1)
    #expect(try client.get("notes/log/set") == [3])
    #expect(throws: CallError.invalid) { try client.set("notes/3", "bad") }
    #expect(throws: CallError.invalid) { try client.set("notes/3", 5) }
    #expect(throws: CallError.self) { try client.set("notes", 5) }
    #expect(daemon.events.map(\.stream) == ["notes/3", "notes/3"])
    #expect(daemon.events[1].data.text.text == #"{"text":"x","by":"set"}"#)
    try daemon.checkReplay()
    try daemon.crash()
    #expect(try daemon.connect().get("notes/3") == "set: x")
  }

  @Test
  func `rows are listed, and a function of a view is run, as the role allows`() throws {
    let daemon = try TestDaemon { Notes.bind($0, $1) }
    let owner = daemon.connect()
    for id in [3, 12, 4] { try owner.set("notes/\(id)", .string("n\(id)")) }
    #expect(try owner.call("notes.list") == ["set: n3", "set: n4", "set: n12"])
    let reader = daemon.connect(uid: 7, role: .role(read: ["notes/4", "notes/3"]))
    #expect(try reader.call("notes.list") == ["set: n3", "set: n4"])
    #expect(throws: CallError.self) { try reader.open("notes") }
    let some = daemon.connect(uid: 8, role: .role(read: ["notes/*"], write: ["notes/3"]))
    let view = try some.open("notes")
    #expect(try view.intent("shout", ["id": 3]) == "done")
    #expect(
      view["notes"] == [
        ["id": 3, "text": "loud: set: n3!"], ["id": 4, "text": "set: n4"],
        ["id": 12, "text": "set: n12"],
      ])
    #expect(throws: CallError.denied) { try view.intent("shout", ["id": 4]) }
    #expect(throws: CallError.notFound) { try view.intent("shout", ["id": 5]) }
    #expect(throws: CallError.invalid) { try view.intent("shout", ["id": "x"]) }
  }

  @Test
  func `events of an earlier form are converted, and those of removed cases are skipped`() throws {
    let lines = """
      {"journal":{"format":1,"epoch":"e"}}
      {"seq":1,"time":1,"stream":"notes/3","version":1,"previous":0,"type":"notes.written","data":{"body":"a","old":1}}
      {"seq":2,"time":2,"stream":"notes/3","version":2,"previous":1,"type":"notes.burnt","data":{}}
      """
    let daemon = try TestDaemon(journal: lines) { Notes.bind($0, $1) }
    #expect(try daemon.connect().get("notes/3") == "nobody: a")
  }

  @Test
  func `an apply that reads something else is found by the replay check`() throws {
    struct Clocked: State {
      enum Event: Codable { case ticked }
      var count = Single(0)
      static let sources = [Source.single(\Clocked.count, "ticks", "A number.")]
      nonisolated(unsafe) static var clock = 0

      mutating func apply(_ event: Event, at context: EventContext) {
        unsafe Self.clock += 1
        count.value = unsafe Self.clock
      }
    }
    let daemon = try TestDaemon { host, catalog in
      let ledger = Ledger<Clocked>("ticks", in: host)
      catalog.offer("Ticks.", ledger)
      catalog.command("ticks.add", "Ticks.", records: "ticked") { ledger.record(.ticked) }
    }
    for _ in 0..<3 { try daemon.connect().call("ticks.add") }
    unsafe Clocked.clock = 1
    let fault = #expect(throws: ReplayDifference.self) { try daemon.checkReplay() }
    #expect(fault?.source == "ticks")
    #expect(fault?.seq == 1 && fault?.type == "ticks.ticked")
  }
}

/// A state with tables that a program may use wrongly.
private struct Stock: State {
  enum Event: Codable {
    case put(name: String, count: Int)
    case weighed(Double)
    case emptied
    case replaced
    case told
  }

  var counts = Table<String, Int>()
  var weight = Single(0.0)
  var told = Table<Int, String>()
  static let sources = [
    Source.rows(\Stock.counts, "stock/parts/*", "A count."), .hidden(\.weight), .hidden(\.told),
  ]
  nonisolated(unsafe) static var clock = 0

  mutating func apply(_ event: Event, at context: EventContext) {
    switch event {
    case .put(let name, let count): counts[name] = count
    case .weighed(let more): weight.value += more
    case .emptied: counts.removeAll()
    case .replaced: counts = Table()
    case .told:
      unsafe Self.clock += 1
      told[told.nextID] = unsafe "\(Self.clock)"
    }
  }

  static func bind(_ host: Host, _ catalog: Catalog) {
    let ledger = Ledger<Stock>("stock", in: host)
    catalog.offer("Stock.", ledger)
    let total = Property(0)
    catalog.source("stock/total", "How many.", total.readOnlyView)
    catalog.command(
      "stock.put", "Puts.", Parameter("name", "A name."), Parameter("count", "A number."),
      records: "put"
    ) { (name: String, count: Int) throws in
      guard ledger.pending.counts[name] == nil else { throw Rejection.exists("part", name) }
      ledger.record(.put(name: name, count: count))
      total.value = ledger.pending.counts.count
    }
    catalog.command(
      "stock.put_loosely", "Checks the wrong state.", Parameter("name", "A name."), records: "put"
    ) { (name: String) throws in
      guard ledger.committed.counts[name] == nil else { throw Rejection.exists("part", name) }
      ledger.record(.put(name: name, count: 1))
    }
    catalog.command(
      "stock.weigh", "Adds.", Parameter("more", "A number."), records: "weighed"
    ) { (more: Double) in ledger.record(.weighed(more)) }
    catalog.query("stock.round", "Rounds.", Parameter("to", "A number.")) { (to: Float) in to }
    catalog.command("stock.empty", "Empties.", records: "emptied") { ledger.record(.emptied) }
    catalog.command("stock.replace", "Replaces.", records: "replaced") {
      ledger.record(.replaced)
    }
    catalog.command("stock.tell", "Tells.", records: "told") { ledger.record(.told) }
    catalog.query("stock.wrong", "Records.") {
      ledger.record(.emptied)
      return 1
    }
    catalog.query("stock.perform", "Performs.") {
      try host.perform("stock.clean") { ledger.record(.emptied) }
      return 1
    }
    catalog.command("stock.nested", "Performs.", records: "emptied") {
      try host.perform("stock.clean") { ledger.record(.emptied) }
    }
  }
}

@Suite(.leavesNothing)
struct StockTests {
  @Test
  func `a value that is not journaled is offered beside tables`() throws {
    let daemon = try TestDaemon { Stock.bind($0, $1) }
    let client = daemon.connect()
    #expect(try client.get("stock/total") == 0)
    try client.subscribe("stock/total")
    try client.subscribe("stock/parts/a")
    try client.call("stock.put", ["name": "a", "count": 5])
    #expect(try client.get("stock/total") == 1)
    #expect(try client.get("stock/parts/a") == 5)
    let frames = client.frames().map { JSONValue.object($0).text.text }
    #expect(frames == [#"{"sub":1,"value":1}"#, #"{"sub":2,"seq":1,"value":5}"#])
    let all = try client.request("get", ["source": "stock/**"])
    let text = JSONValue.object(all).text.text
    #expect(text.contains("stock/total") && text.contains("stock/parts/a"), "\(text)")
    let described = JSONValue.object(try client.request("describe", ["path": "stock/total"]))
    #expect(described.text.text.contains(#""journaled":false"#), "\(described.text.text)")
  }

  @Test
  func `a program that assigns a whole table gets an error, and no other state`() throws {
    let daemon = try TestDaemon { Stock.bind($0, $1) }
    let client = daemon.connect()
    try client.call("stock.put", ["name": "a", "count": 5])
    #expect(throws: CallError.self) { try client.call("stock.replace") }
    try client.call("stock.put", ["name": "b", "count": 5])
    #expect(try client.get("stock/parts/a") == 5 && client.get("stock/parts/b") == 5)
    try client.call("stock.empty")
    #expect(throws: CallError.notFound) { try client.get("stock/parts/a") }
    try daemon.checkReplay()
  }

  @Test
  func `numbers that are too large are errors`() throws {
    let daemon = try TestDaemon { Stock.bind($0, $1) }
    let client = daemon.connect()
    let large = try JSONValue(parsing: "1e308")
    try client.call("stock.weigh", ["more": large])
    #expect(throws: CallError.rejected("bad_value")) {
      try client.call("stock.weigh", ["more": large])
    }
    #expect(throws: CallError.invalid) { try client.call("stock.round", ["to": large]) }
    #expect(daemon.events.count == 1)
  }

  @Test
  func `a query that records is an error, and so is a command within a command`() throws {
    let daemon = try TestDaemon { Stock.bind($0, $1) }
    let client = daemon.connect()
    for method in ["stock.wrong", "stock.perform"] {
      let error = #expect(throws: CallError.self) { try client.call(method) }
      #expect(
        error?.message.contains("offer it as a command") == true, "\(method): \(error as Any)")
    }
    #expect(throws: CallError.self) { try client.call("stock.nested") }
    #expect(daemon.events.isEmpty)
    try client.call("stock.empty")
  }

  @Test
  func `held commits show which state a command is checked against`() throws {
    let daemon = try TestDaemon { Stock.bind($0, $1) }
    let client = daemon.connect()
    daemon.holdCommits()
    let first = client.begin("stock.put", ["name": "a", "count": 1])
    let second = client.begin("stock.put", ["name": "a", "count": 2])
    let loose = client.begin("stock.put_loosely", ["name": "a"])
    #expect(!first.isAnswered)
    #expect(daemon.events.isEmpty)
    daemon.releaseCommits()
    _ = try first.result()
    #expect(throws: CallError.exists) { try second.result() }
    // It is checked against the wrong state.
    _ = try loose.result()
    #expect(daemon.events.count == 2)
  }

  @Test
  func `the replay check sees what clients do not see`() throws {
    let daemon = try TestDaemon { Stock.bind($0, $1) }
    try daemon.connect().call("stock.put", ["name": "a", "count": 5])
    try daemon.connect().call("stock.tell")
    let fault = #expect(throws: ReplayDifference.self) { try daemon.checkReplay() }
    #expect(fault?.description.contains("the state of stock") == true)
    #expect(fault?.description.contains("differ from event 2 on (stock.told)") == true)
  }

  @Test
  func `a restart reads the saved state`() throws {
    /// A state whose snapshot loses a row.
    struct Lossy: State {
      enum Event: Codable { case put }
      var rows = Table<Int, Int>()
      static let sources = [Source.rows(\Lossy.rows, "lossy/*", "A number.")]
      init() {}
      init(from decoder: any Decoder) throws {}
      func encode(to encoder: any Encoder) throws { try ["lost": true].encode(to: encoder) }
      mutating func apply(_ event: Event, at context: EventContext) { rows[rows.nextID] = 1 }
    }
    let daemon = try TestDaemon { host, catalog in
      let ledger = Ledger<Lossy>("lossy", in: host)
      catalog.offer("Loses.", ledger)
      catalog.command("lossy.put", "Puts.", records: "put") { ledger.record(.put) }
    }
    try daemon.connect().call("lossy.put")
    #expect(try daemon.connect().get("lossy/1") == 1)
    try daemon.restart()
    #expect(throws: CallError.notFound) { try daemon.connect().get("lossy/1") }
  }

  @Test
  func `an apply that stops the program at the start is named with its event`() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      struct Sum: State {
        enum Event: Codable { case added(Int8) }
        var sum = Single(Int8(0))
        static let sources = [Source.single(\Sum.sum, "sums", "A number.")]
        mutating func apply(_ event: Event, at context: EventContext) {
          if case .added(let number) = event { sum.value += number }
        }
      }
      let lines = """
        {"journal":{"format":1,"epoch":"e"}}
        {"seq":1,"time":1,"stream":"sums","version":1,"previous":0,"type":"sums.added","data":{"_0":100}}
        {"seq":2,"time":2,"stream":"sums","version":2,"previous":1,"type":"sums.added","data":{"_0":100}}
        """
      _ = try TestDaemon(journal: lines) { host, catalog in
        catalog.offer("Sums.", Ledger<Sum>("sums", in: host))
      }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("event 2 (sums.added) stopped the program"), "\(text)")
  }

  @Test
  func `rows that are objects have their key for intents`() throws {
    struct Items: State {
      struct Item: Codable { var title: String }
      struct Empty: Codable {}
      enum Event: Codable { case added(title: String) }
      var items = Table<Int, Item>()
      var empty = Table<String, Empty>()
      static let sources = [
        Source.rows(\Items.items, "items/*", "An item."), .hidden(\.empty),
      ]
      mutating func apply(_ event: Event, at context: EventContext) {
        if case .added(let title) = event {
          items[items.nextID] = Item(title: title)
          empty[title] = Empty()
        }
      }
    }
    let daemon = try TestDaemon { host, catalog in
      let ledger = Ledger<Items>("items", in: host)
      catalog.offer("Items.", ledger)
      catalog.command("items.add", "Adds.", Parameter<String>("title"), records: "added") {
        (title: String) in ledger.record(.added(title: title))
      }
      catalog.view("items", "Items.") { view in
        view.bind("items", to: ledger.rows(\.items, withKey: "id"))
        view.bind("empty", to: ledger.rows(\.empty, withKey: "name"))
      }
    }
    let client = daemon.connect()
    let view = try client.open("items")
    try client.call("items.add", ["title": "milk"])
    #expect(view["items"] == [["id": 1, "title": "milk"]])
    #expect(view["empty"] == [["name": "milk"]])
  }

  @Test
  func `an interval of nothing lets others run`() throws {
    var calls = 0
    let daemon = try TestDaemon { host, _ in
      for interval in [0, -1, Double.nan] { host.every(interval) { calls += 1 } }
      host.schedule(after: -5) { calls += 1000 }
    }
    daemon.advance(.milliseconds(10))
    #expect(calls == 1030)
  }
}

/// Not `leavesNothing`: a daemon that did not start is not taken apart.
struct MistakeTests {
  @Test
  func `mistakes of a program are reported with their places`() throws {
    func mistakes(_ build: @escaping (Host, Catalog) -> Void) -> String {
      let started = Result { try TestDaemon { build($0, $1) } }
      if case .failure(let error) = started { return "\(error)" }
      return ""
    }
    let twice = mistakes { host, catalog in
      bindChores(catalog, to: ChoreService(in: host))
      bindChores(catalog, to: ChoreService(in: host))
    }
    #expect(twice.contains("the service 'chores' exists, from choresd/Chores.swift:"), "\(twice)")
    struct Odd: State {
      enum Event: Codable { case put(at: Int) }
      var rows = Table<Int, Int>()
      var other = Table<Int, Int>()
      var third = Table<Int, Int>()
      var count = 0
      static let sources = [
        Source.rows(\Odd.rows, "even/*", ""), .hidden(\.other, in: "others/*"),
      ]
      mutating func apply(_ event: Event, at context: EventContext) {}
    }
    let odd = mistakes { host, catalog in
      catalog.offer("Odd.", Ledger<Odd>("odd", in: host))
      catalog.command("odd.set", "Sets.", records: "set") { 1 }
      catalog.command("odd.put", "Puts.", records: "put") { 1 }
      catalog.query("odd.put", "Puts.") { 1 }
    }
    struct Twin: State {
      enum Event: Codable { case put(at: Int) }
      var rows = Table<String, Int>()
      var open = Single(0)
      static let sources = [
        Source.rows(\Twin.rows, "twin/*", ""), .single(\.open, "twin/open", ""),
      ]
      mutating func apply(_ event: Event, at context: EventContext) {}
    }
    let twin = mistakes { host, catalog in
      catalog.offer("Twin.", Ledger<Twin>("twin", in: host))
      catalog.source("twin/total", "Of all.", Property(1).readOnlyView)
      catalog.query("twin.sum", "Adds.", Parameter("a", ""), Parameter("a", "")) {
        (a: Int, b: Int) in a + b
      }
      catalog.query("twin.meta", "Shows.", Parameter("_meta", "")) { (a: Int) in a }
      catalog.command("twin.put", "Puts.", Parameter<Int>("at"), records: "put", in: "twin/{nr}") {
        (at: Int) in at
      }
      catalog.view("twin", "Shows.", reads: "twin/{nr") { _ in }
      for _ in 1...2 {
        catalog.logins(in: Sessions { _ in Property("") }, name: { $0.value }) {
          (session, name: String) in session.value = name
        }
      }
      _ = Ledger<Odd>("cells", in: host)
      _ = Ledger<Odd>("journal", in: host)
    }
    for part in [
      "the sources 'twin/open' and 'twin/*' of Twin may have the same name, such as 'twin/open'",
      "may have the name of the source 'twin/total'", "twin.sum has two parameters 'a'",
      "twin.meta has a parameter '_meta'",
      "the method 'twin.put': 'twin/{nr}' names 'nr', which is no parameter",
      "the view 'twin': 'twin/{nr' has a { without a }",
      "the table of logins exists",
      "'cells' is the name of a standard service",
      "'journal' is the name of a standard service",
    ] { #expect(twin.contains(part), "\(part): \(twin)") }
    for part in [
      "'even/*' is no name of sources of 'odd': it does not begin with odd/",
      "'count' of Odd is no table", "Odd has 3 tables and lists 2",
      "'others/*' is no name of streams of 'odd': it does not begin with odd/",
      "odd.set records 'set', which is no event of odd", "the method 'odd.put' exists, from",
    ] { #expect(odd.contains(part), "\(part): \(odd)") }
  }
}
