import Configuration
import EventSourcing
import JSON
import Journal
import JournalMemory
import LuaScripts
import Model
import ServiceTestSupport
import Signals
import Testing
import Wire

@testable import Features

/// Counts the values of cells, and has events of its own.
private let counting = """
  service("usage", "How often cells are set.")
  local counts = rows("usage/**", "The number of values, the last one, and its place.")
  local total = value("usage", "The sum of all, and of those that were added.")
  on["cells.set cells/room/*"] = function(e, at)
    local r = counts[at.name] or { n = 0 }
    counts[at.name] = { n = r.n + 1, last = e.value, seq = at.seq, by = at.user }
    total:set((total:get() or 0) + 1)
  end
  on["cells.removed"] = function(e, at) counts[at.name] = nil end
  on.added = function(e) total:set((total:get() or 0) * 10 + e.n) end
  command.add = { "Adds.", n = "integer", run = function(p)
    record("added", { n = p.n })
    return total:get()
  end }
  """

private func script(_ text: String) throws -> Script {
  try Script(text, named: "usage", file: "usage.service", path: "usage.service", in: Lua())
}

/// A host with cells and a service in a file.
private struct Home {
  let store: MemoryStore
  let host: ServiceHost
  let cells: CellsService
  let usage: ScriptService

  init(_ text: String = counting, _ store: MemoryStore = MemoryStore()) throws {
    self.store = store
    host = ServiceHost(store: store)
    cells = CellsService(in: host)
    usage = ScriptService(try script(text), in: host)
    try host.start()
  }

  func set(_ name: String, _ value: String) throws {
    try host.run { try cells.set(name, to: JSONText(trusted: value)) }
  }

