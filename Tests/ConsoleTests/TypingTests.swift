import Console
import JSON
import Testing
import Wire

/// What becomes of what somebody types: it is sent, comes back, or is told to be lost.
struct TypingTests {
  private static let room =
    #""name":{"kind":"state","value":"lobby"},"#
    + #""messages":{"kind":"list","value":[{"id":1,"time":"1","text":"a"}]}"#
  private static let intents =
    #""leave":{"params":{},"destructive":true},"send":{"params":{"text":"string"}}"#

  /// Somebody who is in a room that was entered from the rooms.
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
  func `a pasted text is text, and its lines are none of the keys`() throws {
    var view = try inRoom()
    view.press(.enter)
    #expect(view.press(.paste("hello\r\nlook at this\nquick\n")) == [])
    #expect(view.session.form?.fields == ["hello look at this quick"])
    #expect(view.press(.enter) == [send("hello look at this quick")])
  }

  @Test
  func `a text that is pasted where nobody types does nothing`() throws {
    var view = try inRoom()
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
  func `a text that is pasted into a live intent is asked`() throws {
    var view = try ShownView(
      "search", props: "", intents: #""search":{"params":{"term":"string"},"live":true}"#)
    view.press(.enter)
    #expect(view.press(.paste("tea")) == [ShownView.ask("search", ["term": .string("tea")])])
  }

  // MARK: A view that ends while one types

  @Test
  func `who types when the view ends is told, and types nothing else`() throws {
    var view = try inRoom()
    view.press(.enter)
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
  func `who is asked about something in a view that ends is told as well`() throws {
    var view = try inRoom()
    view.type("l")
    view.end("v.1")
    #expect(view.type("y") == [])
    #expect(view.session.notice != nil)
  }

  @Test
  func `a line that has opened the next view leaves nothing to read`() throws {
    var view = try ShownView("login", props: "", intents: #""login":{"params":{"name":"string"}}"#)
    view.press(.enter)
    view.type("kim")
    view.press(.enter)
    #expect(view.session.form?.fields == [""])
    try view.push("main", style: "replace", props: "")
    #expect(view.session.notice == nil)
    #expect(view.session.form == nil)
  }

  @Test
  func `how the last view has ended is known`() throws {
    var view = try ShownView("room", props: Self.room, intents: Self.intents)
    view.end("v")
    #expect(view.session.notice == nil)
    #expect(
      view.session.ending == "the view 'room' has ended: what it showed was removed or left")
    var failed = try ShownView("room", props: Self.room)
    failed.session.take(
      "fail", ["view": .string("v"), "error": .object(["message": .string("too long")])])
    #expect(failed.session.ending == "the view 'room' has failed: too long")
  }

  // MARK: What is refused

  @Test
  func `a form that is refused comes back with what was typed`() throws {
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
  func `a line that is refused comes back when the next one is sent`() throws {
    var view = try inRoom()
    view.press(.enter)
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
  func `what is refused comes back in its own view only`() throws {
    var view = try ShownView("main", props: "")
    let write = #""send":{"params":{"text":"string"}}"#
    try view.push("one", style: "tab", props: "", intents: write)
    view.session.take(
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
  func `what is refused to a view that one has left is told alone`() throws {
    var view = try inRoom()
    view.press(.enter)
    view.type("x")
    view.press(.enter, .escape)
    view.send(as: 1)
    view.end("v.1")
    view.session.answer(1, fault: "no")
    #expect(view.session.form == nil)
    #expect(view.session.message == "no")
  }

  // MARK: What takes something away

  @Test
  func `what takes something away is asked about before`() throws {
    var view = try inRoom()
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
  func `of a row it is asked by its name, and with enter as well`() throws {
    var view = try ShownView(
      "people", props: #""people":{"kind":"list","value":[{"id":7,"name":"Kim"}]}"#,
      intents: #""remove":{"params":{"id":"integer"},"destructive":true}"#)
    let remove = ShownView.ask("remove", ["id": .number(JSONNumber(7))])
    #expect(view.press(.enter) == [])
    #expect(view.session.question?.text == "remove Kim")
    #expect(view.type("y") == [remove])
    view.type("r")
    #expect(view.press(.enter) == [])
    #expect(view.session.question?.text == "remove Kim")
    #expect(view.type("y") == [remove])
  }

  @Test
  func `a feed is asked about by its title`() throws {
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
