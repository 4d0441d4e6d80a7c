import Features
import JSON
import LuaScripts
import TestSupport
import Testing

/// Feeds random scripts to the interpreter: they loop, allocate, recurse, sort, match and fail.
struct LuaFuzzTests {
  private static let texts = [
    rooms,
    """
    local r = rows("r/*", "Rows.") local v = value("r", "One.")
    local function show(x) if type(x) ~= "table" then return (math.type(x) or type(x)) .. tostring(x) end
      local t = "" for k, y in pairs(x) do t = t .. show(k) .. "=" .. show(y) .. ";" end return #x .. t end
    on.a = function(e) r.a = show(e) e.x = array(e.list) r.b = e for i = #e.x, 1, -1 do e.x[i] = nil end r.c = e end
    command.go = { "x", x = "any?", run = function(p)
      local d = { x = p.x, n = 1.0, f = 0.25, m = -0.0, t = "é\\n", list = { 1, null, { a = null, b = {} } }, e = array() }
      record("a", d) d.d = d.list d.k = { d.f * 3, 1e15, 2 // 1, 7 / 2 } record("a", d)
      return { r.a, r.b, d }
    end }
    """,
    """
    local r = rows("r/*", "Rows.") local v = value("r", "One.") local l = list("r/list", "Many.")
    on.a = function(e, at) r[e.k or "x"] = e  v:set(at.seq) l:append(e) end
    on.b = function(e) for k, x in pairs(r) do r[k] = nil end l:clear() end
    command.go = { "x", x = "any?", y = { "low", "high" }, run = function(p, c)
      record("a", { k = "b", n = p.x }) record("b", nil, "r/s")
      return { r.b, v:get(), l:get(), now(), c.user }
    end }
    query.see = { "x", run = function() return next(r) end }
    ignore("c")
    """,
    """
    command.go = { "x", x = "any?", rejects = { "no" }, run = function(p)
      local t = {} for i = 1, 50 do t[i] = (i * 7919) % 13 end
      table.sort(t, function(a, b) return a > b end)
      local s = ("ab,c d"):rep(20):gsub("%w+", function(w) return w:upper() .. #w end)
      for a, b in s:gmatch("(%w)(.-),") do t[a] = b end
      if s:find("[^%s]-x$") then reject("no", s:sub(1, 9)) end
      return { table.concat({ 1, 2, 3 }, ";"), ("%5.2f|%q|%s"):format(1.5, "a\\n", t), p.x, t[1] }
    end }
    """,
    """
    local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end
    command.go = { "x", x = "any?", run = function(p)
      local a = { f(50), select("#", 1, 2), tonumber("0x1p4"), tostring(p.x), -(p.x or 1) // 1 }
      table.insert(a, 1, table.remove(a)) table.move(a, 1, 3, 2)
      return table.unpack(a, 1, 4)
    end }
    """,
  ]

  private static let mutation = Mutation(
    of: texts,
    words: [
      "while true do end", "s = s .. s", "(('a'):rep(300))", ":find('.-.-b')", "table.sort(t, f)",
      "error({})", "error()", "nil", "{}", "function() end", "end", "pairs(r)", "next(t)", "[", "]",
      "record('a')", "record('a', {})", "reject('no')", "not_found('x', 1)", "invalid(1, {})",
      "on.x = function() record('a') end", "v:set", "l:remove(1)", "l:insert(1, 2)", "l:set(1, 2)",
      "r[p.x]", "r[1]", "0x7fffffffffffffff", "1e308", "-1", "1 // 0", "%b()", "%f[%w]", "%1", "[^",
      "string.format", "%99d", "%.99f", "%s", "(", ")", "\"", "\\xff", "\\0", "<close>", "<const>",
      "goto a ::a::", "for i = 1, 1e9 do", "...", "_ENV", "math.random(0)", "tostring(print)",
      "null", "array({})", "p.x + p.x", "p.x .. p.x", "now()", "service(\"x\", \"y\")",
    ])

  private static let parameters = [
    "{}", #"{"x":0.10,"y":"low"}"#, #"{"x":[1,[2,{"a":null}]]}"#, #"{"x":"\ud83d\ude00"}"#,
    #"{"room":"a","from":"1","to":"2","id":"b1"}"#, #"{"x":1e999}"#,
  ]

  /// The most calls of a method, in each of which another call to the daemon fails.
  private static let failures = 6

  @Test
  func `any script ends, and the next call works`() {
    var calls: UInt64 = 0
    let fuzzing = Fuzzing("lua", least: 1_000_000)
    let found = fuzzing.run(Self.mutation.make, counted: { calls }) { input in
      let text = String(decoding: input, as: UTF8.self)
      guard let world = try? FakeWorld(text) else { return nil }
      for method in world.script.declaration.commands + world.script.declaration.queries {
        let isQuery = world.script.declaration.queries.contains(method)
        for parameters in Self.parameters {
          calls += 1
          let outcome = world.call(method.name, parameters, isQuery: isQuery)
          guard case .done(let value?) = outcome else { continue }
          guard (try? JSONText(parsing: value.text)) != nil else {
            return "the result is no JSON: \(value.text.prefix(200))"
          }
        }
      }
      // A fold sees the same within the command and later.
      if !world.hasFailed, !world.script.hasChanged {
        do throws(ScriptFailure) {
          let again = try world.replayed()
          guard again.tables == world.tables else {
            return "the replay gives \(again.tables), and not \(world.tables)"
          }
        } catch {
          return "the replay fails: \(error)"
        }
      }
      for event in world.script.declaration.on { _ = world.fold(event.name, #"{"k":"q","at":1}"#) }
      return Self.failEach(world)
    }
    if let found { Issue.record("\(found)") }
  }

  /// Lets the first call of each method to the daemon fail, then the second, and so on.
  ///
  /// - Returns: A description of a call that goes on in spite of that.
  private static func failEach(_ world: FakeWorld) -> String? {
    for method in world.script.declaration.commands {
      for count in 0..<failures {
        world.callsUntilFailure = count
        let outcome = world.call(method.name, parameters[4])
        let hasFailed = world.callsUntilFailure.map { $0 < 0 } ?? false
        world.callsUntilFailure = nil
        guard hasFailed else { break }
        if case .done = outcome {
          return "\(method.name) is done although call \(count) to the daemon has failed"
        }
      }
    }
    return nil
  }

  /// Damaged JSON cannot come from the journal, which has checksums; it is refused all the same.
  @Test
  func `any JSON is read, or refused`() throws {
    let world = try FakeWorld("command.go = { 'x', x = 'any?', run = function(p) return p end }")
    let mutation = Mutation(
      of: Self.parameters + [#"{"a":[0.5,-0,1e5,"\u0000\"",true,false,null,{"b":{}}]}"#],
      words: ["[", "]", "{", "}", "\\u", "\\ud800", "1e", "-", "0.", "\"", ",", ":", "nul", " "])
    let found = Fuzzing("lua-json").run(mutation.make) { input in
      let text = String(decoding: input, as: UTF8.self)
      guard case .done(let value?) = world.call("go", text) else { return nil }
      return (try? JSONText(parsing: value.text)) == nil ? "it gives \(value.text)" : nil
    }
    if let found { Issue.record("\(found)") }
  }
}
