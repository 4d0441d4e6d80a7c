import API
import BinderTesting
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

/// Views whose text a client brings, as clients see them.
@Suite(.leavesNothing)
struct FileViewTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench { catalog, parts in
      bindLists(catalog, to: ListsService(in: parts.host))
      bindMaps(catalog, to: MapsService(in: parts.host))
      bindPrograms(catalog, to: Programs(in: parts.host))
    }
    client = bench.connect()
  }

  private func request(_ method: String, _ params: JSONObject) -> String {
    JSONValue.object([
      "id": .number(JSONNumber(1)), "method": .string(method), "params": .object(params),
    ]).text.text
  }

  private func open(
    _ lines: String..., head: String = "", args: JSONObject? = nil, view: String = "v"
  ) -> String {
    let text = (["view \"Something.\"" + head] + lines).joined(separator: "\n")
    var params: JSONObject = ["text": .string(text), "view": .string(view)]
    if let args { params["args"] = .object(args) }
    return request("open", params)
  }

  private func set(_ cell: String, _ value: String) {
    _ = client.call(#"{"id":1,"method":"cells.set","params":["\#(cell)",\#(value)]}"#)
  }

  private func call(_ method: String, _ params: String) -> String {
    client.call(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
  }

  private func intent(_ name: String, _ args: String = "{}", view: String = "v") -> String {
    #"{"id":1,"method":"intent","params":{"view":"\#(view)","name":"\#(name)","args":\#(args)}}"#
  }

  @Test
  func `lines with canonically equivalent texts show different things`() {
    // An é of one scalar and of two.
    let texts = ["\u{E9}", "e\u{301}"]
    set("a", "\"\(texts[1])\"")
    set("r/a", #"{"name":"\#(texts[0])"}"#)
    set("r/b", #"{"name":"\#(texts[1])"}"#)
    for (i, text) in texts.enumerated() {
      let opened = bench.connect().call(
        open(
          #"cells/a | equals("\#(text)") ~> same"#,
          #"cells/r/* ~> rows where name == "\#(text)""#))
      #expect(opened.contains(#""same":{"kind":"state","value":\#(i == 1)}"#))
      #expect(opened.contains(#""rows":{"kind":"list","value":[{"id":"\#(i == 0 ? "a" : "b")""#))
    }
  }

  @Test
  func `an intent may be for the rows of which a member says something`() {
    set("j/a", #"{"failed":true}"#)
    let opened = client.call(
      open(
        "cells/j/* ~> jobs", "  failed", "retry -> cells.remove name=row.id when row.failed",
        "hold -> cells.remove name=row.id unless jobs.failed"))
    #expect(
      opened.contains(#""retry":{"params":{"id":"string"},"when_row":"failed","list":"jobs""#),
      "\(opened)")
    #expect(opened.contains(#""hold":{"params":{"id":"string"},"unless_row":"failed""#))
    func fault(_ line: String) -> String {
      client.error(open("cells/j/* ~> jobs", "  failed", line, view: "w"))?.message ?? ""
    }
    #expect(fault("x -> cells.remove name=row.id when row.faild").contains("faild"))
    #expect(
      fault("x -> cells.remove name=row.id when row.failed unless row.failed")
        .contains("one 'when' or 'unless' with a member of the row"))
    #expect(fault("x -> cells.remove name=row.id when row.").contains("expected a member"))
  }

  @Test
  func `a source that is removed leaves its view, and its row, and comes back`() {
    set("a", "1")
    set("r/x", "1")
    set("r/y", "2")
    let opened = client.result(open("cells/a <> a", "cells/r/* ~> rows"))
    #expect(opened != nil)
    let other = bench.connect()
    for name in ["a", "r/x"] {
      let removal = #"{"id":1,"method":"cells.remove","params":["\#(name)"]}"#
      #expect(other.result(removal) != nil)
    }
    var frames = client.settle()
    #expect(frames.contains { $0.contains(#""a":{"value":null}"#) }, "\(frames)")
    #expect(frames.contains { $0.contains(#""rows":{"changes":[{"op":"remove""#) }, "\(frames)")
    #expect(
      values(client.result(open("cells/a <> a", "cells/r/* ~> rows", view: "w")))
        == #"{"a":null,"rows":[{"id":"y","value":2}]}"#)
    #expect(client.call(intent("a", #"{"value":3}"#)).contains("result"), "it may be set again")
    _ = other.call(#"{"id":1,"method":"cells.set","params":["r/x",4]}"#)
    frames = client.settle()
    #expect(frames.contains { $0.contains(#"{"id":"x","value":4}"#) }, "\(frames)")
    #expect(value(of: "a") == "3")
  }

  @Test
  func `dates and times are arguments and values, and others are refused`() {
    let opened = client.result(
      open("cells/due <> due as date", head: " (day: date)", args: ["day": .string("2026-12-31")]))
    #expect(opened != nil)
    _ = client.settle()
    #expect(client.call(intent("due", #"{"value":"2027-01-01"}"#)).contains("result"))
    #expect(value(of: "due") == #""2027-01-01""#)
    let error = client.error(intent("due", #"{"value":"1.1.2027"}"#))
    #expect(error?.message.contains("a date such as 2026-12-31") == true, "\(error?.message ?? "")")
    #expect(
      client.error(open("a = 1", head: " (day: date)", args: ["day": .string("today")], view: "w"))
        != nil)
  }

  @Test(arguments: [
    ("?integer", [#""x""#, "{}", "1.5", "true", "null"], "3"),
    ("?number", [#""x""#, "[]"], "1.5"),
    ("?yesno", [#""yes""#, "1"], "true"),
    ("?text", ["1.5", "{}"], #""x""#),
    ("?date", ["1.5", "true", "{}", #""today""#], #""2026-12-31""#),
    (#"?"low"|"high""#, [#""zzz""#, "1"], #""low""#),
  ])
  func `an intent takes only values of the type that its line asks for`(
    type: String, others: [String], fitting: String
  ) {
    #expect(client.result(open(#"x -> cells.set name="a" value=\#(type)"#)) != nil)
    for other in others {
      let error = client.error(intent("x", #"{"value":\#(other)}"#))
      #expect(
        error?.message.contains("args/value") == true, "\(other): \(error?.message ?? "taken")")
      #expect(value(of: "a") == nil)
    }
    #expect(client.call(intent("x", #"{"value":\#(fitting)}"#)).contains("result"))
    #expect(value(of: "a") == fitting)
  }

  @Test
  func `a view is closed when a method that it offers gets other parameters, comes or goes`() {
    func provide(_ methods: String) -> TestClient {
      let provider = bench.connect()
      let answer = provider.call(
        #"{"id":1,"method":"provide","params":{"service":"bot","methods":\#(methods)}}"#)
      #expect(answer.contains("result"), "\(answer)")
      return provider
    }
    func closed() -> Int {
      client.settle().count { $0.contains(#""closed""#) && $0.contains(#""reason":"changed""#) }
    }
    let start =
      #"{"start":{"params":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},"stop":{}}"#
    var provider = provide(start)
    #expect(client.result(open("start -> bot.start")) != nil)
    #expect(client.result(open("stop -> bot.stop", view: "w")) != nil)
    let bot = #"{"id":1,"method":"open","params":{"binder":"bot","view":"d"}}"#
    #expect(client.result(bot) != nil)
    #expect(closed() == 0)
    // Nothing changes when the program leaves and comes back.
    provider.disconnect()
    provider = provide(start)
    #expect(closed() == 0)
    provider.disconnect()
    provider = provide(
      #"{"start":{"params":{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}},"stop":{}}"#
    )
    #expect(closed() == 2, "the view of the method, and that of the service")
    let opened = client.call(open("start -> bot.start"))
    #expect(opened.contains(#""b":"integer""#), "\(opened)")
    #expect(client.result(bot) != nil)
    provider.disconnect()
    provider = provide(#"{"start":{}}"#)
    #expect(closed() == 3, "and that of the method that is gone")
    #expect(client.result(open("stop -> bot.stop", view: "w")) != nil)
    provider.disconnect()
    provider = provide(#"{"start":{},"stop":{}}"#)
    #expect(closed() == 1, "it is there again")
    _ = provider
  }

  @Test
  func `a line with the name of a failure keeps what it says`() {
    let provider = bench.connect()
    _ = provider.call(
      #"{"id":1,"method":"provide","params":{"service":"bot","methods":{"start":{"delivery":"queued"}}}}"#
    )
    let opened = client.result(open(#"start_failed = "none yet""#, "start -> bot.start"))
    #expect(values(opened) == #"{"start_failed":"none yet"}"#)
  }

  /// Returns the properties in the answer to `open`, without their kinds.
  private func values(_ result: JSONObject?) -> String {
    guard case .object(let props)? = result?["props"] else { return "no view" }
    var values = JSONObject()
    for member in props.members {
      if case .object(let property) = member.value { values[member.name] = property["value"] }
    }
    return JSONValue.object(values).text.text
  }

  private func value(of cell: String) -> String? {
    bench.cells.ledger.value(of: "cells/" + cell)?.text
  }

  // MARK: Checks

  private func check(_ text: String, by client: TestClient? = nil) -> (
    faults: [String], warnings: [String]
  ) {
    let result = (client ?? self.client).result(request("check_view", ["text": .string(text)]))
    func read(_ name: String) -> [String] {
      guard case .array(let faults)? = result?[name] else { return ["no answer"] }
      return faults.compactMap { (fault: JSONValue) -> String? in
        guard case .object(let fault) = fault else { return nil }
        let place = [fault["line"], fault["column"]].compactMap { $0?.text.text }
        return place.joined(separator: ":") + ": " + string(fault["message"])
      }
    }
    return (read("faults"), read("warnings"))
  }

  private func string(_ value: JSONValue?) -> String {
    if case .string(let text)? = value { text } else { "" }
  }

  @Test
  func `a check lists all faults of a file with their places`() {
    let text = #"""
      view "The heating of the house."
      title = "Kitchen"
      cells/kitchen/temperature | ruond(1) ~> temperature
      cells/kitchen/wanted | round(1)      <> wanted
      cells/away <~ away
      warmer -> cells.ad name="kitchen/wanted" by=0.5
      colder -> cells.add name="kitchen/wanted" bye=-0.5
      hotter -> cells.add name="kitchen/wanted" by="half"
      stop -> cells.set name="heater" value=false when heatng
        since as time
      lists/jobs ~> jobs
      lists/more ~> jobs
      drop -> lists.remove name="jobs" at=row.ids
      """#
    #expect(
      check(text).faults == [
        "3:29: no transformer 'ruond'; did you mean 'round'?",
        "4:24: 'round' cannot go backwards, which '<>' needs; write '~>'",
        "5:15: 'away' has no value to begin with; assign one, or write '<~!'",
        "6:11: no method 'cells.ad'; did you mean 'cells.add'?",
        "7:43: cells.add has no parameter 'bye'; did you mean 'by'?",
        "8:46: 'by' is a number, not a string",
        "9:50: no property 'heatng'",
        "10:3: a member of rows needs a list in the line above",
        "12:15: 'jobs' is already bound in line 11",
        "13:41: the rows of 'jobs' have no 'ids'; did you mean 'id'?",
      ])
  }

  /// Each row: a line, and its fault.
  static let bad: [(line: String, fault: String)] = [
    ("cels/a ~> a", "2:1: no source 'cels/a'; did you mean 'cells'?"),
    ("system/lod ~> a", "2:1: 'system' has no source 'system/lod'; did you mean 'system/load'?"),
    ("system/load <> a", "2:1: 'system/load' cannot be written, which '<>' needs"),
    ("a -> set sourc=1", "2:10: set has no parameter 'sourc'; did you mean 'source'?"),
    ("a -> subscribe source=\"cells/a\"", "2:6: a view cannot call 'subscribe'"),
    ("a -> cells.set name=1", "2:21: 'name' is a string, not a number"),
    ("a -> cells.set name=null", "2:21: 'name' is a string, not null"),
    ("a -> cells.add name=\"a\" by=?text", "2:28: 'by' is a number, not a string"),
    ("a -> cells.set name=row.id", "2:21: 'row.id' needs a list in the view"),
    ("a => cel", "2:6: no view 'cel'; did you mean 'cell'?"),
    ("a => cell", "2:6: the view 'cell' needs 'name'"),
    ("a => cell nam=\"x\"", "2:11: the view 'cell' has no argument 'nam'; did you mean 'name'?"),
    ("a => cell name=1", "2:16: 'name' is a string, not a number"),
    (
      "lists/a ~> a\nlists/b ~> b\nx -> cells.set name=row.zz value=1",
      "4:25: no rows have a 'zz'"
    ),
  ]

  @Test(arguments: bad.indices)
  func `each fault against the catalogue says what was meant`(row: Int) {
    #expect(check("view \"A\"\n" + Self.bad[row].line).faults.first == Self.bad[row].fault)
  }

  @Test
  func `what a program may declare later is a warning`() {
    let found = check("view \"A\"\ndeploy -> deploy.start")
    #expect(found.faults == [])
    #expect(found.warnings == ["2:11: no program has declared 'deploy.start'"])
    let both = check("view \"A\"\ncells/* ~> a\nlists/b ~> b\nx -> cells.remove name=row.id")
    #expect(both.faults == ["4:28: 'row.id' may be of 'a' or of 'b'; write a.id or b.id"])
  }

  @Test
  func `members that rows lack are warnings, as far as their shape is known`() throws {
    let whole = try WholeBench()
    let client = whole.bench.connect()
    let lines = [
      #"view "A""#, "people/* ~> people by nmae", "  key ~> k", "  colr ~> color", "  name",
      #"daemon/connections ~> c where prgram == "x""#, "cells/* ~> cells by anything", "  any",
      "people/* | pick(\"/x\") ~> other by y",
    ]
    let found = check(lines.joined(separator: "\n"), by: client)
    #expect(
      found.warnings == [
        "2:23: the rows of 'people/*' have no 'nmae'; did you mean 'name'?",
        "4:3: the rows of 'people/*' have no 'colr'; did you mean 'color'?",
        "6:31: the rows of 'daemon/connections' have no 'prgram'; did you mean 'program'?",
      ])
  }

  @Test
  func `a source that does not exist now is a warning, and a number is no list`() throws {
    let whole = try WholeBench()
    let client = whole.bench.connect()
    let found = check("view \"A\"\nfeeds/none ~> a\nsystem/uptime ~> b limit 5", by: client)
    #expect(found.warnings == ["2:1: there is no source 'feeds/none' now"])
    #expect(found.faults == ["3:18: 'system/uptime' is no list: it is a number"])
  }

  @Test
  func `an intent of a row says what the id of its method is`() {
    let provider = bench.connect()
    let parameters =
      #"{"type":"object","properties":{"id":{"type":"string"},"why":{"type":"string"}},"#
      + #""required":["id","why"]}"#
    let declaration = #"{"service":"bot","methods":{"drop":{"params":\#(parameters)}}}"#
    #expect(
      provider.result(#"{"id":1,"method":"provide","params":\#(declaration)}"#) != nil)
    let lines = "view \"A\"\nlists/a ~> a\n"
    #expect(
      check(lines + "x -> bot.drop why=row.value").faults
        == ["3:1: 'id' is asked for; write id=row.id, or another value"])
    #expect(check(lines + "x -> bot.drop id=row.id").faults == [])
  }

  @Test
  func `the name of a file is that of a view`() {
    var files = FileViews()
    for name in ["ok", "a b", "1a", "é", String(repeating: "a", count: 65)] {
      files.read(Array("view \"A\"".utf8), file: "view.d/\(name).view")
    }
    #expect(files.entries.keys.sorted() == ["ok"])
    let rule = "the name of a view is 1 to 64 of A-Z a-z 0-9 _ and begins with no digit"
    #expect(files.faults.map(\.message) == Array(repeating: rule, count: 4))
  }

  @Test
  func `a text with faults does not open`() {
    let error = client.error(open("cells/a ~>", "a -> cells.ad"))
    #expect(error?.data["reason"] == .string("bad_view"))
    #expect(
      error?.message
        == "view:2:11: expected the name of a property, found the end of the line, and 1 more")
    #expect(client.error(request("open", [:]))?.data["path"] == .string("/binder"))
    #expect(client.connection.views.all.isEmpty)
  }

  @Test
  func `an intent is made ready when it is first sent`() throws {
    let nodes = try #require(LiveNodes.counter)
    set("a", "1")
    let rows = (1...9).map { "i\($0) -> cells.set name=\"i\($0)\" value=?" }
    let text = (["view \"A\"", "cells/a <> a", "cells/* ~> all", "go => cell name=row.id"] + rows)
      .joined(separator: "\n")
    #expect(client.result(request("open", ["text": .string(text), "view": .string("v")])) != nil)
    #expect(nodes.counts["CallArguments"] == nil)
    _ = client.call(intent("i3", #"{"value":1}"#))
    _ = client.call(intent("i3", #"{"value":2}"#))
    #expect(value(of: "i3") == "2")
    #expect(nodes.counts["CallArguments"] == 1)
    _ = client.call(intent("i4", #"{"value":1}"#))
    #expect(nodes.counts["CallArguments"] == 2)
  }

  // MARK: Values

  @Test
  func `a view assigns, shows, writes and calls`() throws {
    set("t", "20.04")
    set("wanted", "21")
    #expect(
      client.call(
        open(
          #"title = "Room {room}""#, #"cells/t | round(1) ~> temperature as "°C""#,
          "cells/wanted <> wanted as number", "(cells/t, cells/wanted) | sum ~> total hidden",
          #"warmer -> cells.add name="wanted" by=0.5 main when total"#, "other -> cells.add by=?",
          head: " (room: text)", args: ["room": .string("A")]))
        == #"{"jsonrpc":"2.0","id":1,"result":{"view":"v","binder":"view","seq":2,"props":{"#
        + #""title":{"kind":"state","value":"Room A"},"#
        + #""temperature":{"kind":"state","hint":"°C","value":20},"#
        + #""wanted":{"kind":"state","value":21},"#
        + #""total":{"kind":"state","hint":"hidden","value":41.04}},"intents":{"#
        + #""wanted":{"params":{"value":"number"}},"#
        + #""warmer":{"params":{},"main":true,"when":"total"},"#
        + #""other":{"params":{"name":"string","by":"number?"},"fields":{"name":{"doc":"#
        + #""The cell: 1 to 7 segments of [A-Za-z0-9_.:-] with / between them."},"#
        + #""by":{"doc":"The number to add; 1 when left out."}}}}}}"#)
    client.send(intent("warmer"))
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":1,"result":{"value":21.5,"seq":3,"version":2}}"#,
        #"{"jsonrpc":"2.0","method":"next","params":{"view":"v","seq":3,"props":"#
          + #"{"wanted":{"value":21.5},"total":{"value":41.54}}}}"#,
      ])
    _ = client.call(intent("wanted", #"{"value":19}"#))
    #expect(value(of: "wanted") == "19")
    #expect(
      client.error(intent("wanted", #"{"value":"x"}"#))?.data["path"] == .string("/args/value"))
    #expect(client.error(intent("other", "{}"))?.data["path"] == .string("/args/name"))
    #expect(
      client.error(intent("other", #"{"name":"a b"}"#))?.data["path"] == .string("/args/name"))
    #expect(client.error(intent("warmer", #"{"by":3}"#))?.data["path"] == .string("/args/by"))
  }

  @Test
  func `each direction does at the opening and later what it says`() throws {
    for name in ["a", "b", "c", "d", "e", "f"] { set(name, "1") }
    let result = client.result(
      open(
        "c = 7", "e = 8", "cells/a ~> a", "cells/b <> b", "cells/c <~ c", "cells/d <~! d",
        "cells/e !~> e", "cells/f <!> f"))
    #expect(values(result) == #"{"c":7,"e":8,"a":1,"b":1,"f":null}"#)
    #expect(["a", "b", "c", "d", "e", "f"].map(value(of:)) == ["1", "1", "7", "1", "1", "1"])
    guard case .object(let intents)? = result?["intents"] else { return }
    #expect(intents.members.map(\.name) == ["b", "c", "d", "f"])
    for name in ["b", "c", "d", "f"] { _ = client.call(intent(name, #"{"value":2}"#)) }
    #expect(["b", "c", "d", "f"].map(value(of:)) == ["2", "2", "2", "2"])
    #expect(client.connection.views.all[0]["d"].present?.text == "2", "it shows what was entered")
    for name in ["a", "e", "f"] { set(name, "3") }
    let shown = client.connection.views.all[0]
    #expect(
      ["a", "b", "c", "e", "f"].map { shown[$0].present?.text } == ["3", "2", "2", "3", "3"])
  }

  @Test
  func `transformers go backwards when the user enters a value`() {
    set("c", "20")
    let result = client.result(open("cells/c | celsius_to_fahrenheit <> f as number"))
    #expect(values(result) == #"{"f":68}"#)
    _ = client.call(intent("f", #"{"value":212}"#))
    #expect(value(of: "c") == "100")
    set("c", #""cold""#)
    #expect(client.connection.views.all[0]["f"].present == .null, "a refused value is null")
  }

  @Test
  func `a line compares and computes two sources`() {
    set("a", "3.26")
    set("b", "2")
    let result = client.result(
      open(
        "cells/a | above(cells/b) ~> warm", "(cells/a | round(1), cells/b) | sum ~> sum",
        "(cells/a, cells/b) | sum ~> exact"))
    #expect(values(result) == #"{"warm":true,"sum":5.3,"exact":5.26}"#)
    set("b", "4")
    #expect(client.connection.views.all[0]["warm"].present == JSONText(false))
  }

  @Test
  func `operators keep a state and wait`() {
    set("n", "1")
    _ = client.call(open("cells/n | count ~> count", "cells/n | debounce(1s) ~> late"))
    let view = client.connection.views.all[0]
    #expect(view["count"].present?.text == "1")
    set("n", "2")
    set("n", "3")
    #expect(view["count"].present?.text == "3")
    bench.time.advance(1_000)
    #expect(view["late"].present?.text == "3")
  }

  // MARK: Lists

  @Test
  func `a list has rows, whose places name them`() {
    for item in ["milk", "tea"] { _ = call("lists.append", #"["l","\#(item)"]"#) }
    let result = client.result(
      open("lists/l ~> items", #"bought -> lists.remove name="l" at=row.id"#))
    #expect(values(result) == #"{"items":[{"id":0,"value":"milk"},{"id":1,"value":"tea"}]}"#)
    #expect(
      result?["intents"]?.text.text.contains(#""bought":{"params":{"id":"integer"}"#) == true)
    client.send(intent("bought", #"{"id":0}"#))
    let frames = client.settle()
    #expect(frames.count == 2)
    #expect(client.error(intent("bought", #"{"id":1}"#))?.data["what"] == .string("row"))
    #expect(client.error(intent("bought", #"{"id":"x"}"#))?.name == .notFound)
    _ = call("lists.insert", #"["l",0,"bread"]"#)
    let again = client.result(open("lists/l ~> items", view: "w"))
    #expect(values(again) == #"{"items":[{"id":0,"value":"bread"},{"id":1,"value":"tea"}]}"#)
  }

  @Test
  func `the rows of a pattern are filtered, sorted, limited and named`() throws {
    for (name, value) in [("a", 3), ("b", 1), ("c", 2), ("d", 0)] {
      set("r/\(name)", #"{"n":\#(value),"who":{"name":"\#(name.uppercased())"}}"#)
    }
    let text = [
      "cells/r/* ~> rows where n > 0 by n desc limit 2", "  key ~> name", "  who/name ~> who",
      "  n | scale(2) ~> n as bytes", #"drop -> cells.remove name="r/a""#,
      "pick -> cells.set name=\"picked\" value=row.who",
    ]
    let result = client.result(open(text[0], text[1], text[2], text[3], text[4], text[5]))
    #expect(
      values(result)
        == #"{"rows":[{"id":"a","name":"a","who":"A","n":6},{"id":"c","name":"c","who":"C","n":4}]}"#
    )
    #expect(
      result?["props"]?.text.text.contains(#""kind":"list","hides":["id"],"members":{"n":"bytes"}"#)
        == true)
    client.send(#"{"id":2,"method":"cells.set","params":["r/d",{"n":9}]}"#)
    #expect(
      client.settle().last
        == #"{"jsonrpc":"2.0","method":"next","params":{"view":"v","seq":5,"props":{"rows":{"changes":["#
        + #"{"op":"insert","at":0,"value":{"id":"d","name":"d","who":null,"n":18}},"#
        + #"{"op":"remove","at":2}]}}}}"#)
    _ = client.call(intent("pick", #"{"id":"a"}"#))
    #expect(value(of: "picked") == #""A""#)
    #expect(
      client.error(intent("pick", #"{"id":"c"}"#))?.name == .notFound, "it is beyond the limit")
    _ = client.call(intent("drop"))
    #expect(client.error(intent("pick", #"{"id":"a"}"#))?.name == .notFound)
    #expect(client.result(intent("pick", #"{"id":"c"}"#)) != nil, "it is within the limit again")
  }

  @Test
  func `maps and plain values have rows too`() {
    _ = call("maps.put", #"["m","k",{"x":1}]"#)
    set("plain", #"[{"id":7,"x":1},{"x":2}]"#)
    let result = client.result(
      open("maps/m ~> map", "cells/plain ~> list where x exists", "  x"))
    #expect(
      values(result)
        == #"{"map":[{"id":"k","x":1}],"list":[{"id":0,"x":1},{"id":1,"x":2}]}"#)
    client.send(#"{"id":2,"method":"cells.set","params":["plain",[{"x":2}]]}"#)
    #expect(client.settle().last?.contains(#""changes""#) == true)
    client.send(#"{"id":2,"method":"maps.remove","params":["m","k"]}"#)
    #expect(client.settle().last?.contains(#"{"op":"remove","at":0}"#) == true)
  }

  @Test
  func `steps of a list lead to the same rows as the list itself`() {
    var random = SeededRandom(seed: 7)
    _ = client.call(open("lists/l ~> items by value limit 8"))
    for i in 0..<60 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: _ = call("lists.remove", #"["l",0]"#)
      case 1: _ = call("lists.insert", #"["l",0,\#(Int.random(in: 0..<100, using: &random))]"#)
      case 2: _ = call("lists.move", #"["l",0,\#(Int.random(in: 0..<4, using: &random))]"#)
      default: _ = call("lists.append", #"["l",\#(Int.random(in: 0..<100, using: &random))]"#)
      }
      guard i % 10 == 9 else { continue }
      // A table of its own: another line, although the same rows.
      let fresh = client.result(open("lists/l ~> rows by value limit 8 ", view: "w\(i)"))
      let other = bench.connect(
        as: Role(name: "x", methods: Rules(), read: Role.owner.read, write: Rules()))
      let apart = other.result(open("lists/l ~> rows by value limit 8", view: "w"))
      #expect(values(fresh) == values(apart))
    }
  }

  // MARK: Rights

  @Test
  func `a view has the rights of its client`() throws {
    let read = Rules(allow: ["cells/a/**"].compactMap { Pattern($0).map { Rule($0) } })
    let methods = Rules(
      allow: ["cells.add", "cells.toggle"].compactMap {
        Pattern($0, separator: ".").map { Rule($0) }
      })
    let limited = bench.connect(
      uid: 7, as: Role(name: "r", methods: methods, read: read, write: read))
    set("a/x", "1")
    let result = limited.result(
      open(
        "cells/a/x <> x", #"add -> cells.add name="a/x""#, #"set -> cells.set name="a/x" value=1"#,
        #"other -> cells.add name="b""#))
    guard case .object(let intents)? = result?["intents"] else {
      Issue.record("the view does not open")
      return
    }
    #expect(intents.members.map(\.name) == ["x", "add", "other"], "what it may not do is left out")
    #expect(limited.error(intent("other")) != nil)
    #expect(value(of: "b") == nil)
    for line in ["cells/b ~> b", "cells/* ~> b", "(cells/a/x, cells/b) ~> b"] {
      #expect(limited.error(open(line, view: "w"))?.name == .notFound, "\(line)")
    }
  }

  @Test(arguments: ["a/b", "*", "**", "", "a\u{1}", "a b", "{me}/x"])
  func `an argument reaches no other source`(argument: String) {
    let error = client.error(
      open("cells/r/{x} ~> a", head: " (x: text)", args: ["x": .string(argument)]))
    #expect(error?.data["path"] == .string("/args/x"))
  }

  @Test
  func `an argument in the name of a source that an intent writes is one segment`() {
    var count = 0
    func open(_ who: String, _ line: String) -> String {
      count += 1
      return self.open(line, head: " (who: text)", args: ["who": .string(who)], view: "v\(count)")
    }
    let set = #"x -> cells.set name="r/{who}" value=1"#
    for who in ["a/b", "*", "/"] {
      let error = client.error(open(who, set))
      #expect(error?.data["path"] == .string("/args/who"), "\(who)")
      #expect(
        error?.message.contains("an argument in a text with '/' is one segment") == true, "\(who)")
    }
    #expect(client.error(open("a/b", #"y => cell name="r/{who}""#)) != nil)
    #expect(
      client.error(open("a/b", #"y -> maps.put name="m" key="k" value={"a":["r/{who}"]}"#)) != nil)
    // No name: a whole value, a text for people, a title.
    for line in [
      "x -> cells.set name={who} value=1", #"x -> cells.set name="r" value="by {who} / me""#,
      #"t = "r/{who}""#,
    ] {
      #expect(client.result(open("a/b", line)) != nil, "\(line)")
    }
    #expect(client.result(open("a b", set)) != nil)
  }

  @Test
  func `arguments are checked, and me is the user`() {
    let head = " (x: text, n: integer)"
    #expect(client.error(open(head: head))?.data["path"] == .string("/args/x"))
    #expect(
      client.error(open(head: head, args: ["x": .string("a"), "n": .string("b")]))?.data["path"]
        == .string("/args/n"))
    #expect(client.error(open(args: ["y": .null]))?.data["path"] == .string("/args/y"))
    #expect(client.error(open(args: ["me": .string("0")]))?.data["path"] == .string("/args/me"))
    let result = client.result(
      open(
        #"who = "{me}""#, #"n = {n}"#, head: " (n: integer)", args: ["n": .number(JSONNumber(3))]))
    #expect(values(result) == #"{"who":"1000","n":3}"#)
  }

  // MARK: Navigation

  @Test
  func `an intent opens another view with a row, and a tab opens with the view`() {
    set("r/a", "1")
    let answer = client.call(
      open(
        "cells/r/* ~> rows", "  key ~> name", "show => cell name=row.name",
        #"tab "One" => cell name="one""#
      ))
    #expect(answer.contains(#""show":{"params":{"id":"string"},"opens":"cell","list":"rows"}"#))
    #expect(answer.contains(#""parent":"v","binder":"cell","style":"tab","title":"One""#))
    client.send(intent("show", #"{"id":"a"}"#))
    let frames = client.settle()
    #expect(frames.first?.contains(#""opened":"v.2""#) == true)
    #expect(
      frames.last?.contains(#""style":"push","props":{"name":{"kind":"state","value":"a"}"#) == true
    )
    #expect(client.error(intent("show", #"{"id":"b"}"#))?.name == .notFound)
  }

  @Test
  func `an intent of a row names its list, also where two lists have the member`() {
    set("r/a", "1")
    _ = client.call(#"{"id":1,"method":"maps.put","params":["m","k",{"seat":4}]}"#)
    let lists = ["cells/r/* ~> rooms", "  key ~> room", "maps/m ~> seats", "  seat ~> number"]
    #expect(
      check((["view \"A\""] + lists + ["x -> cells.remove name=row.id"]).joined(separator: "\n"))
        .faults == [
          "6:28: 'row.id' may be of 'rooms' or of 'seats'; write rooms.id or seats.id"
        ])
    #expect(
      check(
        (["view \"A\""] + lists + [
          "x -> cells.remove name=romms.id", "y -> cells.remove name=seats.room",
          "z -> cells.set name=rooms.room value=seats.number",
        ]).joined(separator: "\n")
      ).faults == [
        "6:24: the view has no list 'romms'; did you mean 'rooms'?",
        "7:30: the rows of 'seats' have no 'room'",
        "8:1: 'z' takes members of the rows of two lists",
      ])
    let answer = client.call(
      open(
        lists[0], lists[1], lists[2], lists[3],
        "free  -> cells.set name=rooms.id value=seats"))
    #expect(!answer.contains("intents"), "a name alone is not JSON")
    let opened = client.call(
      open(
        lists[0], lists[1], lists[2], lists[3], "drop -> maps.remove name=\"m\" key=seats.id",
        "seat -> maps.put name=\"m\" key=row.id value=row.number",
        "copy -> cells.set name=row.room value=?integer",
        "find -> cells.list", "who -> readers.retry"))
    #expect(opened.contains(#""drop":{"params":{"id":"string"},"list":"seats"}"#))
    #expect(opened.contains(#""seat":{"params":{"id":"string"},"list":"seats"}"#))
    #expect(
      opened.contains(#""copy":{"params":{"id":"string","value":"integer"},"list":"rooms"}"#),
      "the type says more than 'Any JSON'")
    #expect(opened.contains(#""find":{"params":{},"answers":true}"#))
    client.send(intent("drop", #"{"id":"k"}"#))
    #expect(
      client.settle().joined().contains(#""seats":{"changes":[{"op":"remove","at":0}]}"#))
  }

  @Test
  func `a field names the member of the row that has its present value`() {
    _ = call("lists.append", #"["shop","milk"]"#)
    let opened = client.call(
      open(
        "lists/shop ~> shop", "  value ~> thing",
        "rename -> lists.update name=\"shop\" at=row.id value=?text",
        "renew -> lists.update name=\"shop\" at=row.id value=?"))
    #expect(opened.contains(#""list":"shop","fields":{"value":{"from":"thing"}}"#))
    #expect(opened.contains(#""doc":"Any JSON, 256 KiB at most.","from":"thing""#))
  }

  @Test
  func `a view that opens as a tab costs its user as much as one that opens alone`() {
    func cost(_ request: String, closing view: String) -> Int {
      let before = client.connection.userItemBytes
      // The announcement of a tab follows the answer.
      #expect(client.call(request).contains(#""result""#))
      defer { _ = call("close", #"{"view":"\#(view)"}"#) }
      return client.connection.userItemBytes - before
    }
    let lines = ["view \"Wide.\""] + (0..<20).map { "cells/a\($0) ~> p\($0)" }
    for i in 0..<20 { set("a\(i)", "1") }
    var files = FileViews()
    files.read(Array(lines.joined(separator: "\n").utf8), file: "wide.view")
    #expect(bench.catalog.useFileViews(files, in: bench.table))
    let wide: JSONObject = ["binder": .string("wide"), "view": .string("w")]
    let alone = cost(request("open", wide), closing: "w")
    let root = cost(open("x = 1"), closing: "v")
    #expect(alone > root)
    #expect(cost(open("x = 1", #"tab "Wide" => wide"#), closing: "v") >= root + alone - 1_000)
  }

  // MARK: Programs

  @Test
  func `a program's method is called directly, and a query answers`() {
    let provider = bench.connect(uid: 500)
    _ = provider.call(
      #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{"blink":{"doc":"Blinks."}}}}"#
    )
    set("a", "1")
    _ = client.call(open("blink -> lamp.blink times=3", "list -> cells.list prefix=\"a\""))
    #expect(client.result(intent("list"))?["value"] == .object(["a": .number(JSONNumber(1))]))
    client.send(intent("blink"))
    let called = provider.received().joined()
    #expect(called.contains(#""params":{"times":3}"#))
    let number = called.split(separator: #""call":""#).last?.prefix { $0 != "\"" } ?? ""
    _ = provider.call(#"{"id":2,"method":"reply","params":{"call":"\#(number)","value":"done"}}"#)
    #expect(client.settle().joined().contains(#""value":"done""#))
    #expect(client.error(intent("list", #"{"x":1}"#))?.data["path"] == .string("/args/x"))

    // The program leaves, or takes something else.
    _ = provider.call(#"{"id":3,"method":"withdraw","params":["lamp"]}"#)
    #expect(client.error(intent("blink"))?.name == .unavailable)
    let other = bench.connect(uid: 500)
    let schema = #"{"type":"object","properties":{"often":{}},"additionalProperties":false}"#
    _ = other.call(
      #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{"blink":{"params":\#(schema)}}}}"#
    )
    #expect(client.settle().contains { $0.contains(#""reason":"changed""#) })
    #expect(client.error(intent("blink"))?.name == .notFound, "its client opens it again")
  }

  @Test
  func `a queued call that fails says so in the view that has made it`() {
    let provider = bench.connect(uid: 500)
    let blink = #""blink":{"delivery":"queued"}"#
    _ = provider.call(
      #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{\#(blink)}}}"#)
    #expect(
      client.call(open("blink -> lamp.blink")).contains(
        #""props":{"blink_failed":{"kind":"state","hint":"quiet","value":null}}"#))
    func answer(_ reply: String) -> String {
      client.send(intent("blink"))
      let before = client.settle().joined()
      let called = provider.received().joined()
      let call = called.split(separator: #""call":""#).last?.prefix { $0 != "\"" } ?? ""
      _ = provider.call(#"{"id":2,"method":"reply","params":{"call":"\#(call)",\#(reply)}}"#)
      return before + client.settle().joined()
    }
    #expect(!answer(#""value":1"#).contains("blink_failed"))
    #expect(
      answer(#""error":"no bulb""#).contains(#""props":{"blink_failed":{"value":"no bulb"}}"#))
    #expect(answer(#""value":1"#).contains(#""props":{"blink_failed":{"value":null}}"#))
  }

  @Test
  func `an intent is left out until a program has declared its method`() {
    func intents(_ view: String) -> String {
      client.result(open("go -> lamp.go", view: view))?["intents"]?.text.text ?? ""
    }
    #expect(intents("a") == "{}")
    let provider = bench.connect(uid: 500)
    _ = provider.call(
      #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{"go":{"delivery":"queued"}}}}"#
    )
    #expect(client.settle().contains { $0.contains(#""view":"a""#) && $0.contains("changed") })
    #expect(intents("b") == #"{"go":{"params":{}}}"#)
    #expect(client.result(intent("go", view: "b"))?["value"] != nil, "it is queued")
  }

  // MARK: Sharing

  @Test
  func `views with the same line and rights share their rows`() {
    for i in 0..<50 { set("r/\(i)", "\(i)") }
    for i in 0..<20 { _ = client.call(open("cells/r/* ~> rows by value", view: "v\(i)")) }
    let before = bench.table.context.workSteps
    client.send(#"{"id":2,"method":"cells.set","params":["r/3",100]}"#)
    let frames = client.settle()
    #expect(frames.count { $0.contains(#""op":"insert","at":49"#) } == 20)
    #expect(bench.table.context.workSteps - before == 1, "the row is made once for all")
    for view in client.connection.views.all { _ = client.connection.views.close(view) }
    set("r/3", "1")
    #expect(bench.table.context.workSteps - before == 1, "and for nobody when all are closed")
  }

  @Test
  func `more rows than are made at once follow in slices`() {
    for first in stride(from: 0, to: 1200, by: 400) {
      let calls = (first..<first + 400).map {
        #"{"method":"cells.set","params":["m/\#($0)",\#($0)]}"#
      }
      _ = call("atomic", #"{"calls":[\#(calls.joined(separator: ","))]}"#)
    }
    _ = client.call(open("cells/m/* ~> rows"))
    _ = client.settle()
    let again = client.result(open("cells/m/* ~> rows", view: "w"))
    guard case .object(let props)? = again?["props"], case .object(let rows)? = props["rows"],
      case .array(let all)? = rows["value"]
    else { return }
    #expect(all.count == 1200)
  }

  // MARK: Limits

  @Test
  func `what a view holds is charged to its user, and a row beyond the memory is not shown`() {
    var limits = Limits()
    limits.memoryPerUser = 200_000
    bench.table.context.limits = limits
    let user = bench.connect(uid: 2000)
    let text = String(repeating: "x", count: 1000)
    for i in 0..<300 { set("m/\(i)", "\"\(text)\"") }
    user.send(open("cells/m/* ~> rows", "cells/m/1 | delay(1h) ~> late"))
    // The rows may come in several frames.
    let lines = user.settle().joined()
    let rows = lines.split(separator: #"{"id":""#).count - 1
    #expect((50..<200).contains(rows), "\(rows)")
    // The view says how many are missing.
    let missing = lines.components(after: #""rows_missing":{"#).last.map { String($0.prefix(60)) }
    #expect(missing?.contains(#""value":\#(300 - rows)"#) == true, "\(missing ?? "nothing")")
    #expect(
      user.error(open("cells/m/* ~> rows", view: "w"))?.data["limit"] == .string("memory_user"))
    _ = user.call(#"{"id":1,"method":"close","params":{"view":"v"}}"#)
    #expect(user.result(open("cells/m/1 ~> row", view: "w")) != nil, "the charge has ended")
  }

  @Test
  func `a row beyond the memory that is removed is not missing, and others take its place`() {
    var limits = Limits()
    limits.memoryPerUser = 200_000
    bench.table.context.limits = limits
    let user = bench.connect(uid: 2000)
    let text = String(repeating: "x", count: 1000)
    for i in 0..<300 { set("m/\(i)", "\"\(text)\"") }
    user.send(open("cells/m/* ~> rows"))
    let opened = user.settle().joined()
    let shown = Set(
      opened.components(after: #"{"id":""#).compactMap { Int($0.prefix { $0 != "\"" }) })
    func missing(_ text: String) -> Int? {
      text.components(after: #""rows_missing":{"#).last
        .flatMap { String($0).components(after: #""value":"#).first }
        .flatMap { Int($0.prefix { $0.isNumber }) }
    }
    let count = missing(opened) ?? 0
    #expect(count == 300 - shown.count && count > 100)
    // One with a long name, so that each of the others fits in its place.
    guard let beyond = (0..<300).first(where: { !shown.contains($0) }), let last = shown.max()
    else { return }
    _ = client.call(#"{"id":1,"method":"cells.remove","params":["m/\#(beyond)"]}"#)
    #expect(missing(user.settle().joined()) == count - 1)
    _ = client.call(#"{"id":1,"method":"cells.remove","params":["m/\#(last)"]}"#)
    let changed = user.settle().joined()
    #expect(changed.contains(#""op":"remove""#) && changed.contains(#""op":"insert""#))
    #expect(missing(changed) == count - 2)
  }

  @Test
  func `a line named like the number of missing rows keeps its value`() {
    var limits = Limits()
    limits.memoryPerUser = 100_000
    bench.table.context.limits = limits
    let user = bench.connect(uid: 2000)
    let text = String(repeating: "x", count: 1000)
    for i in 0..<100 { set("m/\(i)", "\"\(text)\"") }
    set("count", "7")
    user.send(open("cells/m/* ~> rows", "cells/count ~> rows_missing"))
    let lines = user.settle().joined()
    #expect(lines.contains(#""rows_missing":{"kind":"state","value":7}"#))
    #expect(lines.components(after: #""rows_missing""#).count == 1)
  }

  @Test
  func `a view of many patterns searches them in the time of its user`() {
    for first in 0..<32 {
      let calls = (0..<50).map { #"{"method":"cells.set","params":["m/\#(first)/\#($0)",1]}"# }
      _ = call("atomic", #"{"calls":[\#(calls.joined(separator: ","))]}"#)
    }
    func rows(_ lines: [String]) -> Int { lines.joined().components(after: #"{"id":""#).count }
    let lines = (0..<32).map { "cells/m/\($0)/* ~> rows\($0)" }
    bench.time.nanosecondsPerLook = 100_000
    let context = bench.table.context
    let (begun, first) = (context.workSteps, context.turn)
    client.send(open(lines.joined(separator: "\n")))
    var shown = rows(client.received())
    #expect(shown < 200, "\(shown)")
    for _ in 0..<400 where shown < 1600 { shown += rows(client.received()) }
    #expect(shown == 1600)
    #expect(context.workSteps - begun <= 40 * (context.turn - first))
    bench.time.nanosecondsPerLook = 0
  }

  @Test(arguments: ["cells/m/* ~> rows", "maps/m ~> rows"])
  func `an intent finds a row that the view has not made yet`(line: String) {
    for first in 0..<6 {
      let calls = (first * 50..<first * 50 + 50).map { i in
        #"{"method":"cells.set","params":["m/k\#(i)",1]},"#
          + #"{"method":"maps.put","params":{"name":"m","key":"k\#(i)","value":1}}"#
      }
      _ = call("atomic", #"{"calls":[\#(calls.joined(separator: ","))]}"#)
    }
    let text = line + "\n" + #"take -> cells.set name="taken" value=row.id"#
    // The turn of the view has no time for its rows, and the intent comes first in the next one.
    bench.time.nanosecondsPerLook = 5_000_000
    client.send(open(text))
    var lines = client.received()
    bench.time.nanosecondsPerLook = 0
    #expect(lines.joined().components(after: #"{"id":"k"#).count < 300)
    client.send(intent("take", #"{"id":"k299"}"#))
    lines += client.settle()
    #expect(lines.count { $0.contains("no such row") } == 0, "\(lines.map { $0.prefix(300) })")
    #expect(value(of: "taken") == #""k299""#)
    // What is no row of the list is none.
    let none = call("intent", #"{"view":"v","name":"take","args":{"id":"k1/x"}}"#)
    #expect(none.contains("no such row"))
    #expect(lines.joined().components(after: #"{"id":"k"#).count == 300, "each row is sent once")
  }

  @Test
  func `many lines of one source get its changes in the time of the user`() {
    set("h", "1")
    for view in 0..<3 {
      let lines = (0..<60).map { "cells/h | offset(\(view * 100 + $0)) ~> p\($0)" }
      _ = client.call(open(lines.joined(separator: "\n"), view: "v\(view)"))
    }
    let context = bench.table.context
    for value in [5, 9] {
      let (begun, first) = (context.workSteps, context.turn)
      bench.time.nanosecondsPerLook = 100_000
      let other = bench.connect(uid: 1001)
      let calls = (0..<200).map { #"{"method":"cells.set","params":["h",\#(value - 199 + $0)]}"# }
        .joined(separator: ",")
      other.send(#"{"id":1,"method":"atomic","params":{"calls":[\#(calls)]}}"#)
      bench.store.commit()
      var lines: [String] = []
      for _ in 0..<50 { lines += client.received() }
      #expect((180...400).contains(context.workSteps - begun), "\(context.workSteps - begun)")
      #expect(context.workSteps - begun <= 40 * (context.turn - first))
      bench.time.nanosecondsPerLook = 0
      lines += client.settle()
      for view in 0..<3 {
        let shown = lines.filter { $0.contains(#""view":"v\#(view)""#) }.joined()
        for i in [0, 31, 59] {
          let last = shown.components(after: #""p\#(i)":{"value":"#).last?.prefix(20) ?? ""
          #expect(last.hasPrefix("\(value + view * 100 + i)}"), "\(last)")
        }
      }
      other.connection.end()
    }
    for view in client.connection.views.all { _ = client.connection.views.close(view) }
    set("h", "2")
    #expect(bench.catalog.files.sharedCount == 0)
  }

  @Test
  func `long rows are made in slices when a view opens`() {
    let long = String(repeating: "x", count: 100_000)
    for i in 0..<10 { set("m/\(i)", #"{"a":\#(i),"long":"\#(long)"}"#) }
    func rows(_ lines: [String]) -> Int { lines.joined().components(after: #"{"id":""#).count }
    bench.time.nanosecondsPerLook = 1_500_000
    let context = bench.table.context
    let begun = context.workSteps
    client.send(open("cells/m/* ~> rows", "  a"))
    var shown = rows(client.received())
    #expect((1...4).contains(shown), "\(shown)")
    for _ in 0..<100 where shown < 10 { shown += rows(client.received()) }
    #expect(shown == 10)
    #expect(context.workSteps - begun >= 6)
    bench.time.nanosecondsPerLook = 0
  }

  @Test
  func `short lists are there at once, also if the time of the client is over`() {
    for i in 0..<5 { set("m/\(i)", "\(i)") }
    for i in 1...3 { _ = call("lists.append", #"["l",\#(i)]"#) }
    bench.time.nanosecondsPerLook = 1_900_000
    client.send(open("cells/m/* ~> cells\nlists/l ~> list"))
    let answer = client.received().first { $0.contains("result") } ?? ""
    #expect(answer.components(after: #"{"id":"#).count == 8, "\(answer)")
    #expect(!answer.contains(#""more""#))
    bench.time.nanosecondsPerLook = 0
  }

  @Test
  func `the first frame of a longer list says that more follows, and the last that nothing does`() {
    for i in 0..<40 { set("m/\(i)", "\(i)") }
    bench.time.nanosecondsPerLook = 1_900_000
    client.send(open("cells/m/* ~> rows where value < 39"))
    var lines: [String] = []
    for _ in 0..<200 { lines += client.received() }
    bench.time.nanosecondsPerLook = 0
    let frames = lines.filter { $0.contains(#""view":"#) }
    #expect(frames.first?.contains(#""more":true"#) == true, "\(frames.first ?? "")")
    #expect(frames.last?.contains(#""more""#) == false, "\(frames.last ?? "")")
    #expect(frames.joined().components(after: #"{"id":""#).count == 39)
  }

  @Test
  func `long values are converted in slices, when a view opens and when they change`() {
    let long = String(repeating: "x", count: 5_000)
    for i in 0..<8 { set("m\(i)", "\"\(long)\"") }
    let lines = (0..<8).map { "cells/m\($0) | length ~> p\($0)" }.joined(separator: "\n")
    let context = bench.table.context
    bench.time.nanosecondsPerLook = 1_500_000
    let begun = context.workSteps
    client.send(open(lines))
    var shown = client.received().joined()
    #expect(shown.components(after: "5000").count <= 3, "each look costs most of a slice")
    for _ in 0..<100 where shown.components(after: "5000").count < 8 {
      shown += client.received().joined()
    }
    #expect(shown.components(after: "5000").count == 8)
    let steps = context.workSteps - begun
    #expect(steps >= 5)
    bench.time.nanosecondsPerLook = 0
    let other = bench.connect()
    let calls = (0..<8).map { #"{"method":"cells.set","params":["m\#($0)","\#(long)y"]}"# }
    _ = other.call(
      #"{"id":1,"method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#)
    #expect(client.settle().joined().components(after: "5001").count == 8)
    #expect(context.workSteps - begun == steps + 8)
    // A short value is shown without a step.
    _ = other.call(#"{"id":1,"method":"cells.set","params":["m0","z"]}"#)
    #expect(client.settle().joined().contains(#""p0":{"value":1}"#))
    #expect(context.workSteps - begun == steps + 8)
  }

  @Test
  func `a text of many lines is read no further than the limits`() {
    let lines = (0..<5_000).map { "p\($0)=1" }.joined(separator: "\n")
    #expect(check("view \"A\"\n" + lines).faults == ["1:1: a view has at most 64 properties"])
    let bad = String(repeating: "?\n", count: 30_000)
    #expect(check("view \"A\"\n" + bad).faults.count == 100)
  }

  // MARK: Restart

  @Test
  func `a view of a client's text is what a restart needs`() throws {
    set("a", "1")
    _ = client.call(open("x = 1", "cells/a <~ x"))
    set("a", "5")
    let view = try #require(client.connection.views.all.first)
    #expect(view.origin.text?.string?.contains("cells/a <~ x") == true)
    let context = try #require(client.connection.handler as? CallContext)
    let again = try context.openView(
      "view", nil, try JSONText(parsing: "{}"), view.origin.text.flatMap(BroughtView.init))
    #expect(again["x"].present?.text == "1")
  }
}

/// Views that a client brings together.
@Suite(.leavesNothing)
struct BroughtViewTests {
  private let bench: Bench
  private let client: TestClient

  init() throws {
    bench = try Bench { _, _ in }
    client = bench.connect()
  }

  private static let one = #"view \"All.\"\ncells/* ~> all\nchoose => two name=row.id"#
  private static let two =
    #"view \"One.\" (name: text)\ntitle = \"{name}\"\nback => one\ntab \"A tab\" => three"#
  private static let three = #"view \"A tab.\"\nx = 1"#

  private func open(_ others: String) -> String {
    #"{"id":1,"method":"open","params":{"view":"v","binder":"one","text":"\#(Self.one)","with":{\#(others)}}}"#
  }

  private func intent(_ view: String, _ name: String, _ args: String = "{}") -> String {
    client.call(
      #"{"id":1,"method":"intent","params":{"view":"\#(view)","name":"\#(name)","args":\#(args)}}"#)
  }

  @Test
  func `views of one request lead to each other, also after a restart`() throws {
    _ = client.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    let others = #""two":"\#(Self.two)","three":"\#(Self.three)""#
    #expect(client.result(open(others)) != nil)
    #expect(intent("v", "choose", #"{"id":"a"}"#).contains(#""opened":"v.1""#))
    let names = client.connection.views.all.map(\.binder)
    #expect(names == ["one", "two", "three"])
    #expect(client.connection.views.all[1]["title"].present == JSONText(string: "a"))
    #expect(intent("v.1", "back").contains(#""opened""#))
    let context = try #require(client.connection.handler as? CallContext)
    let kept = try #require(client.connection.views.all.first?.origin.text)
    let again = try context.openView(
      "one", Handle(name: "w"), JSONText(trusted: "{}"), BroughtView(kept))
    #expect(again.origin.text == kept)
    #expect(Array(again.intentNames) == ["choose"])
  }

  @Test
  func `each of them is checked, and they are bounded`() {
    let bad = client.error(open(#""two":"\#(Self.two)""#))
    #expect(bad?.message == "two:4:16: no view 'three'")
    let alone = client.error(open(""))
    #expect(alone?.message == "one:3:11: no view 'two'")
    let long = String(repeating: "x", count: 65_530)
    #expect(client.error(open(#""two":"view \"\#(long)\"""#))?.data["path"] == .string("/with"))
    let without = #"{"id":1,"method":"open","params":{"binder":"cells","with":{}}}"#
    #expect(client.error(without)?.data["path"] == .string("/with"))
    #expect(client.connection.views.all.isEmpty)
  }

  @Test
  func `a check says that a view of the daemon has the name`() {
    func check(_ name: String) -> String {
      client.call(
        #"{"id":1,"method":"check_view","params":{"text":"view \"A.\"","name":"\#(name)"}}"#)
    }
    let message =
      "service 'cells' has a view 'cell', so a reload refuses a file of this name"
    #expect(
      check("cell").contains(
        #""faults":[],"warnings":[{"line":1,"column":1,"message":"\#(message)"}]"#))
    #expect(check("mine").contains(#""faults":[],"warnings":[]"#))
  }
}

/// The views of services for which none was written.
@Suite(.leavesNothing)
struct DefaultViewTests {
  @Test
  func `a service without a view has one of its sources and methods`() throws {
    let bench = try Bench { catalog, parts in
      bindLists(catalog, to: ListsService(in: parts.host))
      bindPrograms(catalog, to: Programs(in: parts.host))
    }
    let client = bench.connect()
    _ = client.call(#"{"id":1,"method":"lists.append","params":["l",1]}"#)
    let lists = client.call(#"{"id":1,"method":"open","params":{"binder":"lists"}}"#)
    #expect(lists.contains(#""props":{"lists":{"kind":"list","value":[{"id":"l","value":[1]}]}}"#))
    #expect(lists.contains(#""append":{"params":{"name":"string","value":"any"}"#))

    let program =
      #""service":"stock","doc":"The \"stock\".","methods":{"buy":{"params":{"type":"object","#
      + #""properties":{"count":{"type":"integer"}},"required":["count"]}}},"sources":{"level":"Now."}"#
    let provider = bench.connect(uid: 500)
    _ = provider.call(#"{"id":1,"method":"provide","params":{\#(program)}}"#)
    _ = provider.call(
      #"{"id":2,"method":"publish","params":{"source":"stock/level","value":3,"keep":true}}"#)
    let stock = client.call(#"{"id":1,"method":"open","params":{"binder":"stock"}}"#)
    #expect(
      stock.contains(
        #""props":{"level":{"kind":"state","value":3}},"intents":{"buy":{"params":{"count":"integer"}"#
      ))
    #expect(
      client.call(#"{"id":1,"method":"describe"}"#).contains(
        #"{"name":"stock","service":"views","doc":"The \"stock\".","args":[]}"#))
    #expect(
      client.error(#"{"id":1,"method":"open","params":{"binder":"cells"}}"#)?.name == .notFound,
      "it has the view 'cell'")
  }
}

extension String {
  /// Returns the parts that follow each occurrence of a text.
  fileprivate func components(after text: String) -> [Substring] {
    split(separator: text, omittingEmptySubsequences: false).dropFirst().map { $0 }
  }
}
