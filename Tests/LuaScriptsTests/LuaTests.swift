import EventSourcing
import Features
import JSON
import LuaScripts
import Testing

/// Runs a body as a command, and returns its outcome.
private func run(_ body: String, _ parameters: String = "{}") throws -> ScriptOutcome {
  try FakeWorld("command.go = { \"Runs.\", x = \"any?\", run = function(p)\n\(body)\nend }")
    .call("go", parameters)
}

private func result(_ body: String, _ parameters: String = "{}") throws -> String {
  switch try run(body, parameters) {
  case .done(let value): value?.text ?? "nothing"
  case .refused(let refusal): "\(refusal)"
  case .failed(let failure): "\(failure)"
  }
}

struct LuaServiceTests {
  @Test
  func `a room cannot be booked twice`() throws {
    let world = try FakeWorld(rooms)
    #expect(
      world.call("book", #"{"room":"blue","from":"09","to":"10"}"#) == .done(.init(string: "b1")))
    #expect(world.rows() == ["blue": #"{"b1":{"by":1000,"from":"09","to":"10"}}"#])
    #expect(world.rows(1) == ["": "1"])
    #expect(
      world.call("book", #"{"room":"blue","from":"08","to":"11"}"#)
        == .refused(ScriptRefusal(.rejected(reason: "taken"), "the room is taken")))
    #expect(
      world.call("cancel", #"{"room":"red","id":"b1"}"#)
        == .refused(
          ScriptRefusal(.notFound(what: "booking", id: "b1"), "there is no booking 'b1'")))
    #expect(world.call("cancel", #"{"room":"blue","id":"b1"}"#) == .done(nil))
    #expect(world.rows().isEmpty)
    #expect(world.events.map(\.kind) == ["booked", "cancelled"])
    #expect(
      world.events.first?.data == #"{"from":"09","id":"b1","number":1,"room":"blue","to":"10"}"#)
  }

  @Test
  func `a text declares sources, events and methods with their parameters in order`() throws {
    let declaration = try FakeWorld(rooms).script.declaration
    #expect(declaration.name == "rooms")
    #expect(declaration.doc == "Who has which room.")
    #expect(declaration.tables.map(\.name) == ["rooms/*", "rooms"])
    #expect(declaration.tables.map(\.kind) == [.rows, .value])
    #expect(declaration.tables.map(\.line) == [3, 4])
    #expect(declaration.on.map(\.name) == ["booked", "cancelled"])
    #expect(declaration.commands.map(\.name) == ["book", "cancel"])
    #expect(declaration.commands[0].rejects == ["empty", "taken"])
    #expect(declaration.commands[0].parameters.map(\.name) == ["room", "from", "to"])
    #expect(declaration.commands[1].parameters.map(\.name) == ["room", "id"])
  }

  @Test
  func `types of parameters have a text, may be left out, and may be words`() throws {
    let world = try FakeWorld(
      #"""
      query.look = {
        "Looks.", level = { "low", "high" }, count = "integer?: How many.", run = function() end,
      }
      """#)
    let parameters = world.script.declaration.queries[0].parameters
    #expect(parameters.map(\.name) == ["level", "count"])
    #expect(parameters[0].shape == .words(["low", "high"]))
    #expect(parameters[1].shape == .integer)
    #expect(parameters[1].isOptional)
    #expect(parameters[1].doc == "How many.")
  }

  @Test
  func `the digest of the folds changes with what they depend on, and with nothing else`() throws {
    func digest(_ change: (String) -> String) throws -> String {
      try FakeWorld(change(text)).script.foldDigest
    }
    let text = """
      local r = rows("r/*", "Rows.")
      local limit = 7
      local names = { a = { 1, 2 } }
      local function helper(x) return x + limit end
      function global(x) return x end
      on.set = function(e) r[e.key] = helper(e.value) .. names.a[1] end
      command.go = { "Goes.", run = function() return 1 end }
      """
    let same = try digest { $0 }
    for (old, new) in [
      ("limit = 7", "limit = 8"), ("{ 1, 2 }", "{ 1, 3 }"), ("x + limit", "x - limit"),
      ("return x end", "return 1 end"), ("names.a[1]", "names.a[2]"), ("r/*", "r/x/*"),
    ] {
      #expect(try digest { $0.replacing(old, with: new) } != same, "\(new)")
    }
    for (old, new) in [
      ("return 1 end", "return 2 end"), ("Rows.", "All rows."),
      ("local r", "-- a comment\nlocal r"),
    ] where new != "return 2 end" || old == "return 1 end" {
      #expect(try digest { $0.replacing(old, with: new) } == same, "\(new)")
    }
  }

  @Test(arguments: [
    ("math.floor", "math.ceil"), ("1", "'1'"), ("{ 1, '2' }", "{ 1, 2 }"), ("{ 12 }", "{ 1, 2 }"),
  ])
  func `the digest tells values and functions apart`(one: String, other: String) throws {
    func digest(_ value: String) throws -> String {
      try FakeWorld("local x = \(value)\non.set = function() return x end").script.foldDigest
    }
    #expect(try digest(one) != digest(other))
  }

  @Test
  func `a CR alone is no end of a line`() {
    #expect(throws: ScriptFailure.fault("test.service:2: a CR without an LF")) {
      try FakeWorld("local x = 1\nlocal y = 2\rlocal z = 3")
    }
    #expect(throws: Never.self) { try FakeWorld("local x = 1\r\nlocal y = 2\r\n") }
  }

  @Test(arguments: [
    "local n = 0 on.x = function() n = n + 1 end",
    "local s = 'a' on.x = function() s = s .. 'b' end",
    "local t = {} on.x = function() t[1] = 1 end",
    "local t = { a = { 1 } } on.x = function() t.a[1] = 2 end",
    "local t = { 1, 2 } on.x = function() table.remove(t) end",
    "local t = {} on.x = function() array(t) end",
    "local function f() return 1 end on.x = function() f = nil end",
    "local function f() local n = 0 return function() n = n + 1 end end on.x = f()",
    "t = {} on.x = function() t.a = 1 end",
    "local n on.x = function() end command.x = { 'Runs.', run = function() n = true end }",
    "local n = { 1 } query.x = { 'Reads.', run = function() n[1] = 2 end }",
    "local each = ('abc'):gmatch('.') on.x = function() each() end",
  ])
  func `a call that changes a variable of the file is noticed`(text: String) throws {
    let world = try FakeWorld(text)
    #expect(!world.script.hasChanged)
    if text.contains("command.x") || text.contains("query.x") {
      #expect(world.call("x", isQuery: text.contains("query.x")) == .done(nil))
    } else {
      #expect(world.fold("x") == nil)
    }
    #expect(world.script.hasChanged)
  }

  @Test
  func `a call that changes its own variables only changes nothing`() throws {
    let world = try FakeWorld(
      rooms + """

        local limits = { low = 1, high = { 2, 3 } }
        on.x = function(e)
          local n, t = limits.low, {}
          for i = 1, 100 do n = n + i; t[i] = limits.high end
          local function count() n = n + 1 end
          count()
        end
        """)
    #expect(world.fold("x") == nil)
    _ = world.call("book", #"{"room":"blue","from":"09","to":"10"}"#)
    #expect(!world.script.hasChanged)
  }

  @Test(arguments: [
    "{ a = 1, b = -7, c = 'text', d = true, e = false }", "{ a = 1.0, b = 1.5, c = -0.0 }",
    "{ a = 1e15, b = 1e300, c = 123456789.25, d = 1e-7, e = 2^53, f = 0.1 + 0.2, g = 2^63 }",
    "{ a = math.maxinteger, b = math.mininteger, c = 10 / 2 }",
    "{ a = 'é\\n\\0\\127', b = '\\u{85}', c = ('x'):rep(100), [''] = 1 }",
    "{ a = {}, b = array(), c = { {}, array() }, d = { 1, { 2, { 3 } } } }",
    "{ a = null, b = { 1, null, 3 }, c = { x = null, y = { z = null } } }",
    "{ a = p.x, b = { p.x, p.y }, c = p.z }", "p", "{}", "nil", "{ a = shared, b = shared }",
    "{ a = string }",
    "{ a = { { { { { { { { { { { { { { { { { { { { 1 } } } } } } } } } } } } } } } } } } } } }",
  ])
  func `a fold sees the same within its command and in a replay`(data: String) throws {
    let world = try FakeWorld(
      """
      local r = rows("r/*", "Rows.")
      local function show(x)
        if type(x) ~= "table" then return (math.type(x) or type(x)) .. " " .. tostring(x) end
        local t = #x .. "{"
        for k, y in pairs(x) do t = t .. show(k) .. "=" .. show(y) .. ";" end
        return t .. "}"
      end
      local function empty(x)
        local has_tables = false
        for _, y in pairs(x) do if type(y) == "table" then empty(y) has_tables = true end end
        if not has_tables then for k in pairs(x) do x[k] = nil end end
      end
      on.x = function(e)
        r.shown, r.whole = show(e), e
        if type(e.a) == "table" then e.a.new = nil e.a[#e.a + 1] = 1 end
        r.changed = e
        e.a = nil
        empty(e)
        r.empty = e
      end
      command.go = { "x", x = "any?", y = "any?", z = "any?", run = function(p)
        local shared = { 1, { 2 } }
        local data = \(data)
        record("x", data)
        return data
      end }
      """)
    let parameters = #"{"x":0.10,"y":[1,null,0.5,1e2,{"a":[]}],"z":{"q":1.50,"r":{}}}"#
    let outcome = world.call("go", parameters)
    guard case .done(let returned) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    // The function has changed its own copy.
    #expect((returned?.text ?? "{}") == world.events.first?.data)
    #expect(try world.replayed().tables == world.tables)
    #expect(world.rows()["shown"] != nil)
  }

  @Test
  func `null removes a row as nil does`() throws {
    let world = try FakeWorld(
      """
      local r = rows("r/*", "Rows.")
      on.set = function(e) r.a = 1 end
      on.gone = function(e) r.a = null end
      """)
    #expect(world.fold("set") == nil)
    #expect(world.rows() == ["a": "1"])
    #expect(world.fold("gone") == nil)
    #expect(world.rows().isEmpty)
  }

  @Test
  func `a long result, and a table that is made again and again, reach a limit`() throws {
    let digits = "0." + String(repeating: "3", count: 5000)
    #expect(
      try result("local t = {} for i = 1, 2000 do t[i] = p.x end return t", "{\"x\":\(digits)}")
        == "test.service:1: it has used all of its instructions")
    let world = try FakeWorld(
      """
      on.x = function()
        local t = {}
        for i = 1, 8192 do t[i + 0.5] = 1 end
        for i = 1, 500 do t[i + 0.5] = nil; t[-i - 0.5] = 1 end
      end
      """)
    #expect(world.fold("x")?.limit == .instructions)
  }

  @Test
  func `a table of the daemon cannot be changed`() throws {
    for body in ["table.insert(math, 1)", "table.move({ 1 }, 1, 1, 1, string)", "array(table)"] {
      #expect(
        try result(body) == "test.service:2: this table belongs to the daemon and cannot be changed"
      )
    }
  }

  @Test
  func `a list has elements by place`() throws {
    let world = try FakeWorld(
      """
      local items = list("todo/items", "Things.")
      on.added = function(e) items:append(e.text) end
      on.first = function(e) items:insert(1, e.text) end
      on.changed = function(e) items:set(e.at, e.text) end
      on.removed = function(e) items:remove(e.at) end
      on.cleared = function() items:clear() end
      query.see = { "Sees.", run = function()
        return { count = items:count(), first = items:get(1), all = items:get() } end }
      """)
    #expect(world.fold("added", #"{"text":"b"}"#) == nil)
    #expect(world.fold("first", #"{"text":"a"}"#) == nil)
    #expect(world.fold("changed", #"{"at":2,"text":"c"}"#) == nil)
    #expect(world.rows() == ["": #"["a","c"]"#])
    #expect(
      world.call("see", isQuery: true)
        == .done(JSONText(trusted: #"{"all":["a","c"],"count":2,"first":"a"}"#)))
    #expect(world.fold("removed", #"{"at":1}"#) == nil)
    #expect(world.rows() == ["": #"["c"]"#])
    #expect(
      world.fold("removed", #"{"at":2}"#) == .fault("test.service:5: the list has no place 2"))
    #expect(world.fold("cleared") == nil)
    #expect(world.rows().isEmpty)
  }

  @Test
  func `the refusals have the kinds of errors of services`() throws {
    #expect(
      try run(#"invalid("x", "a colour")"#)
        == .refused(
          ScriptRefusal(
            .invalid(parameter: "x", expected: "a colour"), "parameter 'x': expected a colour")))
    #expect(
      try run(#"exists("room", "blue")"#)
        == .refused(
          ScriptRefusal(.alreadyExists(what: "room", id: "blue"), "there is a room 'blue'")))
    #expect(
      try result(#"reject("full")"#) == #"test.service:2: 'rejects' of the method lacks "full""#)
  }

  @Test
  func `a fold has no clock, no random numbers, and records nothing`() throws {
    let world = try FakeWorld(
      """
      on.a = function() return now() end
      on.b = function() return math.random() end
      on.c = function() record("a") end
      on.d = function() reject("x") end
      """)
    #expect(
      world.fold("a")
        == .fault(
          "test.service:1: 'now' is for commands and queries only; a fold has 'at.time'"))
    #expect(
      world.fold("b")
        == .fault(
          "test.service:2: 'random' is for commands only: every run of a fold has the same result"))
    #expect(world.fold("c") == .fault("test.service:3: 'record' is for commands only"))
    #expect(world.fold("d") == .fault("test.service:4: 'reject' is for commands and queries only"))
  }

  @Test
  func `only a fold changes the state`() throws {
    let world = try FakeWorld(
      """
      local r = rows("r/*", "Rows.")
      command.set = { "Sets.", run = function() r.a = 1 end }
      """)
    #expect(
      world.call("set")
        == .failed(
          .fault(
            "test.service:2: the state is changed by events only: record one, and write in its "
              + "'on' function")))
    #expect(world.rows().isEmpty)
  }

  @Test
  func `a failed fold fails the command that has recorded its event`() throws {
    let world = try FakeWorld(
      """
      local r = rows("r/*", "Rows.")
      on.bad = function(e)
        local x
        return x.y
      end
      command.go = { "Goes.", run = function() record("bad") end }
      """)
    let failure = ScriptFailure.fault(
      "test.service:4: attempt to index a nil value (local 'x')")
    #expect(world.call("go") == .failed(failure))
    #expect(world.failure == failure)
  }

  @Test
  func `a refused key, row or stream is an error with its line`() throws {
    let world = try FakeWorld(
      """
      local r = rows("r/*", "Rows.")
      on.set = function(e) r["a!"] = 1 end
      command.go = { "Goes.", run = function() record("set", {}, "r/!") end }
      """)
    #expect(world.fold("set") == .fault("test.service:2: a key has no '!'"))
    #expect(world.call("go") == .failed(.fault("test.service:3: a stream has no '!'")))
  }

  @Test(arguments: [
    (
      "service(\"Rooms\", \"x\")",
      "test.service:1: the name of a service is 1 to 32 of a-z 0-9 _ and begins with a letter"
    ),
    ("\nlocal x = = 1", "test.service:2: unexpected symbol near '='"),
    ("on.x = 7", "test.service:1: 'on' takes a function(event, at)"),
    (
      "command.x = {\n\"x\" }",
      "test.service:2: 'command.x' lacks 'run = function(p, caller) … end'"
    ),
    ("command.x = { run = print }", "test.service:1: 'command.x' begins with a line about it"),
    (
      "command.x = { 'x', a = 'txt', run = function() end }",
      "test.service:1: parameter 'a': there is no type 'txt'; write text, name, number, integer, yesno, date, time, clock, secret, any, list or map"
    ),
    ("on.x = function() end\non.x = function() end", "test.service:2: 'on.x' is declared twice"),
    ("record('x')", "test.service:1: 'record' is for commands only"),
    ("rows('a/*')", "test.service:1: argument 2 of 'rows' is missing, not a line about the source"),
    (
      "local r = rows('a/*', 'x')\nlocal y = r.z",
      "test.service:2: the state is read within commands, queries and folds only"
    ),
    ("string.rep = 1", "test.service:1: this table belongs to the daemon and cannot be changed"),
    ("error('no')", "test.service:1: no"),
    ("error({})", "test.service:1: error() was called without a text"),
  ])
  func `a fault of a text has its line`(text: String, message: String) {
    #expect(throws: ScriptFailure.fault(message)) { try FakeWorld(text) }
  }
}

struct LuaLimitTests {
  @Test(arguments: [
    "while true do end",
    "return ('a'):rep(300):find('.-.-.-b')",
    "return ('a'):rep(3000):gsub('.-.-.-b', '')",
    "for _ in ('a'):rep(3000):gmatch('.-.-.-b') do end",
    "local t = {} for i = 1, 20000 do t[i] = -i end table.sort(t)",
    "local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function() while true do end end)",
    "local t = {} for i = 1, 1000 do table.insert(t, 1, i) end",
    "local t = {} for i = 1, 5000 do t['k' .. i] = i end for i = 1, 100 do next(t) end",
    "local s = ('x'):rep(100000) while true do local _ = s:upper() .. s:reverse() end",
    "local function f(n) return n < 2 and n or f(n - 1) + f(n - 2) end return f(40)",
    "goto a ::a:: goto a",
    "local t = {} for i = 1, 10000 do t[i] = i end return ('%d '):rep(10000):format(table.unpack(t))",
  ])
  func `what would run for long is stopped`(body: String) throws {
    let outcome = try run(body)
    guard case .failed(.limit) = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }

  @Test(arguments: [
    "local s = 'x' while true do s = s .. s end",
    "return ('x'):rep(1 << 40)",
    "local t = {} while true do t[#t + 1] = {} end",
    "local function f() return 1 + f() end return f()",
    "local s = ('x'):rep(1000) local t = {} while true do t[#t + 1] = s .. #t end",
  ])
  func `what would take much memory is stopped`(body: String) throws {
    let outcome = try run(body)
    guard case .failed(.limit) = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }

  @Test
  func `comparisons of long texts are stopped by their time`() throws {
    let world = try FakeWorld(
      """
      command.go = { "Goes.", run = function()
        local a, b = ("x"):rep(1000):rep(400), ("x"):rep(1000):rep(400)
        while true do local _ = a < b end
      end }
      """)
    #expect(world.call("go").failure?.limit == .time)
  }

  @Test
  func `a fold of the past has a limit of time that a command never reaches`() throws {
    // As many comparisons as possible with few instructions.
    let comparisons = Array(repeating: "a < b", count: 50).joined(separator: " or ")
    let world = try FakeWorld(
      """
      on.few = function() local a, b = ("x"):rep(1000):rep(400), ("x"):rep(1000):rep(400)
        for i = 1, 20 do local _ = \(comparisons) end
      end
      on.many = function() local a, b = ("x"):rep(1000):rep(400), ("x"):rep(1000):rep(400)
        while true do local _ = \(comparisons) end
      end
      """)
    #expect(world.fold("few") == nil)
    #expect(world.fold("many")?.limit == .time)
  }

  @Test
  func `a stopped command does not harm the next one`() throws {
    let world = try FakeWorld(rooms)
    for _ in 0..<50 {
      let name = String(repeating: "x", count: 100_000)
      _ = world.call("book", #"{"room":"\#(name)","from":"1","to":"2"}"#)
    }
    #expect(
      world.call("book", #"{"room":"blue","from":"1","to":"2"}"#).failure?.limit != .memory)
  }

  @Test
  func `a fold shares the limits of its command`() throws {
    let world = try FakeWorld(
      """
      on.tick = function() for i = 1, 1000 do end end
      command.go = { "Goes.", run = function() while true do record("tick") end end }
      """)
    // On a busy machine the time may come first; it is shared too.
    let outcome = world.call("go")
    #expect([.instructions, .time].contains(outcome.failure?.limit))
    #expect(world.events.count < 200)
  }

  @Test
  func `nothing that could harm is there`() throws {
    let names = [
      "os", "io", "debug", "package", "load", "loadstring", "loadfile", "dofile", "require",
      "collectgarbage", "coroutine", "pcall", "xpcall", "setmetatable", "getmetatable", "print",
      "rawset", "rawget", "utf8", "_G",
    ]
    let list = names.map { "(\($0) ~= nil and \"\($0)\" or \"\")" }.joined(separator: " .. ")
    #expect(
      try result("return \(list) .. tostring(string.dump) .. tostring(math.sin)")
        == "\"nilnil\"")
    #expect(throws: ScriptFailure.self) { try FakeWorld("\u{1B}Lua\u{54}") }
  }

  @Test
  func `nothing outlives a call`() throws {
    #expect(
      try result("count = 1").hasPrefix("test.service:2: 'count' is not declared; write 'local"))
  }
}

struct LuaLibraryTests {
  @Test
  func `keys come in the same order in every run`() throws {
    let body = """
      local t = { b = 1, a = 2, [3] = 4, [1] = 1, [true] = 3, [2.5] = 1 }
      for i = 1, 40 do t["k" .. (i * 7 % 40)] = i end
      local keys = {}
      for k in pairs(t) do keys[#keys + 1] = tostring(k) end
      return table.concat(keys, " ")
      """
    let all = try result(body)
    #expect(all.hasPrefix("\"true 1 2.5 3 a b k0 k1 k10 k11"))
    #expect(try result("local t = { b = 1, a = 2 } return next(t)") == "\"a\"")
    #expect(try result("local t = { b = 1, a = 2 } return (next(t, 'a'))") == "\"b\"")
    #expect(
      try result("for _ in pairs({ [{}] = 1 }) do end")
        == "test.service:2: the keys of a table have no order, because one is a table")
  }

  @Test
  func `pairs goes through the rows of a set in order`() throws {
    let world = try FakeWorld(
      """
      local r = rows("r/*", "Rows.")
      on.set = function(e) r[e.key] = e.value end
      query.all = { "All.", run = function()
        local all = {}
        for key, row in pairs(r) do all[#all + 1] = key .. "=" .. row end
        all[#all + 1] = next(r)
        return all
      end }
      """)
    for key in ["b", "c", "a"] {
      #expect(world.fold("set", "{\"key\":\"\(key)\",\"value\":7}") == nil)
    }
    #expect(
      world.call("all", isQuery: true) == .done(JSONText(trusted: #"["a=7","b=7","c=7","a"]"#)))
  }

  @Test(arguments: [
    ("0.10", "0.10"), ("1e300", "1e300"), ("12345678901234567890", "12345678901234567890"),
    ("-0", "-0"), ("1.50", "1.50"), ("0.1", "0.1"), ("9223372036854775807", "9223372036854775807"),
    ("-9223372036854775808", "-9223372036854775808"), ("1.0", "1"), ("1e2", "100"), ("7", "7"),
    ("\"\\u00e9\\ud83d\\ude00\\n\\u0085\"", "\"é😀\\n\\u0085\""), ("[]", "[]"), ("{}", "{}"),
    ("[1,null,2]", "[1,null,2]"), ("{\"a\":null}", "{}"), ("[[],{},[{}]]", "[[],{},[{}]]"),
    ("true", "true"), ("false", "false"),
  ])
  func `a value goes through a script unchanged`(json: String, expected: String) throws {
    #expect(try result("return p.x", "{\"x\":\(json)}") == expected)
  }

  @Test(arguments: [0, 1, 15, 16, 17, 40])
  func `members are sorted, however many there are`(count: Int) throws {
    let names = (0..<count).map { "m\($0 * 7 % 41)" }
    let members = names.sorted().map { "\"\($0)\":[{\"a\":-1,\"b\":{}}]" }
    let body = """
      local all = {}
      for i = 0, \(count - 1) do all["m" .. i * 7 % 41] = { { b = {}, a = -1 } } end
      return all
      """
    #expect(try result(body, "{}") == "{\(members.joined(separator: ","))}")
  }

  @Test
  func `a function has the arguments that it names, or all`() throws {
    let world = try FakeWorld(
      """
      service("test", "x")
      local r = rows("test/*", "x")
      local function named(e, at) r.named = { at = at.time, user = at.user } end
      on.named = named
      on.all = function(...) r.all = { count = select("#", ...), at = select(2, ...).stream } end
      on.one = function(e) r.one = e end
      on.none = function() r.none = 1 end
      command.named = { "x", run = function(p, caller) return caller.user end }
      command.all = { "x", run = function(...) return select(2, ...).process end }
      command.one = { "x", run = function(p) return p end }
      """)
    for kind in ["named", "all", "one", "none"] { #expect(world.fold(kind) == nil) }
    #expect(
      world.rows() == [
        "named": #"{"at":77,"user":1000}"#, "all": #"{"at":"test","count":2}"#, "one": "{}",
        "none": "1",
      ])
    #expect(world.call("named") == .done(JSONText(1000)))
    #expect(world.call("all") == .done(JSONText(5)))
    #expect(world.call("one") == .done(JSONText(trusted: "{}")))
  }

  @Test(arguments: [
    ("return p.x + 1", "1.5"), ("return -p.x", "-0.5"), ("return p.x < 1", "true"),
    ("return p.x .. '!'", "\"0.50!\""), ("return tostring(p.x)", "\"0.50\""),
    ("return type(p.x)", "\"number\""), ("return math.floor(p.x)", "0"),
    ("return tonumber(p.x) == 0.5", "true"), ("return p.x == p.x", "true"),
    ("return ('%.1f'):format(p.x)", "\"0.5\""), ("return math.max(p.x, 0.7)", "0.7"),
    ("return p.x // 0", "test.service:2: attempt to divide by zero"),
  ])
  func `a number that keeps its text is computed with`(body: String, expected: String) throws {
    #expect(try result(body, "{\"x\":0.50}") == expected)
  }

  @Test(arguments: [
    (
      "return { [1] = 1, [3] = 3 }",
      "a table has whole numbers as keys and is no list from 1 on: it cannot be stored"
    ),
    ("return { [1.5] = 1 }", "a key is a number, not a text: it cannot be stored"),
    ("return function() end", "a function cannot be stored"),
    ("return 1 / 0", "a number is not finite: it cannot be stored"),
    (
      "local t = {} t.t = t return t",
      "a value is nested too deep, or contains itself: it cannot be stored"
    ),
    ("return '\\xff'", "a text is not UTF-8"),
  ])
  func `what cannot be stored is refused`(body: String, message: String) throws {
    // The place is the first line of the function: the value is stored after its last one.
    #expect(try result(body) == "test.service:1: " + message)
  }

  @Test(arguments: [
    ("return ('hello world'):find('o w')", "5"), ("return ('hello'):match('(h)(.-)l')", "\"h\""),
    ("return ('a,b,,c'):gsub(',', ';')", "\"a;b;;c\""),
    ("return ('abc'):gsub('%w', '%0%0')", "\"aabbcc\""),
    ("return ('$name'):gsub('%$(%w+)', { name = 'x' })", "\"x\""),
    ("return ('abc'):gsub('b', function(c) return c:upper() end)", "\"aBc\""),
    (
      "local t = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do t[k] = v end return t",
      #"{"a":"1","b":"2"}"#
    ),
    ("return ('THE (quick) fox'):find('%((%a+)%)')", "5"),
    ("return ('f(a(b)c)d'):match('%b()')", "\"(a(b)c)\""),
    ("return ('THE (quick) fox'):match('%f[%a]%a+')", "\"THE\""),
    ("return ('x'):rep(3, '-')", "\"x-x-x\""), ("return ('abc'):sub(-2)", "\"bc\""),
    ("return ('abc'):byte(2)", "98"), ("return string.char(72, 105)", "\"Hi\""),
    ("return ('Abc'):lower() .. ('Abc'):upper()", "\"abcABC\""),
    ("return ('abc'):reverse()", "\"cba\""),
    (
      "return ('%5d|%-5s|%05.1f|%x|%q|%s'):format(42, 'ab', 2.55, 255, 'a\"b', true)",
      "\"   42|ab   |002.5|ff|\\\"a\\\\\\\"b\\\"|true\""
    ),
    ("return ('abc'):find('[a-')", "test.service:2: a pattern lacks ']'"),
    ("return ('abc'):find('%')", "test.service:2: a pattern ends with '%'"),
    ("return tostring({})", "\"table\""), ("return tonumber('0x10')", "16"),
    ("return tonumber('zz', 36)", "1295"), ("return tonumber('x')", "nothing"),
    ("return select('#', 1, 2, 3)", "3"), ("return (select(2, 'a', 'b'))", "\"b\""),
    ("return math.floor(2.7) + math.ceil(2.2) + math.abs(-3)", "8"),
    (
      "return '10' + 1",
      "test.service:2: attempt to perform arithmetic on a string value (constant '10')"
    ),
    ("return array()", "[]"), ("return {}", "{}"), ("return now()", "42"),
    ("local t = {3, 1, 2} table.sort(t) return t", "[1,2,3]"),
    ("local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return t", "[3,2,1]"),
    ("local t = {1, 2} table.insert(t, 3) table.insert(t, 1, 0) return t", "[0,1,2,3]"),
    ("local t = {1, 2, 3} return table.remove(t, 1) + #t", "3"),
    ("return table.concat({1, 'a', 2.5}, ',')", "\"1,a,2.5\""),
    ("return table.pack(1, nil, 3).n", "3"), ("return (table.unpack({7, 8}))", "7"),
    ("return table.move({1, 2, 3}, 2, 3, 1)", "[2,3,3]"),
    (
      "local t = {} for i = 1, 300 do t[i] = i * 7919 % 300 end table.sort(t) for i = 2, 300 do assert(t[i - 1] <= t[i]) end return #t",
      "300"
    ),
  ])
  func `the functions of the library do as in Lua`(body: String, expected: String) throws {
    #expect(try result(body) == expected)
  }
}
