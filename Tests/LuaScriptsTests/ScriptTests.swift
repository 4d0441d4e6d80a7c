import Model
import Configuration
@testable import EventSourcing
import JSON
import JournalMemory
import LuaScripts
import ServiceTestSupport
import Testing

@testable import Features

/// Reads a text as the file `stock.service`, and returns its faults.
private func faults(_ text: String) -> [String] {
  do throws(ConfigurationFaults) {
    _ = try Script(
      text, named: "stock", file: "stock.service", path: "/etc/stock.service", in: Lua())
    return []
  } catch {
    return error.faults.map(\.description)
  }
}

struct ScriptTests {
  @Test(arguments: [
    ("local x = = 1", "/etc/stock.service:1:11: unexpected symbol near '='"),
    (
      "service('stock', 'x')\n  rowz('stock/*', 'x')",
      "/etc/stock.service:2:3: attempt to call a nil value (global 'rowz'); did you mean 'rows'?"
    ),
    (
      "local x = 1",
      "/etc/stock.service:1:1: the file does not begin with service(\"NAME\", \"A line about it.\")"
    ),
    (
      "\nservice('shop', 'x')",
      "/etc/stock.service:2:1: the service is called 'shop', but the file 'stock.service'"
    ),
    (
      "service('stock', 'x')\nrows('shop/*', 'x')",
      "/etc/stock.service:2:1: 'shop/*': it does not begin with stock/"
    ),
    (
      "service('stock', 'x')\nrows('stock', 'x')",
      "/etc/stock.service:2:1: 'stock': it has no * for the key"
    ),
    (
      "service('stock', 'x')\nvalue('stock/*', 'x')",
      "/etc/stock.service:2:1: 'stock/*': it has a *, and this source has no key"
    ),
    ("while true do end", "/etc/stock.service:1:1: it has used all of its instructions"),
  ])
  func `a fault has file, line and column`(text: String, fault: String) {
    #expect(faults(text) == [fault])
  }

