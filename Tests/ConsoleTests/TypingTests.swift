import Console
import JSON
import Testing
import Wire

/// Typed text: it is sent, restored after a rejection, or reported as lost.
struct TypingTests {
  private static let room =
    #""name":{"kind":"state","value":"lobby"},"#
    + #""messages":{"kind":"list","value":[{"id":1,"time":"1","text":"a"}]}"#
  private static let intents =
    #""leave":{"params":{},"destructive":true},"send":{"params":{"text":"string"},"main":true}"#

  /// Returns the views of a user who has entered a room from the list of rooms.
  private func inRoom() throws -> ShownView {
    var view = try ShownView(
      "rooms", props: "", intents: #""create":{"params":{"name":"string","topic":"string?"}}"#)
    try view.push("room", props: Self.room, intents: Self.intents)
    return view
  }

  private func send(_ text: String) -> ViewSession.Action {
    ShownView.ask("send", ["text": .string(text)], of: "v.1")
  }

  // MARK: Pasting

  @Test
  func `a pasted text is inserted as text, and its lines press no keys`() throws {
    var view = try inRoom()
    #expect(view.press(.paste("hello\r\nlook at this\nquick\n")) == [])
    #expect(view.session.form?.fields == ["hello look at this quick"])
    #expect(view.press(.enter) == [send("hello look at this quick")])
  }

  @Test
  func `a text pasted outside a field does nothing`() throws {
    var view = try inRoom()
    view.press(.escape)
    let before = view.session.stack
    #expect(view.press(.paste("hello\nlook\nquick")) == [])
    view.type(" ")
    #expect(view.press(.paste("q\n")) == [])
    #expect(view.session.pane != nil)
    view.press(.escape)
    view.type("l")
    #expect(view.press(.paste("y")) == [], "and answers nothing")
    #expect(view.session.stack == before)
  }

  @Test
  func `a text pasted into a live intent is sent`() throws {
    var view = try ShownView(
      "search", props: "",
      intents: #""search":{"params":{"term":"string"},"main":true,"live":true}"#)
    #expect(view.press(.paste("tea")) == [ShownView.ask("search", ["term": .string("tea")])])
  }

  // MARK: A view that ends during typing

  @Test
  func `a notice appears if the view ends during typing, and keys do nothing`() throws {
    var view = try inRoom()
    view.type("hel")
    view.end("v.1")
    #expect(view.session.form == nil)
    #expect(view.type("lo") == [])
    #expect(view.press(.enter) == [])
    #expect(view.type("quick c") == [])
    #expect(view.session.form == nil, "c is no key here")
    let shown = view.screen.joined(separator: " ")
    #expect(shown.contains("the view 'room' has ended"))
    #expect(shown.contains("what you typed was not sent: hel"))
    view.press(.escape)
    #expect(view.session.notice == nil)
    view.type("c")
    #expect(view.session.form != nil)
  }

  @Test
  func `a notice appears if the view ends during a confirmation`() throws {
    var view = try inRoom()
    view.press(.escape)
    view.type("l")
    view.end("v.1")
    #expect(view.type("y") == [])
    #expect(view.session.notice != nil)
  }

  @Test
  func `a sent line that opens the next view leaves no notice`() throws {
    var view = try ShownView(
      "login", props: "", intents: #""log_in":{"params":{"name":"string"},"main":true}"#)
    view.type("kim")
    view.press(.enter)
    #expect(view.session.form?.fields == [""])
    try view.push("main", style: "replace", props: "")
    #expect(view.session.notice == nil)
    #expect(view.session.form == nil)
  }

  @Test
  func `the reason for the end of the last view is available`() throws {
    var view = try ShownView("room", props: Self.room, intents: Self.intents)
    view.end("v")
    #expect(view.session.notice == nil)
    #expect(
      view.session.ending == "the view 'room' has ended: what it showed was removed or left")
    var failed = try ShownView("room", props: Self.room)
    try failed.session.receive(
      "fail", ["view": .string("v"), "error": .object(["message": .string("too long")])])
    #expect(failed.session.ending == "the view 'room' has failed: too long")
  }

  // MARK: Rejected intents

  @Test
  func `a rejected form opens again with the typed text`() throws {
    var view = try ShownView(
      "rooms", props: "", intents: #""create":{"params":{"name":"string","topic":"string?"}}"#)
    view.type("clobby")
    view.press(.enter)
    view.type("all")
    #expect(view.press(.enter).count == 1)
    view.send(as: 7)
    #expect(view.session.form == nil)
    view.session.answer(7, fault: "there is one already")
    #expect(view.session.form?.fields == ["lobby", "all"])
    #expect(view.screen.last == "there is one already")
    view.type("!")
    #expect(
      view.press(.enter)
        == [ShownView.ask("create", ["name": .string("lobby"), "topic": .string("all!")])])
    view.send(as: 8)
    view.session.answer(8, fault: nil)
    #expect(view.session.form == nil)
    #expect(view.session.message == "")
  }

  @Test
  func `a rejected line is restored when the next one is sent`() throws {
    var view = try inRoom()
    view.type("too long")
    view.press(.enter)
    view.send(as: 1)
    view.type("next")
    view.session.answer(1, fault: "too long")
    #expect(view.session.form?.fields == ["next"], "what one types is not torn away")
    #expect(view.press(.enter) == [send("next")])
    view.send(as: 2)
    view.session.answer(2, fault: nil)
    #expect(view.session.form?.fields == ["too long"])
    view.press(.escape)
    #expect(view.session.form == nil)
  }

  @Test
  func `a rejected text is restored only in its own view`() throws {
    var view = try ShownView("main", props: "")
    let write = #""send":{"params":{"text":"string"}}"#
    try view.push("one", style: "tab", props: "", intents: write)
    try view.session.receive(
      "opened",
      [
        "view": .string("v.2"), "parent": .string("v"), "binder": .string("two"),
        "style": .string("tab"), "props": .object([:]), "intents": .object([:]),
      ])
    view.type("s")
    view.type("x")
    view.press(.enter)
    view.send(as: 1)
    view.type("s")
    view.type("y")
    view.session.answer(1, fault: "no")
    view.press(.tab)
    #expect(view.session.form?.fields == ["y"])
    view.press(.escape)
    #expect(view.session.form?.fields == ["x"])
    view.press(.enter)
    view.send(as: 2)
    view.press(.tab)
    #expect(view.session.stack.frontView?.binder == "two")
    view.session.answer(2, fault: "no")
    view.press(.up)
    #expect(view.session.form == nil)
  }

  @Test
  func `a rejection for a closed view shows only the message`() throws {
    var view = try inRoom()
    view.type("x")
    view.press(.enter, .escape)
    view.send(as: 1)
    view.end("v.1")
    view.session.answer(1, fault: "no")
    #expect(view.session.form == nil)
    #expect(view.session.message == "no")
  }

  // MARK: Destructive intents

  @Test
  func `a destructive intent needs a confirmation`() throws {
    var view = try inRoom()
    view.press(.escape)
    #expect(view.type("l") == [])
    #expect(view.screen.suffix(3).prefix(2) == ["leave lobby?", "y yes   n no"])
    for key in [Key.character("n"), .escape, .enter, .control("c")] {
      #expect(view.press(key) == [])
      #expect(view.session.question == nil)
      view.type("l")
    }
    #expect(view.type("xl") == [], "nothing else answers")
    #expect(view.type("y") == [ShownView.ask("leave", [:], of: "v.1")])
    #expect(view.session.question == nil)
  }

  @Test
  func `the confirmation for a row shows its name, and enter never removes`() throws {
    var view = try ShownView(
      "people", props: #""people":{"kind":"list","value":[{"id":7,"name":"Kim"}]}"#,
      intents: #""remove":{"params":{"id":"integer"},"destructive":true}"#)
    let remove = ShownView.ask("remove", ["id": .number(JSONNumber(7))])
    #expect(view.press(.enter) == [])
    #expect(view.session.question == nil)
    view.press(.escape)
    view.type("r")
    #expect(view.session.question?.text == "remove 'Kim'")
    #expect(view.type("y") == [remove])
  }

  @Test
  func `the confirmation for a feed shows its title`() throws {
    var view = try ShownView(
      "feed", props: #""feed":{"kind":"loading","value":{"id":"s","title":"Swift.org"}}"#,
      intents: #""unsubscribe":{"params":{},"destructive":true}"#)
    view.type("u")
    #expect(view.session.question?.text == "unsubscribe Swift.org")
    view.type("n")
    try view.change(#""feed":{"value":{"id":"s"}}"#)
    view.type("u")
    #expect(view.session.question?.text == "unsubscribe s", "until it was read")
  }
}
