import Console
import JSON
import Testing
import Wire

@Suite
struct ViewSessionTests {
  private var session = ViewSession()

  init() throws {
    try open(
      #"{"view":"v1","binder":"rooms","seq":1,"props":{"title":{"kind":"state","value":"Rooms"},"#
        + #""rooms":{"kind":"list","value":[{"id":1,"name":"general"},{"id":2,"name":"lunch"}]}},"#
        + #""intents":{"create":{"params":{"name":"string","topic":"string?"}},"#
        + #""enter":{"params":{"id":"integer"},"opens":"room","main":true},"#
        + #""refresh":{"params":{}}}}"#)
  }

  private mutating func open(_ answer: String) throws { session.open(try object(answer)) }

  private mutating func take(_ method: String, _ params: String) throws {
    try session.receive(method, try object(params))
  }

  private func object(_ text: String) throws -> JSONObject {
    guard case .object(let object) = try JSONValue(parsing: text) else { return [:] }
    return object
  }

  private mutating func type(_ text: String) -> ViewSession.Action? {
    var action: ViewSession.Action?
    for character in text { action = session.press(.character(character)) }
    return action
  }

  private var v1: Handle { .name("v1") }

  @Test
  mutating func `changes from the daemon are applied`() throws {
    try take(
      "next",
      #"{"view":"v1","seq":2,"props":{"title":{"value":"All"},"rooms":{"changes":["#
        + #"{"op":"insert","at":1,"value":"x"},{"op":"move","from":0,"to":2},{"op":"remove","at":1},"#
        + #"{"op":"update","at":0,"value":"y"}]}}}"#)
    let view = try #require(session.stack.frontView)
    #expect(view.properties["title"]?.value == .string("All"))
    #expect(
      view.properties["rooms"]?.elements?.map(\.text.text) == [
        #""y""#, #"{"id":1,"name":"general"}"#,
      ])
    try take("next", #"{"view":"v1","seq":2,"props":{"rooms":{"gone":true}}}"#)
    #expect(session.stack.frontView?.properties["rooms"]?.value == nil)
  }

  @Test
  mutating func `a key sends an intent without arguments, and opens a form for others`() throws {
    #expect(session.keys.map { "\($0.key)" } == ["c", "e", "r"])
    #expect(type("r") == .ask(v1, intent: "refresh", [:]))
    #expect(type("c") == nil)
    #expect(type("quiet") == nil, "keys are text in a form")
    #expect(session.press(.enter) == nil)
    #expect(
      session.press(.enter) == .ask(v1, intent: "create", ["name": .string("quiet")]),
      "what may be left out and is empty is left out")
    #expect(session.form == nil)
    _ = type("c")
    #expect(session.press(.escape) == nil)
    #expect(session.form == nil)
  }

  @Test
  mutating func `enter sends the intent whose arguments the chosen row has`() {
    _ = session.press(.down)
    _ = session.press(.down)
    #expect(session.row == 1)
    #expect(session.press(.enter) == .ask(v1, intent: "enter", ["id": .number(JSONNumber(2))]))
  }

  @Test
  mutating func `views open and close at the front; escape closes the front view`() throws {
    let room =
      #"{"view":"v1.1","seq":2,"parent":"v1","binder":"room","style":"push","props":{},"intents":{}}"#
    try take("opened", room)
    #expect(session.stack.path.map(\.binder) == ["rooms", "room"])
    #expect(session.press(.escape) == .close(.name("v1.1")))
    try take("closed", #"{"view":"v1.1","seq":2,"reason":"dismissed"}"#)
    #expect(session.stack.front == v1)
    #expect(session.press(.escape) == nil)
    #expect(session.press(.left) == nil)
    #expect(session.message == "there is nothing to go back to; q quits")
    #expect(session.press(.character("q")) == .quit)
  }

  @Test
  mutating func `tab switches between a view and its tabs, each with the views opened from it`()
    throws
  {
    for (i, name) in ["rooms", "people"].enumerated() {
      try take(
        "opened",
        #"{"view":"v1.\#(i)","seq":2,"parent":"v1","binder":"\#(name)","style":"tab","props":{},"intents":{}}"#
      )
    }
    try take(
      "opened",
      #"{"view":"v1.0.1","seq":2,"parent":"v1.0","binder":"room","style":"push","props":{},"intents":{}}"#
    )
    #expect(session.stack.front == .name("v1.0.1"))
    _ = session.press(.tab)
    #expect(session.stack.front == .name("v1.1"))
    _ = session.press(.tab)
    #expect(session.stack.front == v1, "it has intents")
    _ = session.press(.tab)
    #expect(session.stack.front == .name("v1.0.1"))
  }

  @Test
  mutating func `the screen fits the terminal, and control characters do not change that`()
    throws
  {
    try take("next", #"{"view":"v1","seq":2,"props":{"title":{"value":"a\u001b[2Jb"}}}"#)
    let lines = ViewScreen(Style(isOn: false), width: 30, height: 9).lines(session)
    #expect(lines.count == 9)
    #expect(lines.allSatisfy { $0.columns <= 30 })
    #expect(lines[0] == "rooms")
    #expect(lines[1] == "title  a·[2Jb")
    #expect(lines[2] == "rooms (2)")
    #expect(lines[3].hasPrefix("> general"))
    #expect(lines[7] == "enter open   c create…   …")
    #expect(lines[8] == "space more   q quit   ? keys")
  }

  @Test
  mutating func `a long list shows the rows around the chosen row`() throws {
    let rows = (0..<100).map { #"{"id":\#($0)}"# }.joined(separator: ",")
    try take("next", #"{"view":"v1","seq":2,"props":{"rooms":{"value":[\#(rows)]}}}"#)
    for _ in 0..<5 { _ = session.press(.pageDown) }
    let lines = ViewScreen(Style(isOn: false), width: 30, height: 12).lines(session)
    #expect(lines.contains { $0.hasPrefix("> 50") })
    _ = session.press(.end)
    let end = ViewScreen(Style(isOn: false), width: 30, height: 12).lines(session)
    #expect(end.contains { $0.hasPrefix("> 99") })
  }

  @Test
  mutating func `rows are shown in columns under the names of their members`() throws {
    try take(
      "next",
      #"{"view":"v1","seq":2,"props":{"rooms":{"value":[{"id":1,"joined":true,"name":"general"},"#
        + #"{"id":12,"joined":false,"name":"a"}]}}}"#)
    let lines = ViewScreen(Style(isOn: false), width: 30, height: 14).lines(session)
    #expect(lines[4].hasPrefix("  joined  name"), "a number says nothing to people")
    #expect(lines[5].hasPrefix("> yes     general"))
    #expect(lines[6].hasPrefix("  no      a"))
  }

  @Test
  mutating func `a log shows its end, and enter writes line after line`() throws {
    try take(
      "opened",
      #"{"view":"r","seq":2,"parent":"v1","binder":"room","style":"push","props":{"messages":"#
        + #"{"kind":"list","value":[{"id":1,"time":"1","text":"a"},{"id":2,"time":"2","text":"b"}]}},"#
        + #""intents":{"remove":{"params":{"id":"integer"}},"edit":{"params":{"id":"integer","text":"#
        + #""string"}},"send":{"params":{"text":"string"},"main":true}}}"#)
    #expect(session.row == 1)
    #expect(session.form?.intent.name == "send", "the field is open")
    _ = type("hi")
    #expect(session.press(.enter) == .ask(.name("r"), intent: "send", ["text": .string("hi")]))
    #expect(session.form?.fields == [""], "the next line")
    try take(
      "next",
      #"{"view":"r","seq":3,"props":{"messages":{"changes":[{"op":"insert","at":2,"value":"#
        + #"{"id":3,"time":"3","text":"hi"}}]}}}"#)
    #expect(session.row == 2, "what is new is seen")
    _ = session.press(.up)
    #expect(session.row == 1, "one looks back while one writes")
    _ = session.press(.escape)
    #expect(session.form == nil)
    _ = type("e")
    #expect(session.form?.fields == ["b"], "the text is edited, and not the number")
    #expect(session.form?.arguments == ["id": .number(JSONNumber(2)), "text": .string("b")])
  }

  @Test
  mutating func `the form of a presented view has the values of the view`() throws {
    try take(
      "opened",
      #"{"view":"e","seq":2,"parent":"v1","binder":"edit","style":"present","props":{"name":{"kind":"#
        + #""state","value":"kim"}},"intents":{"save":{"params":{"name":"string"}}}}"#)
    _ = type("s")
    #expect(session.form?.fields == ["kim"])
  }
}
