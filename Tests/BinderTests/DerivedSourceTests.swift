import Binder
import BinderTesting
import JSON
import Signals
import TestSupport
import Testing

// The guide shows this type.
struct Projects: State {
  enum Event: Codable {
    case begun(title: String)
    case stepped(step: String)
    case ended
  }

  struct Shown: Codable, Sendable {
    let title: String
    let steps: [String]
  }

  var titles = Table<Int, String>()
  var steps = Lists<Int, String>()

  static let sources = [
    Source.hidden(\Projects.titles, in: "projects/*"), .hidden(\.steps, in: "projects/*"),
    .derived("projects/*", "A project and its last steps.", ofEach: \.titles, with: \.steps) {
      projects, id, title in Shown(title: title, steps: projects.steps[id].suffix(2))
    },
    .derived("projects", "The first 20 titles of projects.", ofAll: \.titles) { projects in
      Array(projects.titles.rows.sorted().prefix(20))
    },
  ]

  mutating func apply(_ event: Event, at context: EventContext) {
    guard let id: Int = context.key() else { return }
    switch event {
    case .begun(let title): titles[id] = title
    case .stepped(let step): steps.append(step, to: id)
    case .ended:
      titles[id] = nil
      steps[id] = []
    }
  }
}

@Suite(.leavesNothing, .serialized)
struct DerivedSourceTests {
  private static func daemon() throws -> TestDaemon {
    try TestDaemon { host, catalog in
      let ledger = Ledger<Projects>("projects", in: host)
      func method(_ name: String, _ kind: String, _ event: @escaping (String) -> Projects.Event) {
        catalog.command(
          "projects.\(name)", "Does it.", Parameter<Int>("id"), Parameter("text", default: ""),
          records: kind
        ) { (id: Int, text: String) in ledger.record(event(text), of: \.titles, id) }
      }
      catalog.offer("Projects.", ledger)
      method("begin", "begun") { .begun(title: $0) }
      method("step", "stepped") { .stepped(step: $0) }
      method("end", "ended") { _ in .ended }
      catalog.command("projects.fail", "Fails.", records: "ended") { () throws -> Int in
        ledger.record(.ended, of: \.titles, 1)
        throw Rejection.rejected("no", "it does not")
      }
    }
  }

  private let daemon: TestDaemon
  private let client: TestClient

  init() throws {
    daemon = try Self.daemon()
    client = daemon.connect()
  }

  /// Calls a method, and returns the frames that follow.
  private func run(_ method: String, _ id: Int, _ text: String = "") throws -> [String] {
    _ = client.frames()
    try client.call("projects." + method, ["id": .number(JSONNumber(id)), "text": .string(text)])
    return client.frames().map { JSONValue.object($0).text.text }
  }

  @Test
  func `watchers get the value after each event that changes it`() throws {
    try client.subscribe("projects/1")
    try client.subscribe("projects")
    #expect(
      try run("begin", 1, "roof") == [
        #"{"sub":1,"seq":1,"value":{"title":"roof","steps":[]}}"#,
        #"{"sub":2,"seq":1,"value":["roof"]}"#,
      ])
    #expect(
      try run("step", 1, "a") == [#"{"sub":1,"seq":2,"value":{"title":"roof","steps":["a"]}}"#])
    #expect(try run("begin", 1, "roof") == [], "the values are the same")
    #expect(try run("begin", 2, "door").count == 1, "the other project changes the list alone")
    _ = try run("step", 1, "b")
    #expect(
      try run("step", 1, "c") == [#"{"sub":1,"seq":6,"value":{"title":"roof","steps":["b","c"]}}"#])
    #expect(
      try run("end", 1).sorted() == [
        #"{"sub":1,"seq":7,"gone":true}"#, #"{"sub":2,"seq":7,"value":["door"]}"#,
      ])
    #expect(try run("end", 2) == [#"{"sub":2,"seq":8,"gone":true}"#])
  }

