import API
import BinderTesting
import Configuration
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import Signals
import TestSupport
import Testing
import Wire

/// Types that say what the values of sources are.
@Suite(.leavesNothing)
struct TypesTests {
  private let store: MemoryStore
  private let time = ManualTime()
  private static let start: Int64 = 1_767_323_045_000_000

  init() {
    store = MemoryStore(epoch: "7f3a9c52") { [time] in
      Self.start + Int64(time.milliseconds) * 1000
    }
  }

  /// A daemon in the process with types.
  private final class Daemon {
    let bench: Bench
    let client: TestClient
    let types: TypesService
    let bindings: BindingsService
    let silence: SilenceWatch

    init(_ store: MemoryStore, _ time: ManualTime, _ file: String = "") throws {
      var made: (TypesService, SilenceWatch, BindingsService)?
      bench = try Bench(store, time: time) { catalog, parts in
        let (types, silence) = (
          TypesService(in: parts.host), SilenceWatch(in: parts.host, on: time)
        )
        bindTypes(catalog, to: types, silence)
        bindDaemon(
          catalog,
          to: DaemonService(
            on: time, stats: { DaemonStats() }, connections: { [] },
            streams: StreamMeter(parts.host) { time.nanoseconds }))
        bindPrograms(catalog, to: Programs(in: parts.host))
        bindLists(catalog, to: ListsService(in: parts.host))
        bindMaps(catalog, to: MapsService(in: parts.host))
        let bindings = BindingsService(in: parts.host)
        bindBindings(catalog, to: bindings, parts.live)
        made = (types, silence, bindings)
      }
      let (types, silence, bindings) = try #require(made)
      (self.types, self.silence, self.bindings) = (types, silence, bindings)
      client = bench.connect()
      bench.endServices = { silence.stop() }
      var files = TypeFiles()
      files.read(Array(file.utf8), file: "/d/h.types")
      #expect(files.faults.isEmpty)
      if !types.use(files.types) { types.refresh() }
    }

