import Configuration
import EventSourcing
import JSON
import JournalMemory
import LuaScripts
import Model
import ServiceTestSupport
import Signals
import Testing

@testable import Features

/// Returns the files with a service that keeps the last value of each cell, multiplied.
private func files(_ factor: Int, _ condition: String = "true") -> ScriptFiles {
  var files = ScriptFiles(in: Lua())
  let text = """
    service("usage", "x")
    local last = rows("usage/**", "The value of a cell, multiplied.")
    local count = value("usage", "The events.")
    on["cells.set"] = function(e, at)
      if \(condition) then last[at.name] = e.value * \(factor) end
      count:set((count:get() or 0) + 1)
    end
    """
  files.read(Array(text.utf8), file: "usage.service")
  return files
}

/// A host with cells and the services in files, whose work is done step by step.
private final class Home {
  let store: MemoryStore
  let host: ServiceHost
  let cells: CellsService
  let scripts: ScriptsService
  var works: [() -> Bool] = []
  let bag = DisposeBag()

  /// The sources of each report to watchers.
  var reports: [SourceChange] = []

  init(_ store: MemoryStore = MemoryStore()) throws {
    self.store = store
    host = ServiceHost(store: store)
    cells = CellsService(in: host)
    scripts = ScriptsService(in: host, Lua(), ScriptFiles(in: Lua()))
    try host.start(addLedgers: scripts.addServices)
    scripts.addWork = { [unowned self] in works.append($0) }
    scripts.begin()
  }

  deinit { bag.dispose() }

  func set(_ names: Range<Int>, _ value: Int = 1) throws {
    try host.run {
      for i in names { _ = try cells.set("c\(i)", to: JSONText(value)) }
    }
    store.commit()
  }

  /// Uses a text, up to the first step that exchanges the states.
  func begin(_ files: ScriptFiles) {
    _ = scripts.use(files)
    store.read()
    store.commit()
    store.read()
  }

  /// Removes the file and ends the service, up to the first step that frees its rows.
  func forget() throws {
    _ = scripts.use(ScriptFiles(in: Lua()))
    try host.run { try scripts.forget("usage") }
    store.commit()
    store.read()
  }

  /// Performs all steps.
  func goOn() {
    while !works.isEmpty { step() }
  }

  /// Performs all steps, of which each reports few changes.
  ///
  /// - Returns: The number of steps.
  func countSteps(_ afterEach: () throws -> Void) rethrows -> Int {
    var steps = 0
    while !works.isEmpty {
      let reported = reports.count
      step()
      steps += 1
      #expect(reports.count - reported <= 32)
      try afterEach()
    }
    return steps
  }

  func step() {
    if let work = works.first, !work() { works.removeFirst() }
  }

  func watch() throws {
    let usage = try usage
    usage.ledger.changes(matching: try #require(Pattern("usage/*"))).observeNext { [unowned self] in
      reports.append($0)
    }.dispose(in: bag)
  }

