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
    + #""open":{"params":{"id":"string","newest":"integer?"},"opens":"feed"}"#

  @Test
  func `a form for a new element is empty, a form for a row has its content`() throws {
    var view = try ShownView("feeds", props: Self.feeds, intents: Self.feedsIntents)
    view.type("a")
    #expect(view.session.form?.fields == ["", ""])
    view.press(.escape)
    view.type("m")
    #expect(view.session.form?.fields == ["swift", "https://swift.org/"])
    #expect(view.session.form?.current == 1)
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
    #""search":{"params":{"term":"string"},"live":true},"select":{"params":{"id":"string"}}"#

  private func term(_ text: String) -> ViewSession.Action {
    ShownView.ask("search", ["term": .string(text)])
  }

  @Test
  func `a live intent is sent at each key, and not again at the end`() throws {
    var view = try ShownView("search", props: Self.search, intents: Self.searchIntents)
    #expect(view.press(.enter) == [], "nothing is chosen, so one types")
    #expect(view.type("te") == [term("t"), term("te")])
    #expect(view.press(.up, .control("a")) == [], "what changes nothing asks nothing")
    #expect(view.press(.backspace) == [term("t")])
    #expect(view.press(.enter) == [])
    #expect(view.session.form == nil)
    try view.change(#""term":{"value":"t"},"results":{"value":[{"id":"a"}]}"#)
    view.type("s")
    #expect(view.session.form?.fields == ["t"], "one goes on typing")
    #expect(view.press(.escape) == [])
    #expect(view.press(.enter) == [ShownView.ask("select", ["id": .string("a")])])
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
    var view = try ShownView("room", props: "", intents: #""send":{"params":{"text":"string"}}"#)
    view.press(.enter)
    view.type(String(repeating: "word ", count: 200) + "end")
    #expect(view.screen.contains { $0.hasSuffix("end") })
    #expect(view.screen.count == view.height)
    view.height = 4
    #expect(view.screen.contains { $0.hasSuffix("end") })
  }
}
