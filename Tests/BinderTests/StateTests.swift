import Binder
import BinderTesting
import JSON
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
    _ = try daemon.connect().call("ticks.add")
    let fault = #expect(throws: ReplayDifference.self) { try daemon.checkReplay() }
    #expect(fault?.description.contains("ticks") == true)
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
      var count = 0
      static let sources = [Source.rows(\Odd.rows, "even/*", "")]
      mutating func apply(_ event: Event, at context: EventContext) {}
    }
    let odd = mistakes { host, catalog in
      catalog.offer("Odd.", Ledger<Odd>("odd", in: host))
      catalog.command("odd.set", "Sets.", records: "set") { 1 }
      catalog.command("odd.put", "Puts.", records: "put") { 1 }
      catalog.query("odd.put", "Puts.") { 1 }
    }
    for part in [
      "'even/*' is no name of sources of 'odd': it does not begin with odd/",
      "'count' of Odd is no table", "Odd has 2 tables and lists 1",
      "odd.set records 'set', which is no event of odd", "the method 'odd.put' exists, from",
    ] { #expect(odd.contains(part), "\(part): \(odd)") }
  }
}