  var usage: ScriptService { get throws { try #require(scripts.services["usage"]) } }

  /// The number of cells that the service shows with a value.
  func count(_ value: Int, of names: Range<Int>) throws -> Int {
    let ledger = try usage.ledger
    return names.count { ledger.value(of: "usage/c\($0)") == JSONText(value) }
  }
}

struct ReplacementTests {
  @Test
  func `a state with many rows takes the place of another one in short steps`() throws {
    let home = try Home()
    home.begin(files(1))
    home.goOn()
    try home.set(0..<1_000)
    try home.watch()
    home.begin(files(2))
    #expect(try home.count(1, of: 0..<1_000) == 1_000)
    var (exchanges, before) = (0, 0)
    let steps = try home.countSteps {
      let new = try home.count(2, of: 0..<1_000)
      #expect(new == 0 || new == 1_000, "a reader sees one of the states")
      if new != before { exchanges += 1 }
      before = new
    }
    #expect(exchanges == 1)
    #expect(steps > 60)
    #expect(home.reports.count == 1_000)
    #expect(home.reports.allSatisfy { $0.seq == home.host.durable && $0.value == JSONText(2) })
    #expect(Set(home.reports.map(\.source)).count == 1_000)
  }

  @Test
  func `a first text shows all of its past at once`() throws {
    let home = try Home()
    try home.set(0..<1_000)
    home.begin(files(3))
    #expect(try home.usage.isNew)
    var found: Set<Int> = []
    while !home.works.isEmpty {
      home.step()
      found.insert(try home.count(3, of: 0..<1_000))
    }
    #expect(found == [0, 1_000])
    #expect(try !home.usage.isNew && !home.usage.isReplacing)
    var names = 0
    try home.usage.ledger.search(try #require(Pattern("usage/*"))) { _ in
      names += 1
      return true
    }
    #expect(names == 1_000)
  }

  @Test
  func `events beside the replacement are applied after it, once each`() throws {
    for when in 0..<8 {
      let home = try Home()
      home.begin(files(1))
      home.goOn()
      try home.set(0..<100)
      try home.watch()
      home.begin(files(2))
      for _ in 0..<when { home.step() }
      try home.set(0..<10, 50)
      // Recorded, and not durable when the replacement ends.
      try home.host.run { _ = try home.cells.set("c99", to: JSONText(70)) }
      home.goOn()
      #expect(try home.usage.ledger.pendingValue(of: "usage/c99") == JSONText(140))
      home.store.commit()
      #expect(try home.count(100, of: 0..<10) == 10)
      #expect(try home.count(2, of: 10..<99) == 89)
      #expect(try home.usage.ledger.value(of: "usage/c99") == JSONText(140))
      #expect(try home.usage.ledger.value(of: "usage") == JSONText(111))
      var last: [String: JSONText] = [:]
      for report in home.reports { last[report.source] = report.value }
      for i in 0..<100 {
        #expect(try home.usage.ledger.value(of: "usage/c\(i)") == last["usage/c\(i)"])
      }
    }
  }

  @Test
  func `the charges are those of a daemon that starts with the text`() throws {
    for (former, new) in [(files(1), files(1_000)), (files(1), files(1, "e.value == 2"))] {
      let home = try Home()
      home.begin(former)
      home.goOn()
      try home.set(0..<100)
      try home.set(50..<60, 2)
      home.begin(new)
      home.goOn()
      let again = try Home(home.store.killed())
      again.begin(new)
      again.goOn()
      #expect(home.host.stateBytes == again.host.stateBytes)
    }
  }

  @Test
  func `the rows of a forgotten service are freed in short steps, and folded again by a text`()
    throws
  {
    let home = try Home()
    home.begin(files(1))
    home.goOn()
    try home.set(0..<1_000)
    try home.watch()
    try home.forget()
    #expect(home.scripts.shown.isEmpty)
    let steps = home.countSteps {}
    #expect(steps > 30)
    let ledger = try home.usage.ledger
    #expect(ledger.pending.rows[0].rows.isEmpty && ledger.committed.rows[0].rows.isEmpty)
    #expect(home.reports.count == 1_000 && home.reports.allSatisfy { $0.value == nil })
    #expect(home.scripts.folding.isEmpty)
    // It applies nothing until it is used again.
    try home.set(0..<10, 5)
    #expect(ledger.pending.rows[0].rows.isEmpty)
    home.begin(files(2))
    home.goOn()
    #expect(try home.count(2, of: 0..<1_000) == 990)
    #expect(try home.count(10, of: 0..<10) == 10)
    try home.set(0..<10, 6)
    #expect(try home.count(12, of: 0..<10) == 10)
    let again = try Home(home.store.killed())
    #expect(try again.count(12, of: 0..<10) == 10)
    #expect(home.host.stateBytes == again.host.stateBytes)
  }

  @Test(arguments: [0, 1, 20])
  func `a forgotten service comes back while its rows are freed`(steps: Int) throws {
    let home = try Home()
    home.begin(files(1))
    home.goOn()
    try home.set(0..<1_000)
    try home.forget()
    for _ in 0..<steps { home.step() }
    // The same text, too, because its rows are gone.
    home.begin(files(1))
    #expect(home.scripts.shown.count == 1)
    home.goOn()
    home.store.read()
    home.store.commit()
    home.store.read()
    home.goOn()
    #expect(try home.count(1, of: 0..<1_000) == 1_000)
    #expect(try !home.usage.isNew && !home.usage.isFolding && !home.usage.isReplacing)
    #expect(home.scripts.folding.isEmpty)
  }

  @Test
  func `a service that is forgotten while its state is replaced is freed afterwards`() throws {
    let home = try Home()
    home.begin(files(1))
    home.goOn()
    try home.set(0..<1_000)
    home.begin(files(2))
    home.step()
    #expect(try home.usage.isReplacing)
    try home.forget()
    home.goOn()
    home.store.read()
    home.goOn()
    #expect(try home.usage.ledger.committed.rows[0].rows.isEmpty)
    #expect(home.scripts.shown.isEmpty && home.scripts.folding.isEmpty)
  }

  @Test
  func `a text that comes meanwhile is used afterwards`() throws {
    let home = try Home()
    home.begin(files(1))
    home.goOn()
    try home.set(0..<100)
    home.begin(files(2))
    home.step()
    _ = home.scripts.use(files(3))
    _ = home.scripts.use(files(4))
    home.goOn()
    #expect(try home.count(2, of: 0..<100) == 100)
    home.store.read()
    home.store.commit()
    home.store.read()
    home.goOn()
    #expect(try home.count(4, of: 0..<100) == 100)
    #expect(home.scripts.folding.isEmpty)
    #expect(try home.usage.isReplacing == false)
  }
}