  @Test
  func `all faults of declarations are reported at once, with that which ends the text`() {
    let text = """
      service("stock", "x")
      local a = rows("stock/*")
      on.Taken = function(e) end
      on.taken = function(e) end
      on.taken = function(e) end
      command.take = { "Takes.", item = 3, run = function(p) end }
      query.see = { run = function() end }
      ignore("Bad")
      missing()
      command.late = {}
      """
    let path = "/etc/stock.service"
    #expect(
      faults(text) == [
        "\(path):2:1: argument 2 of 'rows' is missing, not a line about the source",
        "\(path):3:1: the kind of an event is 1 to 32 of a-z 0-9 _ and begins with a letter",
        "\(path):5:1: 'on.taken' is declared twice",
        "\(path):6:1: parameter 'item' has no type; write a text such as \"integer\"",
        "\(path):7:1: 'query.see' begins with a line about it",
        "\(path):8:1: the kind of an event is 1 to 32 of a-z 0-9 _ and begins with a letter",
        "\(path):9:1: attempt to call a nil value (global 'missing'); a service has nothing of this name",
      ])
    let many = "service('stock', 'x')\n" + String(repeating: "on.A = 1\n", count: 100)
    #expect(faults(many).count == 21)
    #expect(
      faults("service('stock', 'x')\non.A = 1\nwhile true do end").first?.contains("instructions")
        == true)
  }

  @Test
  func `names that nothing has are found where they are read`() throws {
    let text = """
      service("stock", "x")
      local last = value("stock", "x")
      function helper(n) return n + 1 end
      on.taken = function(e, at)
        last:set(helper(e.n) + unknwon)
        if last then return function() return tostring(deeper.x), string.rep("a", 2) end end
      end
      command.take = { "Takes.", run = function(p, caller)
        record("taken", { n = limit })
        local limit = 4
        return limit + last:get() + unknwon
      end }
      """
    let script = try Script(
      text, named: "stock", file: "stock.service", path: "p", in: Lua())
    #expect(
      script.warnings(path: "p").map(\.description) == [
        "p:5:26: nothing is called 'unknwon' outside of functions; it is nil",
        "p:6:50: nothing is called 'deeper' outside of functions; it is nil",
        "p:9:25: nothing is called 'limit' outside of functions; it is nil",
      ])
    let long = (0..<400).map { "local function f\($0)() return x\($0) end" }
    let many = try Script(
      "service('stock', 'x')\n"
        + long.map { "do \($0) end" }.joined(separator: "\n"),
      named: "stock", file: "stock.service", path: "p", in: Lua())
    let warnings = many.warnings(path: "p")
    #expect(warnings.map(\.line) == Array(2...21), "the first ones")
    // An error without a text is a fault, too.
    for text in [#"error("", 0)"#, #"error("\x1e", 0)"#] {
      #expect(
        faults("service('stock', 'x')\n" + text) == [
          "/etc/stock.service: the text fails without a message"
        ])
    }
  }

  /// Returns the warnings about lines of a text behind its first six, with line and column.
  private func warnings(_ lines: String) throws -> [String] {
    let head = """
      service("stock", "x")
      local things = rows("stock/*", "x")
      local last = value("stock", "x")
      local log = list("stock/log", "x")
      ignore("seen")
      on.taken = function(e, at) end

      """
    let script = try Script(
      head + lines, named: "stock", file: "stock.service", path: "p", in: Lua())
    return script.warnings(path: "p").map(\.description)
  }

  /// The first word that a check has a message about, and the message; `nil` for none.
  typealias Doubt = (word: String, message: String)

  @Test(
    arguments: [
      (
        "record('takn', { n = 1 })",
        ("'takn'", "there is no 'on.takn' for the event; did you mean 'taken'?")
      ),
      (
        "record 'gone'",
        ("'gone'", "there is no 'on.gone' for the event; write one, or 'ignore(\"gone\")'")
      ),
      ("record('taken')", nil), ("record('seen', {})", nil), ("record('ta' .. p.n)", nil),
      ("local record = type record('gone')", nil), ("p.record = type p.record('gone')", nil),
      ("record('taken', { n = p.num })", ("num", "'take' has no parameter 'num'; it has n")),
      ("p.m = 1 record('taken', { n = p.m })", nil),
      (
        "record('taken', { by = caller.usr })",
        ("usr", "'caller' has no 'usr'; did you mean 'user'?")
      ),
      ("local caller = { x = 1 } record('taken', caller.x)", nil),
      ("reject('tken')", ("'tken'", "'rejects' of 'take' lacks \"tken\"; did you mean 'taken'?")),
      ("reject('taken', 'no')", nil),
      ("local a = math.flor(1)", ("flor", "'math' has no 'flor'; did you mean 'floor'?")),
      ("local a = last:gett()", ("gett", "'last' has no 'gett'; did you mean 'get'?")),
      ("local a = log:apend(1)", ("apend", "'log' has no 'apend'; did you mean 'append'?")),
      ("local a = last:get() + log:count() + things.get", nil),
      (
        "local a = things:get('x')",
        ("get", "'things' is a row set, which has no methods; write things[key], or pairs(things)")
      ),
      ("-- record('gone')\n--[[ math.flor ]] local a = [[ math.flor ]] .. 'math.flor'", nil),
    ] as [(String, Doubt?)])
  func `a command is checked without running it`(body: String, doubt: Doubt?) throws {
    let start = "run = function(p, caller) "
    let head = "command.take = { 'x', n = 'integer', rejects = { 'taken' },"
    let found = try warnings("\(head)\n\(start)\(body)\nend }")
    #expect(found == expected(doubt, in: start + body, line: 8))
  }

  @Test(
    arguments: [
      ("local a = at.usr", ("usr", "'at' has no 'usr'; did you mean 'user'?")),
      ("local a = at.seq + at.version + at.time, at.user, at.stream, at.name", nil),
      (
        "things[e.k].n = 1",
        (
          "things",
          "'things[e.k]' is a copy of the row, so this changes nothing; write 'local r = things[e.k]', change it, then 'things[e.k] = r'"
        )
      ),
      (
        "local r = things[e.k] r.n = r.n + 1",
        ("r.n", "'r' is a copy of the row; without 'things[e.k] = r' this changes nothing")
      ),
      (
        "local r = things[e.k] or {} r.n = 1 r[1] = 2",
        ("r.n", "'r' is a copy of the row; without 'things[e.k] = r' this changes nothing")
      ),
      (
        "for k, r in pairs(things) do r.n = 1 end",
        ("r.n", "'r' is a copy of the row; without 'things[k] = r' this changes nothing")
      ),
      ("for k, r in pairs(things) do r.n = 1 things[k] = r end", nil),
      ("local r = things[e.k] r.n = 1 things[e.k] = r", nil),
      ("local r = things[e.k] r.n = 1\nlast:set(r.n)", nil),
      ("local r = things[e.k] last:set(r.n)", nil), ("local r = things[e.k].n r.x = 1", nil),
      ("local r = { n = 1 } r.n = 2 things.x = 1", nil),
    ] as [(String, Doubt?)])
  func `a fold is checked without running it`(body: String, doubt: Doubt?) throws {
    let line = "on.gone = function(e, at) \(body)"
    #expect(try warnings(line + "\nend") == expected(doubt, in: line, line: 7))
  }

  private func expected(_ doubt: Doubt?, in text: String, line: Int) -> [String] {
    guard let doubt, let place = text.firstRange(of: doubt.word)?.lowerBound else { return [] }
    let column = text.distance(from: text.startIndex, to: place) + 1
    return ["p:\(line):\(column): \(doubt.message)"]
  }

  /// Returns the names of members of the rows of `stock/*`, sorted; `nil` if they may have any.
  private func rowNames(_ fold: String, _ rest: String = "") throws -> [String]? {
    let text = """
      service("stock", "x")
      local things = rows("stock/*", "x")
      on.taken = function(e, at)
        \(fold)
      end
      \(rest)
      """
    let script = try Script(
      text, named: "stock", file: "stock.service", path: "p", in: Lua())
    return script.rowNames()["stock/*"]?.filter { $0 == "n" || $0 == "m" }.sorted()
  }

  @Test(
    arguments: [
      "things[e.k] = { n = e.n }", "things.x = { ['n'] = 1 } things.y = nil",
      "local r = things[e.k] or { n = 0 } things[e.k] = r", "things[e.k] = things.x or { n = 1 }",
      "for k, r in pairs(things) do r.n = 1 things[k] = r end", "things[e.k] = false local n = e.n",
      "local r = things[e.k] r.n, r.k = 1, 2 things[e.k] = r",
    ])
  func `members have the names that the text has, if it writes all rows`(fold: String) throws {
    #expect(try rowNames(fold) == ["n"])
    let query = "query.m = { 'x', run = function() return next(things), things.x.m end }"
    #expect(try rowNames(fold, query) == ["m", "n"], "reading changes nothing")
  }

  @Test(
    arguments: [
      "things[e.k] = e", "things[e.k] = e.n", "things[e.k] = { n = 1 } or e",
      "things[e.k] = e.n and { n = 1 }", "things[e.k] = { [e.n] = 1 }", "things.x = e",
      "local r = things[e.k] r[e.n] = 1 things[e.k] = r", "local r = e things[e.k] = r",
      "local r = { n = 1 } r = e things[e.k] = r", "local r = { n = 1 } r, x = e, 1 things.x = r",
      "local r = { n = 1 } things[e.k] = r.n", "local r = { n = 1 } things[e.k] = r(1)",
      "things[e.k], things.x = e, e", "local t = things t.x = e",
      "local function set(t) t.x = e end set(things)", "things[e.k] = string.format('n')",
      "for k, r in pairs(e) do things[k] = r end", "local things = {} things.x = { n = 1 }",
    ])
  func `members may have any name if rows come from elsewhere or names are computed`(
    fold: String
  ) throws {
    #expect(try rowNames(fold) == nil)
  }

  @Test
  func `the check knows the library of the interpreter`() throws {
    let standard = [
      "string": [
        "byte", "char", "dump", "find", "format", "gmatch", "gsub", "len", "lower", "match", "pack",
        "packsize", "rep", "reverse", "sub", "unpack", "upper",
      ],
      "table": ["concat", "insert", "move", "pack", "remove", "sort", "unpack"],
      "math": [
        "abs", "acos", "asin", "atan", "ceil", "cos", "deg", "exp", "floor", "fmod", "huge", "log",
        "max", "maxinteger", "min", "mininteger", "modf", "pi", "rad", "random", "randomseed",
        "sin",
        "sqrt", "tan", "tointeger", "type", "ult",
      ],
    ]
    let members = standard.sorted { $0.key < $1.key }.flatMap { table, names in
      names.map { "\(table).\($0)" }
    }
    let list = members.map { "\($0) == nil and '\($0)' or ''" }.joined(separator: ",")
    let world = try FakeWorld("query.x = { 'x', run = function() return { \(list) } end }")
    guard case .done(let missing?) = world.call("x", isQuery: true) else {
      Issue.record("the query fails")
      return
    }
    let texts = (missing.elements ?? []).compactMap(\.string).filter { !$0.isEmpty }
    let uses = texts.map { "local a = \($0)" }.joined(separator: "\n")
    #expect(try warnings(uses).count == texts.count)
    let known = members.filter { !texts.contains($0) }.map { "local a = \($0)" }
    #expect(try warnings(known.joined(separator: "\n")) == [])
  }

  @Test
  func `a trial finds a row that a fold reads, changes and does not assign`() throws {
    let world = try FakeWorld(
      """
      local r = rows("r/*", "Rows.")
      local l = list("r/list", "Many.")
      on.set = function(e) r[e.k] = { n = 1, list = { 1 } } l:append({ n = 1 }) end
      on.lost = function(e)
        local a = r[e.k]
        table.insert(a.list, 2)
        l:get(1).n = 7
      end
      on.assigned = function(e)
        local a = r[e.k]
        a.n = 2
        r[e.k] = { n = a.n, list = a.list }
        for k, b in pairs(r) do b.n = 3 r.other = b end
        l:set(1, { n = 2 })
        local c = r[e.k]
      end
      on.bad = function(e) r[e.k].n = function() end end
      """)
    world.script.watch()
    for kind in ["set", "assigned"] { #expect(world.fold(kind, #"{"k":"x"}"#) == nil) }
    #expect(world.script.lostChanges == [])
    for _ in 1...2 { #expect(world.fold("lost", #"{"k":"x"}"#) == nil) }
    #expect(
      world.script.lostChanges == [ScriptName("r/*", line: 5), ScriptName("r/list", line: 7)])
    #expect(world.fold("bad", #"{"k":"x"}"#) == nil)
    #expect(world.fold("set", #"{"k":"x"}"#) == nil)
  }

  @Test
  func `names are found in functions with many constants, and long ones`() throws {
    let constants = (0..<300).map { "'c\($0)'" }.joined(separator: ", ")
    let long = "long_" + String(repeating: "x", count: 60)
    let text = """
      service("stock", "x")
      query.see = { "x", run = function()
        local t = { \(constants) }
        local a = t[1] .. far
        return a, \(long), tostring(t.unused), string.rep("a", 2)
      end }
      """
    let script = try Script(text, named: "stock", file: "stock.service", path: "p", in: Lua())
    #expect(
      script.warnings(path: "p").map(\.description) == [
        "p:4:21: nothing is called 'far' outside of functions; it is nil",
        "p:5:13: nothing is called '\(long)' outside of functions; it is nil",
      ])
    // Behind 131,072 constants the number of one has an instruction of its own; such a text is longer
    // than a service may be.
  }

  @Test
  func `a text with CRLF has its faults at the same places`() throws {
    let text = "service('stock', 'x')\n\n  rows('shop/*', 'x')\nlocal x = = 1\n"
    let declared = "service('stock', 'x')\n  rows('shop/*', 'x')\n"
    for text in [text, declared] {
      #expect(faults(text).count > 0)
      #expect(faults(text.replacing("\n", with: "\r\n")) == faults(text))
    }
    #expect(
      faults(declared.replacing("\n", with: "\r\n")).first
        == "/etc/stock.service:2:3: 'shop/*': it does not begin with stock/")
  }

  @Test
  func `all faults of the names are reported at once`() {
    let text = "service('shop', 'x')\nrows('a/*', 'x')\nvalue('b', 'x')"
    #expect(faults(text).count == 3)
  }

  @Test
  func `files that are too long or not UTF-8 are refused`() {
    var files = ScriptFiles(in: Lua())
    files.read(Array(repeating: 0x20, count: Script.maxBytes + 1), file: "a/long.service")
    files.read([0xFF], file: "a/bytes.service")
    files.read([0xEF, 0xBB, 0xBF] + Array(#"service("mark", "x")"#.utf8), file: "a/mark.service")
    #expect(
      files.faults.map(\.description) == [
        "a/long.service: it has 65537 bytes; at most 65536", "a/bytes.service: it is not UTF-8",
        "a/mark.service:1:1: the file begins with a byte order mark; save it without",
      ])
  }

  @Test
  func `a language without its library says what to install`() {
    #expect(
      throws: ConfigurationFaults([
        ConfigurationFault(file: "stock.service", message: "nothing is installed")
      ])
    ) {
      try Script(
        "x", named: nil, file: "stock.service", path: "stock.service", in: MissingLanguage())
    }
  }

  @Test
  func `a source without a key has its value before the rows that match its name`() throws {
    let script = try Script(
      """
      service('stock', 'x')
      local all = rows('stock/**', 'x')
      local some = rows('stock/*', 'x')
      local total = value('stock/total', 'x')
      """, named: "stock", file: "stock.service", path: "stock.service", in: Lua())
    var state = ScriptState(script)
    state.singles[0].value = JSONText(7)
    state.rows[1]["a"] = JSONText(8)
    state.rows[0]["a/b"] = JSONText(9)
    #expect(state.value(of: "stock/total") == JSONText(7))
    #expect(state.value(of: "stock/a") == JSONText(8))
    #expect(state.value(of: "stock/a/b") == JSONText(9))
    #expect(
      script.fault(ofKey: "total", in: 1)
        == "the key 'total': the source stock/total belongs to 'stock/total'")
    #expect(
      script.fault(ofKey: "a", in: 0) == "the key 'a': the source stock/a belongs to 'stock/*'")
    #expect(script.fault(ofKey: "a/b", in: 0) == nil)
    #expect(script.fault(ofKey: "a", in: 1) == nil)
  }

  @Test
  func `an event of another daemon that cannot be folded stops the durable state too`() throws {
    func script(_ fold: String) throws -> Script {
      try Script(
        "service('stock', 'x')\nlocal r = rows('stock/*', 'x')\non.set = function(e)\n\(fold)\nend",
        named: "stock", file: "stock.service", path: "stock.service", in: Lua())
    }
    let (store, followed) = (MemoryStore(), MemoryStore())
    let (host, follower) = (ServiceHost(store: store), ServiceHost(store: followed))
    let leading = ScriptService(try script("r.a = 1"), in: host)
    let following = ScriptService(try script("error('no')"), in: follower)
    try host.start()
    try follower.start()
    followed.follow(store)
    for _ in 1...2 {
      try host.run { leading.ledger.record(ScriptEvent("set", JSONText(trusted: "{}")), in: nil) }
      store.commit()
    }
    #expect(leading.ledger.value(of: "stock/a") == JSONText(1))
    #expect(following.ledger.committed.stopped?.seq == 1)
    #expect(following.stopped?.failure == .fault("stock.service:4: no"))
    #expect(following.popStop()?.seq == 1)
    #expect(following.popStop() == nil, "once")
  }

  @Test
  func `a replay that changes a variable of the file stops at its last event`() throws {
    let script = try Script(
      "service('stock', 'x')\nlocal n = 0\non.set = function(e) if e.n then n = e.n end end",
      named: "stock", file: "stock.service", path: "stock.service", in: Lua())
    func stop(_ events: [String]) -> StoppedFold? {
      var state = ScriptState(script)
      for (i, event) in events.enumerated() {
        let seq = UInt64(i + 1)
        state.apply(
          ScriptEvent("set", JSONText(trusted: event)),
          at: ScriptPlace(seq: seq, version: seq, time: 1, user: 1, stream: "stock"))
      }
      state.checkVariables()
      return state.stopped
    }
    #expect(stop(["{}", "{}", "{}"]) == nil)
    #expect(stop(["{}", "{}", #"{"n":1}"#])?.seq == 3)
    // It has its value again at the end.
    #expect(stop([#"{"n":1}"#, #"{"n":0}"#])?.seq == 1)
    #expect(
      "\(try #require(stop([#"{"n":1}"#])).failure)".hasPrefix(
        "stock.service: a call has changed a variable or table of the file"))
  }

  @Test
  func `a fold that is far behind goes on off the loop, and applies no event twice`() throws {
    let script = try Script(
      """
      service('stock', 'x')
      local n = value('stock', 'x')
      on.set = function() n:set((n:get() or 0) + 1) end
      """, named: "stock", file: "stock.service", path: "stock.service", in: Lua())
    let folding = ScriptFolding(script)
    func keep(_ seqs: ClosedRange<UInt64>) {
      for seq in seqs {
        folding.keep(ScriptEvent("set", JSONText(trusted: "{}")), at: place(seq))
      }
    }
    keep(1...300)
    let state = ScriptState(script)
    folding.use(state, upTo: 199)
    #expect(folding.isFarBehind)
    #expect(folding.later.count == 101, "those that were read are gone")
    folding.use(state, upTo: 200)
    #expect(!folding.isFarBehind)
    // A reader may have seen an event before the ledger.
    keep(150...160)
    #expect(folding.catchUp() == nil)
    #expect(folding.state?.value(of: "stock") == JSONText(100))
    #expect(folding.seq == 300)
  }

  @Test
  func `a fold keeps a limited number of events, and reads again those that it dropped`() throws {
    let script = try Script(
      """
      service('stock', 'x')
      local n = value('stock', 'x')
      on.set = function() n:set((n:get() or 0) + 1) end
      """, named: "stock", file: "stock.service", path: "stock.service", in: Lua())
    let folding = ScriptFolding(script)
    func keep(_ seqs: ClosedRange<UInt64>, _ data: String = "{}") {
      for seq in seqs {
        folding.keep(ScriptEvent("set", JSONText(trusted: data)), at: place(seq))
      }
    }
    let most = UInt64(ScriptFolding.mostKept)
    keep(1...most + 50)
    #expect(folding.later.count == 49)
    folding.use(ScriptState(script), upTo: most)
    #expect(folding.lacksEvents)
    #expect(folding.isFarBehind, "one event is neither in the state nor kept")
    folding.use(ScriptState(script), upTo: most + 1)
    #expect(!folding.isFarBehind)
    #expect(folding.catchUp() == nil)
    #expect(folding.state?.value(of: "stock") == JSONText(49))
    // Large events are fewer.
    let large = #"{"text":"\#(String(repeating: "x", count: 200_000))"}"#
    keep(most + 51...most + 80, large)
    #expect(folding.lacksEvents)
    #expect(folding.later.count < 21)
  }

  @Test
  func `the hash of a text is SHA-256`() {
    #expect(
      SHA256.hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      SHA256.hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      SHA256.hash(String(repeating: "a", count: 1000))
        == "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
  }
}

/// A language whose library is not installed.
private struct MissingLanguage: ScriptLanguage {
  var obstacle: String? { "nothing is installed" }

  func interpreter(
    for text: String, file: String
  ) throws(ScriptFailure) -> any ScriptInterpreter {
    throw .fault("nothing is installed")
  }

  func rowNames(in text: String, _ declaration: ScriptDeclaration) -> [String: Set<String>] {
    [:]
  }
}

/// Returns the place of an event of the service `stock`.
private func place(_ seq: UInt64) -> EventContext {
  let names = Names()
  let stream = Stream(names.add("stock"), in: names, isNamed: true)
  return EventContext(stream, seq: seq, version: seq, time: 1, user: 1)
}