  func add(_ n: Int) throws -> String? {
    let call = ScriptCall("add", JSONText(trusted: #"{"n":\#(n)}"#), uid: 7, pid: 1)
    return try host.run { try usage.run(call) }?.text
  }

  func value(_ source: String) -> String? { usage.ledger.value(of: source)?.text }
}

struct OtherEventsTests {
  @Test
  func `events of others are folded in their commits, in order with own ones`() throws {
    let home = try Home()
    var changes: [String] = []
    let watch = home.usage.ledger.changes(of: "usage").observeNext {
      changes.append("\($0.seq): \($0.value?.text ?? "-")")
    }
    defer { watch.dispose() }
    try home.set("room/a", "5")
    #expect(try home.add(3) == "13", "a command sees events that are not durable yet")
    try home.set("hall", "6")
    try home.set("room/b", "7")
    #expect(home.value("usage") == "null", "nothing is shown before it is durable")
    home.store.commit()
    #expect(changes == ["1: 1", "2: 13", "4: 14"])
    #expect(home.value("usage/room/a") == #"{"by":1,"last":5,"n":1,"seq":1}"#)
    #expect(home.value("usage/hall") == nil)
    try home.host.run { try home.cells.remove("room/a") }
    home.store.commit()
    #expect(home.value("usage/room/a") == nil)
    #expect(home.usage.ledger.committed.skipped.isEmpty)
  }

  @Test
  func `what a refused command has recorded is folded back`() throws {
    struct Refused: Error {}
    let home = try Home()
    try home.set("room/a", "1")
    #expect(throws: (any Error).self) {
      try home.host.run {
        _ = try home.cells.set("room/a", to: JSONText(2))
        _ = try home.cells.set("room/b", to: JSONText(2))
        throw Refused()
      }
    }
    #expect(home.usage.ledger.pendingValue(of: "usage") == JSONText(1))
    #expect(home.usage.ledger.pendingValue(of: "usage/room/b") == nil)
    try home.set("room/c", "3")
    home.store.commit()
    #expect(home.value("usage") == "2")
    #expect(home.value("usage/room/a")?.contains(#""last":1"#) == true)
  }

  @Test
  func `a fold that fails stops its service, and not the command of another`() throws {
    struct Refused: Error {}
    let home = try Home(
      """
      service("usage", "x")
      local n = value("usage", "x")
      on["cells.set"] = function(e) if e.value == 13 then error("no 13") end n:set(e.value) end
      """)
    try home.set("a", "1")
    #expect(throws: (any Error).self) {
      try home.host.run {
        _ = try home.cells.set("a", to: JSONText(13))
        throw Refused()
      }
    }
    #expect(home.usage.stopped == nil, "the event was rolled back")
    try home.set("a", "13")
    try home.set("a", "14")
    home.store.commit()
    #expect(home.cells.ledger.value(of: "cells/a") == JSONText(14))
    #expect(home.value("usage") == "1")
    let stop = try #require(home.usage.popStop())
    #expect(
      home.usage.message(of: stop)
        == "service 'usage' stops at event 2 (cells.set): usage.service:3: no 13")
    #expect(home.usage.popStop() == nil, "once")
    #expect(home.usage.ledger.committed.stopped?.seq == 2)
  }

  @Test
  func `a fold of another service's event has a quarter of the instructions of a command`() throws {
    let home = try Home(
      """
      service("usage", "x")
      local n = value("usage", "x")
      on["cells.set"] = function(e)
        local sum = 0
        for i = 1, e.value do sum = sum + i end
        n:set(sum)
      end
      """)
    try home.set("a", "10000")
    home.store.commit()
    #expect(home.value("usage") == "50005000")
    try home.set("a", "60000")
    home.store.commit()
    #expect(home.usage.stopped?.failure.limit == .instructions)
    // The replay has the same limit.
    let again = try Home(
      home.usage.script.text, home.store.killed())
    #expect(again.usage.stopped?.seq == 2)
    #expect(again.value("usage") == "50005000")
  }

  @Test
  func `after a kill at any event the state is that of the events before it`() throws {
    let home = try Home()
    var states: [[String: JSONText]] = [["usage": .null]]
    for i in 1...12 {
      switch i % 4 {
      case 0: _ = try home.add(i)
      case 3: try home.host.run { try home.cells.remove("room/\(i % 3)") }
      default: try home.set("room/\((i + 1) % 3)", "\(i)")
      }
      home.store.commit()
      var state: [String: JSONText] = [:]
      for source in home.usage.ledger.sources {
        state[source] = home.usage.ledger.value(of: source)
      }
      states.append(state)
    }
    #expect(home.host.durable == 12)
    for last in 0...12 {
      let again = try Home(counting, home.store.killed(upTo: UInt64(last)))
      let ledger = again.usage.ledger
      #expect(Set(ledger.sources) == Set(states[last].keys))
      for (source, value) in states[last] { #expect(ledger.value(of: source) == value) }
      // And it goes on.
      try again.set("room/z", "1")
      again.store.commit()
      #expect(ledger.value(of: "usage/room/z") != nil)
      // The past is the same, by the rules of a reader.
      let past = again.host.value(of: "usage", at: UInt64(last))
      var found: JSONText?
      let reading = past.observeNext { found = $0.value }
      again.store.read()
      reading.dispose()
      #expect(found == states[last]["usage"])
    }
  }

  @Test
  func `a daemon that follows has the same state`() throws {
    let (store, followed) = (MemoryStore(), MemoryStore())
    let (home, follower) = (try Home(counting, store), try Home(counting, followed))
    followed.follow(store)
    try home.set("room/a", "5")
    _ = try home.add(3)
    try home.set("room/b", "7")
    store.commit()
    #expect(home.value("usage") == "14")
    for source in home.usage.ledger.sources {
      #expect(follower.value(source) == home.value(source))
    }
    #expect(follower.usage.ledger.sources.count == 3)
  }

  @Test
  func `the state is charged to the administrator, not to the writer`() throws {
    let home = try Home()
    home.host.daemon = Peer(uid: 99)
    try home.set("room/a", "5")
    home.store.commit()
    let charged = home.host.stateBytes(of: 99)
    #expect(charged > 20)
    let alone = try Home("service('usage', 'x')")
    try alone.set("room/a", "5")
    #expect(home.host.stateBytes(of: 1) == alone.host.stateBytes(of: 1))
    // The same after a restart.
    let again = try Home(counting, home.store.killed())
    #expect(again.host.stateBytes == home.host.stateBytes)
  }

  @Test(arguments: [
    (#"on["usage.added"] = f"#, "'usage.added' is an event of this service; write 'on.added'"),
    (#"on["cells.*"] = f"#, "'cells.*': write a function for each kind of events"),
    (#"on["cells.set lists/a"] = f"#, "'lists/a' has no events of 'cells'; it begins with cells/"),
    (
      #"on["cells.set cells/a*"] = f"#,
      "'cells/a*': a '*' is a whole segment, and '**' the last one"
    ),
    (#"on["cells."] = f"#, "the kind of an event is 1 to 32 of a-z 0-9 _ and begins with a letter"),
    (
      #"on["cells.set"] = f on["cells.set"] = f"#, "'on.cells.set' is declared twice"
    ),
  ])
  func `a fold of no event is a fault of the text`(line: String, message: String) {
    do throws(ConfigurationFaults) {
      _ = try Script(
        "service('usage', 'x')\nlocal f = function() end\n" + line, named: "usage",
        file: "usage.service", path: "usage.service", in: Lua())
      Issue.record("no fault")
    } catch {
      #expect(error.faults.map(\.description) == ["usage.service:3:1: \(message)"])
    }
  }

  @Test
  func `a service or a kind that does not exist is a fault with its place`() throws {
    let text = """
      service("usage", "x")
      on["cells.sett"] = function() end
        on["cell.set cell/a"] = function() end
      on["system.x"] = function() end
      on["cells.set"] = function() end
      """
    let known = ["cells": ["cells.removed", "cells.set"], "system": []]
    #expect(
      try script(text).faults(in: "a/usage.service", among: known).map(\.description) == [
        "a/usage.service:2:5: 'cells' has no events 'cells.sett'; did you mean 'cells.set'?",
        "a/usage.service:3:7: there is no service 'cell'; did you mean 'cells'?",
        "a/usage.service:4:5: 'system' has no events 'system.x'; it has none",
      ])
  }

  @Test
  func `a command records no event of another service`() throws {
    let home = try Home(
      """
      service("usage", "x")
      on["cells.set"] = function() end
      command.add = { "x", n = "integer", run = function(p) record("cells.set", p) end }
      """)
    do {
      _ = try home.add(1)
      Issue.record("it was recorded")
    } catch {
      #expect("\(error)".contains("'cells.set' is an event of another service"))
    }
  }

  @Test
  func `the size of a value that another has written stops no service`() throws {
    let home = try Home(
      """
      service("usage", "x")
      local n = value("usage", "x")
      on["cells.set"] = function(e) n:set((n:get() or 0) + 1) end
      """)
    let flat = "[" + String(repeating: "[],", count: 80_000) + "[]]"
    let deep =
      String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
    let nested = "[" + String(repeating: deep + ",", count: 3_000) + "0]"
    for value in [flat, nested] { try home.set("a", value) }
    home.store.commit()
    #expect(home.usage.stopped == nil)
    #expect(home.value("usage") == "2")
  }

  @Test
  func `a limit that an allocation reaches has the line that ran before`() throws {
    let home = try Home(
      """
      service("usage", "x")
      local n = value("usage", "x")
      on["cells.set"] = function(e)
        local text = e.value
        while true do text = text .. text end
      end
      """)
    try home.set("a", "\"text\"")
    home.store.commit()
    let failure = try #require(home.usage.stopped?.failure)
    #expect(failure.description == "usage.service:5: it has used all of its memory")
  }

  @Test
  func `a fold that changes a variable of the file stops at each event`() throws {
    let text = """
      service("usage", "x")
      local n = value("usage", "x")
      local last = 0
      on["cells.set"] = function(e)
        if e.value == 3 then last = 3 end
        n:set(e.value)
      end
      """
    let home = try Home(text)
    for i in 1...5 { try home.set("a", "\(i)") }
    home.store.commit()
    for usage in [home.usage, try Home(text, home.store.killed()).usage] {
      #expect(usage.stopped?.seq == 3)
      #expect(usage.stopped?.failure.description.contains("has changed a variable") == true)
      #expect(usage.ledger.value(of: "usage") == JSONText(2))
    }
  }

  @Test
  func `the order of folds of one type is part of what a state depends on`() throws {
    func hash(_ kinds: String...) throws -> String {
      let folds = kinds.map { "on['\($0)'] = f" }.joined(separator: "\n")
      return try script("service('usage', 'x')\nlocal f = function() end\n" + folds).foldHash
    }
    let (all, some) = ("cells.set", "cells.set cells/room/*")
    #expect(try hash(all, some) != hash(some, all))
    // Different types never have one event.
    #expect(try hash(all, "cells.removed") == hash("cells.removed", all))
  }

  @Test
  func `a new text folds what becomes durable beside it, and its fault is logged`() throws {
    let (store, language) = (MemoryStore(), Lua())
    let host = ServiceHost(store: store)
    let cells = CellsService(in: host)
    let scripts = ScriptsService(in: host, language, ScriptFiles(in: language))
    var messages: [String] = []
    scripts.onMessage = { text, isError in if isError { messages.append(text) } }
    try host.start(addLedgers: scripts.addServices)
    scripts.begin()
    func set(_ name: String, _ value: Int) throws {
      try host.run { _ = try cells.set(name, to: JSONText(value)) }
    }
    try set("room/a", 1)
    store.commit()
    var files = ScriptFiles(in: language)
    let text = """
      service("usage", "x")
      local n = value("usage", "x")
      on["cells.set cells/room/*"] = function(e)
        if e.value == 13 then error("no 13") end
        n:set((n:get() or 0) + 1)
      end
      """
    files.read(Array(text.utf8), file: "usage.service")
    _ = scripts.use(files)
    for i in 1...5 { try set("hall", i) }
    try set("room/b", 2)
    store.commit()
    #expect(scripts.folding["usage"]?.later.count == 1, "the text folds no others")
    // Recorded before the text, and durable after the past is folded.
    try set("room/c", 13)
    store.read()
    #expect(messages.isEmpty)
    store.commit()
    store.read()
    let usage = try #require(scripts.services["usage"])
    #expect(usage.stopped?.seq == 8)
    #expect(usage.ledger.value(of: "usage") == JSONText(2))
    #expect(messages == ["service 'usage' stops at event 8 (cells.set): usage.service:4: no 13"])
  }

  @Test
  func `events that were dropped beside a fold are in its state`() throws {
    let (store, language) = (MemoryStore(), Lua())
    let host = ServiceHost(store: store)
    let cells = CellsService(in: host)
    let scripts = ScriptsService(in: host, language, ScriptFiles(in: language))
    try host.start(addLedgers: scripts.addServices)
    scripts.begin()
    func set(_ times: Int) throws {
      try host.run {
        for i in 1...times { _ = try cells.set("a", to: JSONText(i)) }
      }
    }
    try set(1)
    store.commit()
    var files = ScriptFiles(in: language)
    let text = """
      service("usage", "x")
      local n = value("usage", "x")
      on["cells.set"] = function(e) n:set((n:get() or 0) + 1) end
      """
    files.read(Array(text.utf8), file: "usage.service")
    _ = scripts.use(files)
    let most = ScriptFolding.mostKept
    // Recorded before the text, and durable after the past is folded.
    try set(most + 7)
    store.read()
    store.commit()
    #expect(scripts.folding["usage"]?.lacksEvents == true)
    store.read()
    let usage = try #require(scripts.services["usage"])
    #expect(scripts.folding.isEmpty)
    #expect(usage.ledger.value(of: "usage") == JSONText(most + 8))
    try set(1)
    store.commit()
    #expect(usage.ledger.value(of: "usage") == JSONText(most + 9))
  }

  @Test
  func `a start makes no snapshot of a service that is stopped`() throws {
    let text = """
      service("usage", "x")
      local n = value("usage", "x")
      on["cells.set"] = function(e) if e.value == 13 then error("no 13") end n:set(e.value) end
      """
    let home = try Home(text)
    try home.set("a", "1")
    home.store.commit()
    home.host.saveSnapshots()
    for value in ["13", "14"] { try home.set("a", value) }
    home.store.commit()
    let store = home.store.killed()
    let host = ServiceHost(store: store, snapshotEvery: 1)
    _ = CellsService(in: host)
    let usage = ScriptService(try script(text), in: host)
    try host.start()
    for _ in 1...10 { store.read() }
    #expect(usage.stopped?.seq == 2)
    #expect(store.snapshot(of: "cells")?.seq == 3)
    #expect(store.snapshot(of: "usage")?.seq == 1)
  }
}
