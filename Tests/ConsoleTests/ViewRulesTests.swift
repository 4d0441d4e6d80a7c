import Console
import JSON
import Testing
import Wire

/// The rules by which a view offers intents, lists, tabs and answers.
struct ViewRulesTests {
  private static let things =
    #""things":{"kind":"list","hides":["id"],"members":{"when":"time"},"value":["#
    + #"{"id":0,"thing":"bread","note":null},{"id":1,"thing":"tea","note":"green"}]}"#
  private static let rename =
    #""rename":{"params":{"id":"integer","value":"string"},"list":"things","#
    + #""fields":{"value":{"from":"thing"}}}"#
  private static let drop =
    #""drop":{"params":{"id":"integer"},"list":"things","destructive":true}"#

  private func id(_ number: Int) -> JSONObject { ["id": .number(JSONNumber(number))] }

  // MARK: Enter

  @Test
  func `enter runs the main intent of the view, also with rows`() throws {
    var view = try ShownView(
      "jobs", props: Self.things,
      intents: #""run":{"params":{"name":"string","count":"integer"},"main":true},"#
        + #""again":{"params":{"id":"integer"},"list":"things"}"#)
    #expect(view.screen[22] == "enter run…   a again   space more   q quit   ? keys")
    #expect(view.press(.enter) == [])
    #expect(view.session.form?.intent.name == "run")
  }

  @Test
  func `without a main intent, enter shows the whole row`() throws {
    var view = try ShownView(
      "shop", props: Self.things,
      intents: #""bought":{"params":{"id":"integer"},"list":"things"}"#)
    #expect(view.screen[22] == "enter show   b bought   q quit   ? keys")
    #expect(view.press(.enter) == [])
    #expect(view.session.pane != nil)
    #expect(view.screen.contains("thing  bread"))
    view.press(.enter)
    #expect(view.session.pane == nil)
  }

  @Test
  func `an empty field sends nothing, whatever the rows offer`() throws {
    var view = try ShownView(
      "shop", props: Self.things,
      intents: #""add":{"params":{"value":"string"},"main":true},"#
        + #""bought":{"params":{"id":"integer"},"list":"things"}"#)
    #expect(view.session.form?.intent.name == "add", "the field is open")
    #expect(view.press(.enter) == [])
    #expect(view.press(.escape, .character("b")) == [ShownView.ask("bought", id(0))])
  }

  @Test
  func `the main intent of a row comes before that of the view`() throws {
    var view = try ShownView(
      "shop", props: Self.things,
      intents: #""add":{"params":{},"main":true},"#
        + #""bought":{"params":{"id":"integer"},"list":"things","main":true}"#)
    #expect(view.press(.enter) == [ShownView.ask("bought", id(0))])
    try view.change(#""things":{"value":[]}"#)
    #expect(view.press(.enter) == [ShownView.ask("add", [:])])
  }

  @Test
  func `an id that is asked for is that of no row`() throws {
    var view = try ShownView(
      "booking", props: Self.things,
      intents: #""cancel":{"params":{"id":"integer"},"rowless":true,"destructive":true}"#)
    view.type("c")
    #expect(view.session.form?.fields == [""])
    view.type("7")
    view.press(.enter)
    #expect(view.session.question?.text == "cancel id 7")
  }

  // MARK: Questions

  @Test
  func `a question names the row by what it shows`() throws {
    var view = try ShownView("shop", props: Self.things, intents: Self.drop)
    view.press(.down)
    view.type("d")
    #expect(view.session.question?.text == "drop 'tea'")
    view.type("n")
    try view.change(#""things":{"value":[{"id":0,"number":7,"room":"blue","day":"Monday"}]}"#)
    view.type("d")
    #expect(view.session.question?.text == "drop '7 blue Monday'", "a number alone says little")
  }

  // MARK: Lists

  @Test
  func `two lists are shown, and arrows lead from one to the other`() throws {
    var view = try ShownView(
      "booking",
      props: #""rooms":{"kind":"list","value":[{"id":"a","room":"blue"},{"id":"b","room":"red"}]},"#
        + #""bookings":{"kind":"list","value":[{"id":"1","day":"Monday"},{"id":"2","day":"Friday"}]}"#,
      intents: #""choose":{"params":{"id":"string"},"list":"rooms","main":true},"#
        + #""forget":{"params":{"id":"string"},"list":"bookings"}"#)
    #expect(view.line("rooms") == "rooms (2)")
    #expect(view.line("bookings") == "bookings (2)")
    #expect(view.line("> ")?.contains("blue") == true)
    #expect(view.screen.contains { $0.contains("1   Monday") })
    #expect(view.session.keys.map(\.intent.name) == ["choose"])
    view.press(.down, .down)
    #expect(view.session.list?.name == "bookings")
    #expect(view.line("> ")?.contains("Monday") == true)
    #expect(view.session.keys.map(\.intent.name) == ["forget"])
    view.press(.down)
    #expect(view.type("f") == [ShownView.ask("forget", ["id": .string("2")])])
    view.press(.up, .up)
    #expect(view.press(.enter) == [ShownView.ask("choose", ["id": .string("b")])])
    for height in [1, 4, 8, 12] {
      view.height = height
      #expect(view.screen.count == height)
    }
  }

  @Test
  func `the chosen row stays when the only list comes back under another name`() throws {
    var view = try ShownView("shop", props: Self.things)
    view.press(.down)
    view.session.lose("")
    try view.open(
      "shop", props: Self.things.replacing(#""things""#, with: #""goods""#))
    #expect(view.session.list?.name == "goods")
    #expect(view.session.row == 1)
  }

  // MARK: Tabs

  @Test
  func `a view is shown above its tabs, which have texts of their own`() throws {
    var view = try ShownView(
      "rr", props: Self.things,
      intents: #""choose":{"params":{"id":"integer"},"list":"things","main":true}"#)
    for (i, title) in ["Everything", "Nothing"].enumerated() {
      try view.session.receive(
        "opened",
        [
          "view": .string("v.\(i)"), "parent": .string("v"), "binder": .string("system"),
          "style": .string("tab"), "title": .string(title),
          "props": .object(["load": .object(["value": .number(JSONNumber(i + 5))])]),
          "intents": .object([:]),
        ])
    }
    #expect(view.screen[0] == "rr")
    #expect(view.line("> ") == "> bread  –")
    #expect(view.screen.contains("[Everything]  Nothing"))
    #expect(view.line("load") == "load  5")
    #expect(view.press(.enter) == [ShownView.ask("choose", id(0))])
    view.press(.tab, .tab)
    #expect(view.screen[0] == "rr › Nothing")
    #expect(view.screen.contains(" Everything  [Nothing]"))
    #expect(view.line("load") == "load  6")
    #expect(view.screen.contains { $0.hasPrefix("  bread") }, "the view is there, too")
    view.press(.tab)
    #expect(view.screen[0] == "rr")
    #expect(view.line("load") == "load  6")
    try view.push("room", props: "", as: "v.3")
    #expect(view.screen[0] == "rr › room")
    view.end("v.3")
    #expect(view.screen[0] == "rr", "where one was")
  }

  // MARK: Answers

  @Test
  func `an answer is shown until the next key`() throws {
    var view = try ShownView(
      "booking", props: Self.things, intents: #""free":{"params":{},"answers":true}"#)
    func answer(_ value: JSONValue) {
      view.type("f")
      view.send(as: 1)
      view.session.answer(1, fault: nil, value: value)
    }
    answer(.array([.string("blue"), .string("red")]))
    #expect(view.screen[23] == "free: blue, red")
    view.press(.down)
    #expect(view.screen[23] == "")
    answer(.array([]))
    #expect(view.screen[23] == "free: nothing")
    answer(.array([.object(["room": .string("blue"), "seats": .number(JSONNumber(4))])]))
    #expect(view.screen[2...5] == ["free", "", "room  seats", "blue  4"])
    view.press(.escape)
    #expect(view.line("> ") != nil)
    answer(.object(["load": .number(JSONNumber(4))]))
    #expect(view.screen.contains("load  4"))
  }

  // MARK: Forms

  @Test
  func `an intent with a condition is offered for the rows that meet it`() throws {
    var view = try ShownView(
      "shop", props: Self.things,
      intents: #""ask":{"params":{"id":"integer"},"list":"things","when_row":"note","main":true},"#
        + #""write":{"params":{"id":"integer"},"list":"things","unless_row":"note"}"#)
    #expect(view.session.keys.map(\.intent.name) == ["write"])
    #expect(view.press(.character("a")) == [])
    view.press(.down)
    #expect(view.session.keys.map(\.intent.name) == ["ask"])
    #expect(view.press(.enter) == [ShownView.ask("ask", id(1))])
  }

  @Test
  func `a text of the row is removed by entering it empty twice`() throws {
    var view = try ShownView("shop", props: Self.things, intents: Self.rename)
    view.type("r")
    view.press(.control("u"))
    #expect(view.press(.enter) == [])
    view.press(.control("u"))
    #expect(view.press(.enter) == [], "a key in between says it again")
    var sent = id(0)
    sent["value"] = .string("")
    #expect(view.press(.enter) == [ShownView.ask("rename", sent)])
  }

  @Test
  func `what the row has is sent as it is, also if the form shows less of it`() throws {
    let at = "2026-12-31T18:00:00.123456Z"
    var view = try ShownView(
      "shop", props: #""things":{"kind":"list","value":[{"id":0,"at":"\#(at)","n":0.10}]}"#,
      intents: #""move":{"params":{"id":"integer","at":"string","n":"any"},"list":"things","#
        + #""fields":{"at":{"format":"time"}}}"#)
    view.type("m")
    view.press(.down)
    var sent = id(0)
    sent["at"] = .string(at)
    sent["n"] = .number(try #require(JSONNumber("0.10")))
    #expect(view.press(.enter) == [ShownView.ask("move", sent)])
  }

  @Test
  func `a form is filled from the row, and refuses what does not fit`() throws {
    var view = try ShownView(
      "shop", props: Self.things,
      intents: Self.rename
        + #","book":{"params":{"day":"string","from":"string","seats":"integer","on":"boolean"},"#
        + #""fields":{"day":{"format":"date"},"from":{"format":"time"}}},"#
        + #""open":{"params":{"at":"string"},"fields":{"at":{"format":"clock"}}}"#)
    view.type("r")
    #expect(view.session.form?.fields == ["bread"])
    view.press(.control("u"))
    #expect(view.press(.enter) == [])
    #expect(view.session.message == "'value' is empty; enter again sends it so")
    view.type("rye")
    #expect(view.session.message == "")
    #expect(view.press(.enter).count == 1)
    view.type("b")
    func send(_ fields: String...) -> String {
      for field in fields {
        view.press(.control("u"))
        view.type(field)
        view.press(field == fields.last ? .enter : .down)
      }
      let message = view.session.message
      // The field that is wrong is the active one; the first is the next.
      while view.session.form?.current != 0, view.session.form != nil { view.press(.up) }
      return message
    }
    #expect(view.line("  seats") == "  seats  a whole number such as 12")
    #expect(send("31.12.2026", "9:30", "4", "no") == "'day' takes a date such as 2026-12-31")
    #expect(send("2026-02-30", "9:30", "4", "no") == "'day' takes a date such as 2026-12-31")
    #expect(
      send("2026-12-31", "25:00", "4", "no")
        == "'from' takes a time such as 09:30 or 2026-12-31 12:00")
    #expect(send("2026-12-31", "09:30", "4.5", "no") == "'seats' takes a whole number such as 12")
    #expect(send("2026-12-31", "09:30", "4", "on") == "'on' takes yes or no")
    #expect(send("2026-12-31", "09:30", "4", "yes") == "")
    #expect(view.session.form == nil)
    view.type("o9:30")
    view.press(.enter)
    #expect(view.session.message == "'at' takes a time of day such as 18:00")
  }

  @Test
  func `a form sends what is in a row with the type of its parameter`() throws {
    let rows = #"{"kind":"list","value":[{"id":1,"n":5,"at":"2026-01-02T03:04:05.678901Z"}]}"#
    var view = try ShownView(
      "shop", props: #""things":\#(rows)"#,
      intents: #""put":{"params":{"n":"string","at":"string"},"list":"things","#
        + #""fields":{"n":{"from":"n"},"at":{"format":"time","from":"at"}}}"#)
    view.type("p")
    view.press(.down)
    #expect(
      view.press(.enter) == [
        ShownView.ask(
          "put", ["n": .string("5"), "at": .string("2026-01-02T03:04:05.678901Z")])
      ])
  }

  @Test
  func `a message stays until the next key`() throws {
    var view = try ShownView("shop", props: Self.things)
    view.press(.escape)
    #expect(view.session.message == "there is nothing to go back to; q quits")
    view.press(.down)
    #expect(view.session.message == "")
  }
}