  @Test
  func `watchers of a pattern get the values of new and changed rows`() throws {
    try client.subscribe("projects/*")
    _ = try run("begin", 1, "roof")
    #expect(
      try run("begin", 2, "door") == [
        #"{"sub":1,"seq":2,"source":"projects/2","value":{"title":"door","steps":[]}}"#
      ])
    #expect(
      try run("step", 1, "a") == [
        #"{"sub":1,"seq":3,"source":"projects/1","value":{"title":"roof","steps":["a"]}}"#
      ])
    #expect(
      try run("end", 1) == [#"{"sub":1,"seq":4,"source":"projects/1","gone":true}"#])
  }

  @Test
  func `sources exist with their rows, are found by patterns, and come back after a restart`()
    throws
  {
    #expect(throws: CallError.notFound) { try client.get("projects") }
    _ = try run("begin", 1, "roof")
    _ = try run("step", 1, "a")
    _ = try run("begin", 2, "door")
    _ = try run("end", 2)
    try daemon.checkReplay()
    for restart in [{}, daemon.restart, daemon.crash] {
      try restart()
      let client = daemon.connect()
      #expect(try client.get("projects/1") == ["title": "roof", "steps": ["a"]])
      #expect(try client.get("projects") == ["roof"])
      #expect(throws: CallError.notFound) { try client.get("projects/2") }
      let all = try client.request("get", ["source": "projects/**"])
      #expect(
        JSONValue.object(all).text.text.contains(
          #"{"projects/1":{"title":"roof","steps":["a"]}}"#), "\(all)")
    }
  }

  @Test
  func `a failed command changes no watched value`() throws {
    try client.subscribe("projects/1")
    _ = try run("begin", 1, "roof")
    #expect(throws: CallError.rejected("no")) { try client.call("projects.fail") }
    #expect(client.frames().isEmpty)
    #expect(try client.get("projects/1") == ["title": "roof", "steps": []])
    #expect(
      try run("step", 1, "a") == [#"{"sub":1,"seq":2,"value":{"title":"roof","steps":["a"]}}"#])
  }

  @Test
  func `the past of a value has the events that have changed it, and no others`() throws {
    _ = try run("begin", 1, "roof")
    _ = try run("step", 1, "a")
    _ = try run("begin", 1, "roof")
    func why(_ source: String) throws -> String {
      JSONValue.object(try client.request("why", ["source": .string(source)])).text.text
    }
    #expect(try why("projects/1").contains(#""seq":2,"#))
    #expect(try why("projects").contains(#""seq":1,"#))
  }

  @Test
  func `values of sources that nobody watches are not computed`() throws {
    let (daemon, client) = try Self.counting()
    defer { withExtendedLifetime(daemon) {} }
    func add(_ id: Int) throws { try client.call("counted.add", ["id": .number(JSONNumber(id))]) }
    for id in 1...20 { try add(id) }
    #expect(Counted.count.value == 0)
    try client.subscribe("counted/7")
    let first = Counted.count.value
    try add(8)
    #expect(Counted.count.value == first, "another one is watched")
    try add(7)
    #expect(Counted.count.value == first + 2, "before and after")
    #expect(client.frames().count == 1)
    try client.call("counted.mark", ["id": 7])
    #expect(Counted.count.value == first + 2, "it is not derived from marks")
  }

  @Test
  func `the cause of a value is found by computing it for the last events first`() throws {
    let (daemon, client) = try Self.counting()
    defer { withExtendedLifetime(daemon) {} }
    /// Returns the position of the event that has changed a source.
    func cause(of source: String) throws -> JSONValue? {
      Counted.count.value = 0
      let answer = try client.request("why", ["source": .string(source)])["value"]
      guard case .array(let events)? = answer, case .object(let first)? = events.first else {
        return nil
      }
      return first["seq"]
    }
    for _ in 1...20 { try client.call("counted.add", ["id": 7]) }
    try client.call("counted.add", ["id": 8])
    #expect(try cause(of: "counted/7") == 20)
    #expect(Counted.count.value <= 3, "\(Counted.count.value)")
    #expect(try cause(of: "counted") == 21)
    #expect(Counted.count.value <= 3, "\(Counted.count.value)")
    // Events that write the row and do not change it; a value behind one is that before the next.
    for _ in 1...40 { try client.call("counted.keep", ["id": 7]) }
    #expect(try cause(of: "counted/7") == 20)
    #expect(Counted.count.value <= 65, "\(Counted.count.value)")
    for _ in 1...1100 { try client.call("counted.keep", ["id": 7]) }
    #expect(try cause(of: "counted/7") == 20)
    #expect(Counted.count.value <= 1165, "\(Counted.count.value)")
    #expect(try cause(of: "counted/8") == 21)
    #expect(Counted.count.value <= 3, "\(Counted.count.value)")
  }

  /// Starts a daemon with numbers, whose derived sources count how often they are computed.
  private static func counting() throws -> (TestDaemon, TestClient) {
    Counted.count.value = 0
    let daemon = try TestDaemon { host, catalog in
      let ledger = Ledger<Counted>("counted", in: host)
      catalog.offer("Counted.", ledger)
      func method(_ name: String, _ kind: String, _ event: @escaping (Int) -> Counted.Event) {
        catalog.command(
          "counted.\(name)", "Does it.", Parameter<Int>("id"), records: kind
        ) { (id: Int) in ledger.record(event(id)) }
      }
      method("add", "added") { .added(id: $0) }
      method("keep", "kept") { .kept(id: $0) }
      method("mark", "marked") { .marked(id: $0) }
    }
    return (daemon, daemon.connect())
  }
}

/// Numbers, whose derived sources count how often they are computed.
private struct Counted: State {
  enum Event: Codable { case added(id: Int), kept(id: Int), marked(id: Int) }

  final class Count: Sendable {
    nonisolated(unsafe) var value = 0
  }

  static let count = Count()

  var numbers = Table<Int, Int>()
  var marks = Table<Int, Bool>()

  static let sources = [
    Source.hidden(\Counted.numbers), .hidden(\.marks),
    .derived("counted/*", "A number.", ofEach: \.numbers) { _, _, number in
      count.value += 1
      return number
    },
    .derived("counted", "All numbers.", ofAll: \.numbers) { counted in
      count.value += 1
      return counted.numbers.count
    },
  ]

  mutating func apply(_ event: Event, at context: EventContext) {
    switch event {
    case .added(let id): numbers[id] = (numbers[id] ?? 0) + 1
    case .kept(let id): numbers[id] = numbers[id]
    case .marked(let id): marks[id] = true
    }
  }
}

private struct Unlisted: State {
  enum Event: Codable { case added }

  var numbers = Table<Int, Int>()
  var others = Table<Int, Int>()

  static let sources = [
    Source.hidden(\Unlisted.numbers),
    .derived("unlisted/*", "A number.", ofEach: \.numbers, with: \.others) { _, _, row in row },
  ]

  mutating func apply(_ event: Event, at context: EventContext) {}
}

private struct Keyless: State {
  enum Event: Codable { case added }

  var numbers = Table<Int, Int>()
  var sum = Single(0)

  static let sources = [
    Source.hidden(\Keyless.numbers), .hidden(\.sum),
    .derived("keyless/*", "A number.", ofEach: \.numbers, with: \.sum) { _, _, row in row },
  ]

  mutating func apply(_ event: Event, at context: EventContext) {}
}

private struct OtherKeys: State {
  enum Event: Codable { case added }

  var numbers = Table<Int, Int>()
  var names = Table<String, Int>()
  var lists = Lists<String, Int>()

  static let sources = [
    Source.hidden(\OtherKeys.numbers), .hidden(\.names), .hidden(\.lists),
    .derived("other/*", "A number.", ofEach: \.numbers, with: \.names) { _, _, row in row },
    .derived("other/*/list", "A number.", ofEach: \.numbers, with: \.lists) { _, _, row in row },
    .derived("other", "All.", ofAll: \.numbers, with: \.names) { $0.numbers.count },
  ]

  mutating func apply(_ event: Event, at context: EventContext) {}
}

/// Rows with names as keys, which an event may remove whether they are there or not.
private struct Named: State {
  enum Event: Codable { case put(name: String), dropped(name: String) }

  struct Shown: Codable, ListRow {
    let id: Int

    init(_ id: Int, _ row: Int) { self.id = id }
  }

  var rows = Table<String, Int>()

  static let sources = [
    Source.hidden(\Named.rows),
    .derived("named/*", "A row.", ofEach: \.rows) { _, _, row in row },
  ]

  mutating func apply(_ event: Event, at context: EventContext) {
    switch event {
    case .put(let name): rows[name] = 1
    case .dropped(let name): rows[name] = nil
    }
  }
}

@Suite(.leavesNothing)
struct DerivedNameTests {
  @Test
  func `only a new row must make a valid name`() throws {
    let daemon = try TestDaemon { host, catalog in
      let ledger = Ledger<Named>("named", in: host)
      catalog.offer("Named.", ledger)
      catalog.command("named.put", "Puts.", Parameter<String>("name"), records: "put") {
        (name: String) in ledger.record(.put(name: name))
      }
      catalog.command("named.drop", "Drops.", Parameter<String>("name"), records: "dropped") {
        (name: String) in ledger.record(.dropped(name: name))
      }
    }
    let client = daemon.connect()
    #expect(throws: CallError.self) { try client.call("named.put", ["name": "a b"]) }
    try client.call("named.drop", ["name": "a b"])
    try client.call("named.put", ["name": "a"])
    try client.call("named.drop", ["name": "a"])
  }
}

/// Not `leavesNothing`: a daemon that did not start is not taken apart.
struct DerivedMistakeTests {
  /// Returns the mistakes that end the start of a daemon.
  private func mistakes(_ body: @escaping (Host, Binder.Catalog) -> Void) -> String {
    do {
      _ = try TestDaemon { host, catalog in body(host, catalog) }
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test
  func `a source that is derived from what is not listed ends the start`() {
    #expect(
      mistakes { host, _ in _ = Ledger<Unlisted>("unlisted", in: host) }.contains(
        "'unlisted/*' is derived from a table that 'sources' of Unlisted does not list"))
    #expect(
      mistakes { host, _ in _ = Ledger<Keyless>("keyless", in: host) }.contains(
        "'keyless/*' has keys, and is derived from a value without one: derive one of all rows"))
  }

  @Test
  func `a table with other keys, and a list that reads no source, end the start`() {
    let other = mistakes { host, _ in _ = Ledger<OtherKeys>("other", in: host) }
    for name in ["other/*", "other/*/list"] {
      #expect(
        other.contains("'\(name)' is derived from a table with another type of keys"), "\(other)")
    }
    #expect(!other.contains("'other' is"), "\(other)")
    func list(_ pattern: String) -> String {
      mistakes { host, catalog in
        catalog.offer("Named.", Ledger<Named>("named", in: host))
        catalog.list("named.list", "Lists.", reads: pattern, as: Named.Shown.self) {
          (_: Caller) -> RowList<Int, Int> in throw Rejection.rejected("no", "it does not")
        }
      }
    }
    for pattern in ["names/*", "named/*/x", "named"] {
      #expect(list(pattern).contains("named.list reads '\(pattern)', which is no source of named"))
    }
    #expect(list("named/*") == "")
  }
}
