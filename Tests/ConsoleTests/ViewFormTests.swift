import Console
import JSON
import Testing
import Wire

/// The initial content of forms, and the requests of live intents.
struct ViewFormTests {
  private static let feeds =
    #""feeds":{"kind":"list","value":[{"id":"swift","url":"https://swift.org/","episodes":3}]}"#
  private static let feedsIntents =
    #""add":{"params":{"url":"string","id":"string?"}},"#
    + #""move":{"params":{"id":"string","url":"string"}},"#
    + #""open":{"params":{"id":"string","newest":"integer?"},"opens":"feed","main":true}"#

  @Test
  func `a form for a new element is empty, a form for a row has its content`() throws {
    var view = try ShownView("feeds", props: Self.feeds, intents: Self.feedsIntents)
    view.type("a")
    #expect(view.session.form?.fields == ["", ""])
    view.press(.escape)
    view.type("m")
    #expect(view.session.form?.fields == ["https://swift.org/"], "the row gives its id")
    #expect(
      view.press(.enter) == [
        ShownView.ask("move", ["id": .string("swift"), "url": .string("https://swift.org/")])
      ])
  }

  @Test
  func `a field has the title of what it edits`() throws {
    var view = try ShownView(
      "panel", props: #""wanted":{"kind":"state","value":21,"title":"The wanted warmth"}"#,
      intents: #""wanted":{"params":{"value":"number"}},"other":{"params":{"value":"number"}}"#)
    view.type("w")
    #expect(view.screen.contains { $0.hasPrefix("> The wanted warmth  21") }, "\(view.screen)")
    view.press(.control("u"))
    view.press(.enter)
    #expect(view.screen.contains { $0.contains("'The wanted warmth' needs a value") })
    view.press(.escape)
    view.type("o")
    #expect(view.screen.contains { $0.hasPrefix("> value  ") })
  }

  @Test
  func `a form for a new name is not filled with an existing one`() throws {
    var view = try ShownView(
      "login", props: #""names":{"kind":"list","value":[{"id":"kim"}]}"#,
      intents: #""log_in":{"params":{"name":"string"}}"#)
    view.type("l")
    #expect(view.session.form?.fields == [""])
  }

  @Test
  func `enter opens a row without its optional arguments`() throws {
    var view = try ShownView("feeds", props: Self.feeds, intents: Self.feedsIntents)
    #expect(view.press(.enter) == [ShownView.ask("open", ["id": .string("swift")])])
  }

  private static let search =
    #""term":{"kind":"state","value":""},"results":{"kind":"list","value":[]}"#
  private static let searchIntents =
    #""search":{"params":{"term":"string"},"main":true,"live":true},"#
    + #""select":{"params":{"id":"string"},"main":true}"#

  private func term(_ text: String) -> ViewSession.Action {
    ShownView.ask("search", ["term": .string(text)])
  }

  @Test
  func `a live intent is sent at each key, and not again at the end`() throws {
    var view = try ShownView("search", props: Self.search, intents: Self.searchIntents)
    #expect(view.type("te") == [term("t"), term("te")], "the field is open")
    #expect(view.press(.up, .control("a")) == [], "what changes nothing asks nothing")
    #expect(view.press(.backspace) == [term("t")])
    #expect(view.press(.enter) == [], "nothing is chosen")
    try view.change(#""term":{"value":"t"},"results":{"value":[{"id":"a"},{"id":"b"}]}"#)
    #expect(
      view.screen[22]
        == "enter select   arrows choose   esc leaves the field, for select, back or quit")
    view.press(.down)
    #expect(view.press(.enter) == [ShownView.ask("select", ["id": .string("b")])])
    try view.push("thread", props: "")
    #expect(view.session.notice == nil, "the term was sent")
    view.end("v.1")
    #expect(view.session.form?.fields == ["t"], "one goes on typing")
    view.press(.escape)
    #expect(view.line("term") == "term  t")
    #expect(view.press(.enter) == [ShownView.ask("select", ["id": .string("b")])])
    view.type("s")
    #expect(view.session.form?.fields == ["t"])
  }

  @Test
  func `escape leaves the field, so that letters are keys; its text stays`() throws {
    var view = try ShownView(
      "room", props: "",
      intents: #""send":{"params":{"text":"string"},"main":true},"older":{"params":{}}"#)
    view.type("older q")
    #expect(view.session.form?.fields == ["older q"], "no letter was a key")
    #expect(view.screen[22] == "enter send   esc leaves the field, for older, back or quit")
    view.press(.escape)
    #expect(view.screen[22] == "enter send…   o older   q quit   ? keys")
    #expect(view.type("o") == [ShownView.ask("older", [:])])
    view.press(.enter)
    #expect(view.session.form?.fields == ["older q"])
    #expect(view.press(.enter) == [ShownView.ask("send", ["text": .string("older q")])])
    #expect(view.session.form?.fields == [""])
    #expect(view.press(.enter) == [], "an empty line is not sent")
    view.type("x")
    #expect(view.press(.control("c")) == [])
    #expect(view.session.form?.fields == [""])
    #expect(view.press(.control("c")) == [.quit])
  }

  @Test
  func `the main intent of a single value has a form with the value`() throws {
    var view = try ShownView(
      "cell", props: #""name":{"kind":"state","value":"a"},"value":{"kind":"state","value":20}"#,
      intents:
        #""set":{"params":{"value":"any"},"main":true},"remove":{"params":{},"destructive":true}"#)
    #expect(view.session.form == nil, "letters are keys")
    #expect(view.screen[22] == "enter set…   r remove   q quit   ? keys")
    view.press(.enter)
    #expect(view.session.form?.fields == ["20"])
    #expect(view.line("value") == "value  20", "another client may change it meanwhile")
    view.press(.control("u"))
    view.type("21")
    #expect(view.press(.enter) == [ShownView.ask("set", ["value": .number(JSONNumber(21))])])
    #expect(view.session.form == nil)
    #expect(view.type("r") == [])
    #expect(view.session.question?.text == "remove a")
  }

  @Test
  func `a property with an intent of its name is edited in place`() throws {
    var view = try ShownView(
      "panel",
      props: #""wanted":{"kind":"state","hint":"°C","value":21.5},"#
        + #""away":{"kind":"state","hint":"yesno","value":false},"#
        + #""day":{"kind":"state","hint":"date","value":"2026-01-02"}"#,
      intents: #""wanted":{"params":{"value":"number"}},"away":{"params":{"value":"boolean"}},"#
        + #""level":{"params":{"value":"string"},"fields":{"value":{"words":["low","high"]}}},"#
        + #""pin":{"params":{"value":"string"},"fields":{"value":{"format":"secret"}}},"#
        + #""until":{"params":{"value":"string"},"fields":{"value":{"format":"time"}}}"#)
    #expect(view.line("wanted") == "wanted  21.5 °C")
    #expect(view.line("away") == "away    no")
    #expect(view.line("day") == "day     2026-01-02")
    view.type("w")
    #expect(view.session.form?.fields == ["21.5"])
    view.press(.control("u"))
    view.type("19")
    #expect(view.press(.enter) == [ShownView.ask("wanted", ["value": .number(JSONNumber(19))])])
    view.type("a")
    #expect(view.session.form?.fields == ["no"])
    view.press(.control("u"))
    view.type("yes")
    #expect(view.press(.enter) == [ShownView.ask("away", ["value": .bool(true)])])
    view.type("l")
    #expect(view.line("> value") == "> value    low or high")
    view.type("low")
    #expect(view.press(.enter) == [ShownView.ask("level", ["value": .string("low")])])
    view.type("p1234")
    #expect(view.line("> value") == "> value  ••••")
    #expect(view.press(.enter) == [ShownView.ask("pin", ["value": .string("1234")])])
    view.type("u2026-01-02T03:04:05Z")
    #expect(
      view.press(.enter)
        == [ShownView.ask("until", ["value": .string("2026-01-02T03:04:05.000000Z")])])
  }

  @Test
  func `members of rows have hints of their own, and a unit may be quiet`() throws {
    var view = try ShownView(
      "files",
      props: #""left":{"kind":"state","hint":"share","quiet":true,"value":0},"#
        + #""files":{"kind":"list","hides":["id"],"members":{"size":"bytes","done":"share"},"value":["#
        + #"{"id":"a","name":"x","size":2048,"done":0.5,"count":3}]}"#)
    #expect(view.line("left") == nil)
    #expect(view.line("> ")?.split(separator: " ") == [">", "x", "2", "KiB", "50", "%", "3"])
    try view.change(#""left":{"value":0.25}"#)
    #expect(view.line("left") == "left  25 %")
  }

  @Test
  func `a live intent waits for its required arguments`() throws {
    var view = try ShownView(
      "v", props: "", intents: #""set":{"params":{"a":"number","b":"string?"},"live":true}"#)
    view.type("s")
    #expect(view.press(.tab) == [])
    #expect(view.type("x") == [], "a is not there")
    view.press(.up)
    #expect(
      view.type("1") == [ShownView.ask("set", ["a": .number(JSONNumber(1)), "b": .string("x")])])
  }

  @Test
  func `the end of a long text is visible during typing`() throws {
    var view = try ShownView(
      "room", props: "", intents: #""send":{"params":{"text":"string"},"main":true}"#)
    view.type(String(repeating: "word ", count: 200) + "end")
    #expect(view.screen.contains { $0.hasSuffix("end") })
    #expect(view.screen.count == view.height)
    view.height = 4
    #expect(view.screen.contains { $0.hasSuffix("end") })
  }
}