    func call(_ method: String, _ params: String, by other: TestClient? = nil) -> WireError? {
      let client = other ?? client
      return client.error(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
    }

    func set(_ cell: String, _ value: String) -> String? {
      call("cells.set", #"["\#(cell)",\#(value)]"#)?.message
    }

    func value(_ source: String) -> String? {
      client.result(#"{"id":2,"method":"get","params":["\#(source)"]}"#)?["value"]?.text.text
    }

    func declare(_ pattern: String, _ type: String) {
      #expect(call("types.set", #"["\#(pattern)",\#(JSONText(string: type).text)]"#) == nil)
    }
  }

  private func open(_ file: String = "") throws -> Daemon { try Daemon(store, time, file) }

  // MARK: Texts

  private static let texts: [(String, String)] = [
    (
      #"number, "°C", -40…60, "Kitchen", silent 15m"#,
      #"number, "°C", -40…60, "Kitchen", silent 15m"#
    ),
    (
      #"number,title "T" , 0..1 ,digits 2, silent 60s"#,
      #"number, 0…1, title "T", digits 2, silent 1m"#
    ),
    (#"string, one of day "late night", "Mode""#, #"string, one of "day" "late night", "Mode""#),
    ("integer, …10", "integer, …10"), ("number, 1...5", "number, 1…5"),
    ("number, ...0.5", "number, …0.5"), ("boolean", "boolean"), (#"any, "Any""#, #"any, "Any""#),
    (#"number, "V", "a \"b\"", 1.5…"#, #"number, "V", 1.5…, "a \"b\"""#),
  ]

  @Test(arguments: texts)
  func `a text is read, and shown in one form`(text: String, shown: String) throws {
    let type = try ValueType(text)
    #expect("\(type)" == shown)
    #expect(try ValueType(shown) == type)
  }

  private static let faulty: [(String, Int, String)] = [
    ("numbr", 1, "expected one of any, boolean"), ("", 1, "found the end"),
    ("number, 5…1", 9, "the range begins with its least number: write 1…5"),
    ("number, 5...1", 9, "write 1…5"), ("number, 5..1", 9, "write 1…5"),
    ("number, x…1", 9, "a range has two numbers, not 'x'"), ("number, …", 9, "at least at one end"),
    ("number, 0…1, 2…3", 14, "the range is given twice"),
    (#"string, "a", "b""#, 14, "the title is given twice"),
    (#"number, "°C"#, 9, "no closing quote"),
    ("string, 0…1", 9, "only numbers have a range, not string"),
    ("number, silent 5", 16, "expected a duration"), ("number, silent 0s", 16, "a duration"),
    ("number, digits x", 16, "digits are 0 to 12, not 'x'"),
    ("number one", 8, "expected ',' or the end"),
    ("string, one day", 13, "expected 'of' behind 'one'"),
    ("string, one of", 15, "the allowed texts"),
    ("string, one of a a", 18, "'a' is given twice"), ("number, ", 9, "found the end"),
    ("number, colour", 9, "found 'colour'"), (#"any, "\u0007""#, 6, "without control characters"),
    (#"any, unit "V""#, 6, "only numbers have a unit"), ("any, title x", 12, "in quotes"),
  ]

  @Test(arguments: faulty)
  func `32: a mistake in a type names column and rule`(text: String, column: Int, rule: String) {
    do {
      _ = try ValueType(text)
      Issue.record("\(text) was read")
    } catch {
      #expect(error.column == column)
      #expect(error.message.contains(rule), "\(error.message)")
    }
    var files = TypeFiles()
    files.read(Array("# a\n  cells/x: \(text)".utf8), file: "/d/h.types")
    #expect("\(files.faults.first.map(String.init(describing:)) ?? "")".hasPrefix("/d/h.types:2:"))
    #expect(files.types.isEmpty)
  }

  @Test
  func `32: a line of a file that declares nothing is a mistake`() {
    var files = TypeFiles()
    let lines = [
      "cells/a number", "locks/a: list", "cells/a*: number", "cells: number", "*/a: number",
      "cells/ä: number", "cells/a: number", "cells/a: string", "cells/b:number",
    ]
    files.read(Array(lines.joined(separator: "\n").utf8), file: "f")
    #expect(files.types.map(\.pattern.text) == ["cells/a"])
    #expect(files.faults.map(\.line) == [1, 2, 3, 4, 5, 6, 8, 9])
    files.read([0x63, 0xFF], file: "g")
    #expect(files.faults.last?.message == "the file is not UTF-8")
    files.read(Array("\u{feff}cells/b: number".utf8), file: "h")
    #expect(
      files.faults.last?.description
        == "h:1:1: the file begins with a byte order mark; save it without")
  }

  // MARK: Writes

  private static let values: [(String, [String], [String])] = [
    ("number", ["1", "-0.5", "1e300"], ["\"1\"", "true", "null", "[1]"]),
    ("integer", ["1", "-7", "3.0"], ["1.5", "\"1\""]),
    ("boolean", ["true", "false"], ["0", "null"]),
    (
      "number, -40…60", ["-40", "60", "59.99999999999999999999"],
      ["60.00000000000000000001", "-41"]
    ),
    ("string, one of day night", ["\"day\"", "\"n\\u0069ght\""], ["\"dusk\"", "1"]),
    ("list", ["[]"], ["{}"]), ("object", ["{}"], ["[]"]), ("string", ["\"\""], ["1"]),
    ("any", ["null", "[1]"], []),
  ]

  @Test(arguments: values)
  func `a write that does not fit is refused with the rule`(
    type: String, good: [String], bad: [String]
  ) throws {
    let daemon = try open()
    daemon.declare("cells/x", type)
    for value in good { #expect(daemon.set("x", value) == nil, "\(value)") }
    let last = store.last
    for value in bad {
      #expect(daemon.set("x", value)?.hasPrefix("'cells/x' takes ") == true, "\(value)")
    }
    #expect(store.last == last)
  }

  @Test
  func `every way to write is checked in its commit`() throws {
    let daemon = try open(
      """
      cells/house/*/celsius: number, "°C", -40…60
      cells/house/attic/celsius: number
      services/lamp/watts: number, 0…
      live/lamp/**: boolean
      """)
    let rule = "'cells/house/hall/celsius' takes a number from -40 to 60 °C, says /d/h.types:1"
    #expect(daemon.set("house/hall/celsius", "71") == rule)
    #expect(daemon.set("house/attic/celsius", "71") == nil, "the name without a wildcard counts")
    #expect(daemon.set("house/hall/humidity", "\"x\"") == nil)
    #expect(daemon.call("cells.add", #"["house/hall/celsius",61]"#)?.message == rule)
    let error = daemon.call(
      "atomic",
      #"{"calls":[{"method":"cells.set","params":["ok",1]},{"method":"cells.toggle","params":["house/hall/celsius"]}]}"#
    )
    #expect(error?.message == "call 1: \(rule)")
    #expect(error?.name == .rejected)
    #expect(daemon.value("cells/ok") == nil, "nothing of the command is recorded")
    // A type holds for the values of a command, also for those that it writes over.
    #expect(daemon.call("set", #"["cells/house/hall/celsius",{}]"#)?.message == rule)
    #expect(daemon.call("publish", #"{"source":"live/x","value":1}"#) != nil)
    let provider = daemon.bench.connect()
    #expect(
      provider.result(
        #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{"on":{}}}}"#)
        != nil)
    func publish(_ params: String) -> String? {
      daemon.call("publish", "{\(params)}", by: provider)?.message
    }
    #expect(
      publish(#""source":"lamp/watts","value":-1,"keep":true"#)
        == "'services/lamp/watts' takes a number from 0, says /d/h.types:3")
    #expect(publish(#""source":"lamp/watts","value":1,"keep":true"#) == nil)
    #expect(
      publish(#""source":"lamp/on","value":1"#)
        == "'live/lamp/on' takes true or false, says /d/h.types:4")
    #expect(publish(#""source":"lamp/on","value":true"#) == nil)
    _ = daemon.client.call(
      #"{"id":1,"method":"bind","params":{"scope":"daemon","expr":"cells/raw ~> cells/house/hall/celsius"}}"#
    )
    #expect(daemon.set("raw", "99") == nil)
    #expect(daemon.client.call(#"{"id":1,"method":"bindings.list"}"#).contains(rule))
    #expect(daemon.set("raw", "20") == nil)
    _ = daemon.client.settle()
    #expect(daemon.value("cells/house/hall/celsius") == "20")
  }

  /// Calls that fit the types of the next test, and others, each with the source of the message.
  private static let parts: [(method: String, params: String, refusedAt: String?)] = [
    ("lists.append", #"{"name":"jobs","value":"a"}"#, nil),
    ("lists.append", #"{"name":"jobs","value":1}"#, "lists/jobs"),
    ("lists.insert", #"{"name":"jobs","at":0,"value":1}"#, "lists/jobs"),
    ("lists.update", #"{"name":"jobs","at":0,"value":false}"#, "lists/jobs"),
    ("lists.update", #"{"name":"jobs","at":0,"value":"b"}"#, nil),
    ("lists.replace", #"{"name":"jobs","value":["a",2]}"#, "lists/jobs"),
    ("set", #"["lists/jobs",["a",2]]"#, "lists/jobs"), ("set", #"["lists/jobs",[]]"#, nil),
    ("lists.append", #"{"name":"jobs/old","value":1}"#, nil),
    ("maps.put", #"{"name":"prices","key":"tea","value":2.5}"#, nil),
    ("maps.put", #"{"name":"prices","key":"tea","value":-1}"#, "maps/prices"),
    ("maps.put", #"{"name":"prices","key":"note","value":"x"}"#, nil),
    ("maps.put", #"{"name":"prices","key":"note","value":5}"#, "maps/prices/note"),
    ("set", #"["maps/prices",{"tea":1,"note":2}]"#, "maps/prices/note"),
    ("set", #"["maps/prices",{"tea":"x"}]"#, "maps/prices"),
    ("maps.put", #"{"name":"shop","key":"a/b","value":1}"#, nil),
    ("maps.put", #"{"name":"shop","key":"a/b","value":true}"#, "maps/shop/a/b"),
    ("maps.put", #"{"name":"other","key":"a","value":true}"#, nil),
    ("maps.put", #"{"name":"other","key":"a","value":1}"#, "maps/other/a"),
    ("maps.put", #"{"name":"prices","key":"label","value":"x"}"#, nil),
    (
      "set", #"["maps/prices",{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"label":8}]"#,
      "maps/prices/label"
    ),
    ("maps.put", #"{"name":"shop/inner","key":"a","value":true}"#, "maps/shop/inner/a"),
  ]

  @Test
  func `the type of a list or map is that of each element, and keys may have their own`() throws {
    let daemon = try open(
      """
      lists/jobs: string
      maps/prices: number, 0…
      maps/prices/note: string
      maps/shop/**: number
      maps/**: boolean
      maps/*/*: boolean
      maps/*/label: string
      """)
    for (method, params, source) in Self.parts {
      let last = store.last
      let error = daemon.call(method, params)
      guard let source else {
        #expect(error == nil, "\(method) \(params)")
        continue
      }
      #expect(error?.data["reason"] == .string("wrong_type"), "\(method) \(params)")
      #expect(error?.message.hasPrefix("'\(source)' takes ") == true, "\(error?.message ?? "")")
      #expect(store.last == last)
    }
    #expect(daemon.call("maps.remove", #"{"name":"prices","key":"note"}"#) == nil)
    let atomic =
      #"{"calls":[{"method":"lists.append","params":{"name":"jobs","value":"z"}},{"method":"maps.put","params":{"name":"prices","key":"tea","value":"z"}}]}"#
    #expect(daemon.call("atomic", atomic)?.message.contains("call 1: 'maps/prices' takes") == true)
    #expect(daemon.value("lists/jobs") == "[]")
    // A binding writes a list as a whole, and its end is a list, whatever its elements are.
    let bound = daemon.client.call(
      #"{"id":1,"method":"bind","params":{"scope":"daemon","expr":"lists/jobs | length ~> cells/n"}}"#
    )
    #expect(bound.contains(#""result""#), "\(bound)")
  }

  @Test
  func `the text of the declared types is in the order of their patterns`() throws {
    let daemon = try open()
    let patterns = (0..<9).map { "cells/\($0)" }
    for pattern in patterns.shuffled() { daemon.declare(pattern, "number") }
    #expect(
      daemon.value("types/declared")
        == "{" + patterns.map { "\"\($0)\":\"number\"" }.joined(separator: ",") + "}")
  }

  @Test
  func `a declared type is in effect when it is durable, and survives a restart`() throws {
    do {
      let daemon = try open()
      #expect(daemon.set("x", "\"old\"") == nil)
      daemon.declare("cells/x", #"number, "°C", "Hall""#)
      #expect(daemon.value("cells/x") == "\"old\"", "values from before stay")
      #expect(daemon.set("x", "\"new\"") != nil)
      #expect(
        daemon.client.call(#"{"id":1,"method":"describe","params":["cells/x"]}"#)
          .contains(#""declared":"number, \"°C\", \"Hall\"""#))
    }
    let daemon = try open("cells/y: boolean")
    #expect(daemon.set("x", "\"new\"") != nil)
    #expect(daemon.call("cells.remove", #"["x"]"#) == nil, "a source can be removed")
    #expect(
      daemon.client.result(#"{"id":1,"method":"types.list"}"#)?["value"]?.text.text
        == #"[{"pattern":"cells/x","type":"number, \"°C\", \"Hall\"","kind":"number","unit":"°C","title":"Hall"},{"pattern":"cells/y","type":"boolean","kind":"boolean","file":"/d/h.types","line":1}]"#
    )
    #expect(
      daemon.call("types.set", #"["cells/y","number"]"#)?.data["reason"] == .string("in_file"))
    #expect(daemon.call("types.remove", #"["cells/y"]"#)?.data["reason"] == .string("in_file"))
    #expect(daemon.call("types.remove", #"["cells/x"]"#) == nil)
    #expect(daemon.set("x", "\"new\"") == nil)
    #expect(daemon.types.use([]))
    #expect(daemon.set("y", "1") == nil)
  }

  @Test
  func `32: a type of services/** is not one of the declarations of programs`() throws {
    let daemon = try open()
    #expect(daemon.call("types.set", #"["services/**","number"]"#) == nil)
    let provider = daemon.bench.connect()
    #expect(
      provider.result(
        #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{"on":{"delivery":"queued"}}}}"#
      )
        != nil)
    let publish =
      #"{"id":2,"method":"publish","params":{"source":"lamp/x","value":"a","keep":true}}"#
    #expect(provider.error(publish)?.data["reason"] == .string("wrong_type"))
  }

  @Test
  func `32: declarations that are none are refused, and have a limit`() throws {
    let daemon = try open()
    for (pattern, type) in [
      ("locks/x", "any"), ("lists", "any"), ("maps", "any"), ("cells/*x", "any"), ("cells", "any"),
      ("cells/x", "numbr"),
      ("cells/x", String(repeating: "x", count: 1025)), ("", "any"), ("**", "any"),
      // With the quotes in which it is kept it is too long.
      ("cells/x", "string, one of" + (100..<350).map { " \($0)" }.joined()),
    ] {
      let error = daemon.call("types.set", #"["\#(pattern)","\#(type)"]"#)
      #expect(error?.name == .invalidParams, "\(pattern) \(type)")
    }
    #expect(store.last == 0)
    let user = daemon.bench.connect(uid: 7)
    let most = TypesService.maxCount / 2
    let calls = (0..<most).map { #"{"method":"types.set","params":["cells/a\#($0)","any"]}"# }
    _ = user.call(
      #"{"id":1,"method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#)
    #expect(
      daemon.call("types.set", #"["cells/b","any"]"#, by: user)?.data["reason"]
        == .string("too_many"))
    #expect(daemon.call("types.set", #"["cells/a0","number"]"#, by: user) == nil)
  }

  @Test
  func `a role sees the types of what it may read, and declares none unless it may`() throws {
    let text =
      #"{"roles":[{"name":"panel","users":["*"],"methods":["**"],"read":["cells/a/*"],"write":["cells/**"]}]}"#
    let nobody = Accounts(user: { _ in nil }, group: { _ in nil })
    let configuration = try Configuration(parsing: Array(text.utf8), file: "f", nobody)
    let role = try #require(
      configuration.roles.entry(for: Peer(uid: 1, groups: []), owner: 500)?.role)
    let daemon = try open("cells/a/x: number\ncells/b: number\ncells/*/y: number")
    let panel = daemon.bench.connect(uid: 7, as: role)
    let list = panel.call(#"{"id":1,"method":"types.list"}"#)
    #expect(list.contains("cells/a/x") && list.contains("cells/*/y") && !list.contains("cells/b"))
    #expect(daemon.call("types.set", #"["cells/a/x","any"]"#, by: panel)?.name == .notFound)
    #expect(daemon.call("cells.set", #"["b",true]"#, by: panel)?.name == .rejected)
  }

  // MARK: Bindings

  private static let unfit: [(String, Int, String)] = [
    (
      "cells/t | above(4) ~> cells/n", 23,
      "'cells/n' takes a whole number from 0 to 10, not true or false"
    ),
    ("cells/s | above(4) ~> cells/x", 11, "'above' takes a number, not a text"),
    ("cells/s ~> cells/n", 12, "'cells/n' takes a whole number from 0 to 10, not a text"),
    ("(cells/t, cells/s) | sum ~> cells/x", 22, "'sum' takes a number, and 'cells/s' is a text"),
    (
      "cells/t | below(cells/s) ~> cells/x", 11,
      "'minus' or a comparison of two sources takes a number, and 'cells/s' is a text"
    ),
    (
      "cells/x | constant(11) ~> cells/n", 20, "'cells/n' takes a whole number from 0 to 10, not 11"
    ),
    (
      #"every(5m) | constant("off") ~> cells/m"#, 22,
      #"'cells/m' takes one of day, night, not "off""#
    ),
    ("every(5m) ~> cells/n", 14, "'cells/n' takes a whole number from 0 to 10, not a text"),
    ("(cells/t, cells/s) ~> cells/n", 23, "not a list"),
    ("cells/t | round(0) | not ~> cells/x", 22, "'not' takes true or false, not a number"),
  ]

  private static let types = """
    cells/t: number
    cells/n: integer, 0…10
    cells/s: string
    cells/m: string, one of day night
    """

  @Test(arguments: unfit)
  func `32: a binding that cannot fit is refused before it runs`(
    expression: String, column: Int, message: String
  ) throws {
    let daemon = try open(Self.types)
    func bind(_ text: String) -> WireError? {
      daemon.call("bind", #"{"scope":"daemon","expr":\#(JSONText(string: text).text)}"#)
    }
    let error = bind(expression)
    #expect(error?.name == .notBindable)
    #expect(
      error?.message.hasSuffix("\(message) at column \(column)") == true, "\(error?.message ?? "")")
    let text = JSONText(string: expression).text
    let trial = daemon.call("bindings.try", #"{"expr":\#(text)}"#)
    #expect(trial?.name == .notBindable)
    #expect(trial?.message == error?.message, "a trial is no way around")
    #expect(store.last == 0)
    #expect(daemon.types.use([]))
    #expect(bind(expression) == nil, "without types it is bound")
  }

  @Test(arguments: [
    "cells/t | round(0) ~> cells/n", "cells/s | length ~> cells/n", "cells/x ~> cells/n",
    "cells/t | map(1, 2, 3) ~> cells/n", #"cells/x | constant("day") ~> cells/m"#,
    "(cells/t, cells/n) | sum ~> cells/y", "cells/s <~ cells/t",
    "cells/t | where(above, 4) | debounce(1s) ~> cells/u", "cells/s | to_number ~> cells/v",
  ])
  func `a binding that may fit is bound`(expression: String) throws {
    let daemon = try open(Self.types)
    #expect(
      daemon.call("bind", #"{"expr":\#(JSONText(string: expression).text)}"#)?.message == nil)
  }

  @Test
  func `a value that a type has refused is passed on when the types change`() throws {
    let daemon = try open()
    func bind(_ text: String) {
      let params = #"{"scope":"daemon","binding":"heat","expr":\#(JSONText(string: text).text)}"#
      #expect(daemon.call("bind", params) == nil)
    }
    func failure() -> String? {
      let result = daemon.client.result(#"{"id":3,"method":"bindings.list"}"#)
      guard case .array(let all)? = result?["value"], case .object(let one)? = all.first,
        case .string(let text)? = one["failure"]
      else { return nil }
      return text
    }
    bind("cells/t | below(19) ~> cells/heater")
    #expect(daemon.set("t", "18") == nil)
    _ = daemon.client.settle()
    #expect(daemon.value("cells/heater") == "true")
    daemon.declare("cells/heater", "string")
    #expect(daemon.set("t", "25") == nil)
    _ = daemon.client.settle()
    #expect(daemon.value("cells/heater") == "true")
    #expect(failure() == "'cells/heater' takes a text")
    daemon.declare("cells/heater", "number")
    _ = daemon.client.settle()
    #expect(failure() == "'cells/heater' takes a number", "the present rule")
    #expect(daemon.call("types.remove", #"["cells/heater"]"#) == nil)
    _ = daemon.client.settle()
    #expect(daemon.value("cells/heater") == "false")
    #expect(failure() == nil)
    // The types of files are the same, and what has a list or operators.
    #expect(daemon.call("unbind", #"["heat"]"#) == nil)
    bind("(cells/t, cells/u) | sum ~> cells/heater")
    var files = TypeFiles()
    files.read(Array("cells/heater: boolean".utf8), file: "/d/h.types")
    #expect(daemon.types.use(files.types))
    #expect(daemon.set("u", "1") == nil)
    _ = daemon.client.settle()
    #expect(failure() == "'cells/heater' takes true or false, says /d/h.types:1")
    #expect(daemon.types.use([]))
    _ = daemon.client.settle()
    #expect(daemon.value("cells/heater") == "26")
    #expect(failure() == nil)
  }

  @Test
  func `a binding goes on after a restart, though a type refuses what it writes`() throws {
    do {
      let daemon = try open()
      #expect(
        daemon.call("bind", #"{"scope":"daemon","binding":"b","expr":"cells/t ~> cells/n"}"#)
          == nil)
      daemon.declare("cells/t", "string")
      daemon.declare("cells/n", "number")
    }
    let daemon = try open()
    var lost: [String] = []
    let bench = daemon.bench
    restoreBindings(bench.rights[.owner], daemon.bindings, bench.liveBindings) { lost.append($0) }
    #expect(lost == [])
    #expect(daemon.set("t", #""x""#) == nil)
    #expect(daemon.client.call(#"{"id":1,"method":"bindings.list"}"#).contains("takes a number"))
    #expect(daemon.call("types.remove", #"["cells/n"]"#) == nil)
    _ = daemon.client.settle()
    #expect(daemon.value("cells/n") == #""x""#)
  }

  @Test
  func `long lists are not compared with a new type, and it says so`() throws {
    let daemon = try open("cells/ok: number")
    let text = "\"" + String(repeating: "x", count: 50_000) + "\""
    for _ in 0..<24 { #expect(daemon.call("lists.append", #"["a",\#(text)]"#) == nil) }
    #expect(daemon.call("lists.append", #"["b",1]"#) == nil)
    var files = TypeFiles()
    files.read(Array("lists/a: number\nlists/b: string".utf8), file: "h.types")
    let found = daemon.types.misfits(with: files.types, for: daemon.bench.rights[.owner])
    #expect(found.count == 2 && "\(found)".contains("'lists/b' has a value"), "\(found)")
    let rest = "h.types:1:1: not all values were compared with the types"
    #expect("\(found)".contains(rest), "\(found)")
  }

  @Test
  func `a new type names the values that do not fit it`() throws {
    let daemon = try open("cells/ok: number")
    for (name, value) in [("lamp", "5"), ("ok", "1"), ("free", "1")] {
      #expect(daemon.set(name, value) == nil)
    }
    for i in 0..<7 { #expect(daemon.set("r/\(i)", "1") == nil) }
    #expect(daemon.call("lists.append", #"["l",1]"#) == nil)
    #expect(daemon.call("maps.put", #"["m","k",1]"#) == nil)
    var files = TypeFiles()
    let text =
      "cells/lamp: boolean\ncells/*: any\ncells/ok: number\ncells/r/*: string\nlists/l: string\n"
      + "maps/m/k: string\ncells/none: string"
    files.read(Array(text.utf8), file: "h.types")
    func rule(_ source: String, _ rule: String) -> String {
      "'\(source)' has a value that does not fit, which stays until the next write: it takes \(rule)"
    }
    let rights = daemon.bench.rights[.owner]
    #expect(
      Set(daemon.types.misfits(with: files.types, for: rights).map { "\($0)" })
        == Set(
          ["h.types:1:1: " + rule("cells/lamp", "true or false")]
            + (0..<5).map { "h.types:4:1: " + rule("cells/r/\($0)", "a text") }
            + [
              "h.types:4:1: 2 more values do not fit", "h.types:5:1: " + rule("lists/l", "a text"),
              "h.types:6:1: " + rule("maps/m/k", "a text"),
            ]))
    daemon.declare("cells/free", "boolean")
    #expect(
      daemon.types.misfits(with: [], for: rights).map { "\($0)" }
        == ["the declared type of cells/free: " + rule("cells/free", "true or false")])
  }

  @Test
  func `a view shows titles and units of types, and its forms know their rules`() throws {
    let daemon = try open(
      """
      cells/*/celsius: number, "°C", -40…60
      cells/hall/celsius: number, "°C", -40…60, "Hall"
      cells/mode: string, one of day night, "Mode"
      cells/door: boolean
      maps/prices: number, "€"
      lists/jobs: string
      cells/odd: number, "hidden"
      """)
    let lines = [
      #"view "x""#, "cells/hall/celsius <> hall", "cells/mode <> mode", "cells/door ~> door",
      "cells/*/celsius ~> rooms", "maps/prices ~> prices", "cells/** ~> others",
      "cells/hall/celsius | round(0) ~> rounded", #"cells/hall/celsius ~> degrees as "degrees""#,
      "cells/free <> free", "lists/jobs <> jobs", "maps/prices <> edited", "cells/odd ~> odd",
    ]
    let text = JSONText(string: lines.joined(separator: "\n")).text
    let opened = daemon.client.call(
      #"{"id":1,"method":"open","params":{"view":"v","text":\#(text)}}"#)
    for part in [
      #""hall":{"kind":"state","hint":"°C","title":"Hall","#,
      #""mode":{"kind":"state","title":"Mode","#,
      #""door":{"kind":"state","hint":"yesno","#, #""rooms":{"kind":"list","hint":"°C","value""#,
      #""prices":{"kind":"list","hint":"€","value""#, #""others":{"kind":"list","value""#,
      #""rounded":{"kind":"state","value""#,
      #""degrees":{"kind":"state","hint":"degrees","title":"Hall","#,
      #""hall":{"params":{"value":"number"},"#, #""doc":"Hall: a number from -40 to 60 °C""#,
      #""words":["day","night"]"#, #""free":{"params":{"value":"any"}"#,
    ] {
      #expect(opened.contains(part), "\(part) is not in \(opened)")
    }
    let enter = #"{"view":"v","name":"hall","args":{"value":"warm"}}"#
    #expect(daemon.call("intent", enter)?.name == .invalidParams)
    let far = #"{"view":"v","name":"hall","args":{"value":99}}"#
    #expect(daemon.call("intent", far)?.data["reason"] == .string("wrong_type"))
    #expect(daemon.call("intent", #"{"view":"v","name":"hall","args":{"value":9}}"#) == nil)
    // A list or a map is written as a whole, and its parts are checked.
    #expect(opened.contains(#""odd":{"kind":"state","value""#), "a unit is no hint of clients")
    for (name, value, reason) in [
      ("jobs", #"["b","c"]"#, nil), ("jobs", "[1]", "wrong_type"),
      ("edited", #"{"tea":2}"#, nil), ("edited", #"{"tea":"x"}"#, "wrong_type"),
    ] as [(String, String, String?)] {
      let error = daemon.call(
        "intent", #"{"view":"v","name":"\#(name)","args":{"value":\#(value)}}"#)
      #expect(error?.data["reason"] == reason.map { .string($0) }, "\(name) \(value)")
    }
  }

  @Test
  func `a trial shows the writes that the type of the target refuses`() throws {
    let daemon = try open(Self.types)
    for value in ["4", "11", "5.5", "6"] {
      #expect(daemon.set("x", value) == nil)
      time.advance(60_000)
    }
    let answer = daemon.client.call(
      #"{"id":1,"method":"bindings.try","params":{"expr":"cells/x ~> cells/n","since":{"seq":0}}}"#)
    let rule = #""written":"refused","rule":"a whole number from 0 to 10"}"#
    for value in ["11", "5.5"] { #expect(answer.contains(#""value":\#(value),\#(rule)"#)) }
    #expect(
      answer.contains(#""writes":2,"same":0,"more":0,"only_trial":2,"only_truth":0,"refused":2}"#))
    #expect(daemon.value("cells/n") == nil)
  }

  @Test
  func `32: a trial of a time zone that the machine does not have is refused`() throws {
    let daemon = try open()
    let text = JSONText(string: #"every("07:00 Europe/Berlni") ~> cells/x"#).text
    let bound = daemon.call("bind", #"{"scope":"daemon","expr":\#(text)}"#)
    #expect(bound?.message.contains("no time zone 'Europe/Berlni'") == true)
    let tried = daemon.call("bindings.try", #"{"expr":\#(text)}"#)
    #expect(tried?.message == bound?.message)
  }

  // MARK: Silence

  @Test
  func `a source that gets no value for too long is silent until the next one`() throws {
    func silent(_ daemon: Daemon) -> String? { daemon.value("daemon/silent") }
    let file = """
      cells/*/celsius: number, silent 15m
      cells/door: boolean, "Door", silent 1h
      maps/settings/colour: string, silent 1s
      """
    do {
      let daemon = try open(file)
      daemon.silence.begin()
      #expect(daemon.set("hall/celsius", "20") == nil)
      time.advance(899_000)
      #expect(silent(daemon) == "[]")
      time.advance(2000)
      #expect(
        silent(daemon)
          == #"[{"source":"cells/hall/celsius","since":"2026-01-02T03:04:06.000000Z","silent_s":900}]"#
      )
      #expect(daemon.set("hall/celsius", "20") == nil, "the same value counts too")
      #expect(silent(daemon) == "[]")
      time.advance(3_600_000)
      #expect(
        silent(daemon)?.contains(#"{"source":"cells/door","title":"Door","silent_s":3600}"#)
          == true,
        "it was never heard")
      #expect(daemon.set("door", "true") == nil)
      #expect(daemon.call("cells.remove", #"["hall/celsius"]"#) == nil)
      #expect(silent(daemon) == "[]")
      #expect(daemon.set("hall/celsius", "21") == nil)
    }
    // The times of the last values are in the journal.
    time.advance(1_800_000)
    let daemon = try open(file)
    daemon.silence.begin()
    #expect(silent(daemon)?.contains("hall/celsius") == true)
    #expect(silent(daemon)?.contains("door") == false)
    #expect(daemon.types.use([]))
    #expect(silent(daemon) == "[]")
  }
}
