import Console
import JSON
import Testing
import Wire

/// The views of a user while the daemon is unreachable, and after it returns.
struct LostViewTests {
  private static let room =
    #""messages":{"kind":"list","value":[{"id":1,"time":"1","text":"a"}]}"#
  private static let intents =
    #""send":{"params":{"text":"string"},"main":true},"older":{"params":{}}"#

  @Test
  func `a lost view stays on screen, sends nothing, and keeps the typed text`() throws {
    var view = try ShownView("room", props: Self.room, intents: Self.intents)
    view.type("hello")
    view.session.lose("waiting for the daemon")
    #expect(view.screen.contains { $0.contains("waiting for the daemon") })
    #expect(view.screen.contains { $0.contains("> 1     a") })
    #expect(view.press(.enter) == [])
    #expect(view.session.form?.fields == ["hello"])
    try view.open("room", props: Self.room, intents: Self.intents)
    #expect(!view.screen.contains { $0.contains("waiting") })
    #expect(view.press(.enter) == [ShownView.ask("send", ["text": .string("hello")])])
    view.press(.escape)
    view.session.lose("")
    #expect(view.type("o") == [])
    #expect(view.type("q") == [.quit])
  }

  @Test
  func `a form is closed if its view does not exist any more`() throws {
    var view = try ShownView("chat", props: "")
    try view.push("room", props: Self.room, intents: Self.intents)
    view.type("x")
    view.session.lose("")
    #expect(try view.open("chat", props: "") == .sync, "it may come by itself")
    #expect(view.session.form != nil)
    view.session.send(.sync, as: 1)
    #expect(view.session.next() == nil)
    view.session.answer(1, fault: nil)
    #expect(view.session.next() == nil)
    #expect(view.session.form == nil)
    #expect(view.session.notice?.hasPrefix("the daemon is back") == true)
  }

  // MARK: Behind a login

  private static let login =
    #""log_in":{"params":{"name":"string"},"main":true},"choose":{"params":{"id":"string"}}"#
  private static let rooms =
    #""rooms":{"kind":"list","value":[{"id":1,"name":"a"},{"id":2,"name":"b"}]}"#
  private static let enter = #""enter":{"params":{"id":"integer"},"opens":"room","main":true}"#

  /// Returns the views of a user who has logged in and entered a room.
  private func inRoom() throws -> ShownView {
    var view = try ShownView("chat", props: "")
    try view.push("login", style: "replace", props: "", intents: Self.login, as: "v.1")
    view.type("kim")
    view.press(.enter)
    view.send(as: 1)
    view.session.answer(1, fault: nil)
    view.end("v.1", "replaced")
    try enterMain(&view, "v.2")
    view.press(.down)
    #expect(
      view.press(.enter) == [ShownView.ask("enter", ["id": .number(JSONNumber(2))], of: "v.2.1")])
    view.send(as: 2)
    view.session.answer(2, fault: nil, opened: .name("v.2.1.1"))
    try view.push(
      "room", props: Self.room, intents: Self.intents, as: "v.2.1.1", from: "v.2.1")
    return view
  }

  private func enterMain(_ view: inout ShownView, _ main: String) throws {
    try view.push("main", style: "replace", props: "", as: main)
    try view.push(
      "rooms", style: "tab", props: Self.rooms, intents: Self.enter, as: main + ".1", from: main)
    try view.push("profile", style: "tab", props: "", as: main + ".2", from: main)
  }

  /// Expects the next action, and sends it as a request.
  private func asks(
    _ view: inout ShownView, _ action: ViewSession.Action, as request: Int
  ) {
    #expect(view.session.next() == action)
    view.session.send(action, as: request)
    #expect(view.session.next() == nil, "one after the other")
  }

  @Test
  func `the login and the room are restored, and the typed text is kept`() throws {
    var view = try inRoom()
    view.type("hello")
    view.session.lose("waiting for the daemon")
    // The login view is not open yet.
    #expect(try view.open("chat", props: "") == .sync)
    view.session.send(.sync, as: 3)
    try view.push("login", style: "replace", props: "", intents: Self.login, as: "v.1")
    view.session.answer(3, fault: nil)
    asks(&view, ShownView.ask("log_in", ["name": .string("kim")], of: "v.1"), as: 4)
    view.session.answer(4, fault: nil)
    asks(&view, .sync, as: 5)
    view.end("v.1", "replaced")
    // The handles differ from the previous ones.
    try enterMain(&view, "v.9")
    view.session.answer(5, fault: nil)
    view.type(" you")
    asks(
      &view, ShownView.ask("enter", ["id": .number(JSONNumber(2))], of: "v.9.1"), as: 6)
    #expect(view.screen.contains { $0.contains("waiting") })
    view.session.answer(6, fault: nil, opened: .name("v.9.1.1"))
    try view.push(
      "room", props: Self.room, intents: Self.intents, as: "v.9.1.1", from: "v.9.1")
    #expect(view.session.next() == nil)
    #expect(!view.screen.contains { $0.contains("waiting") })
    #expect(view.session.form?.fields == ["hello you"])
    #expect(view.session.notice == nil)
    #expect(
      view.press(.enter)
        == [ShownView.ask("send", ["text": .string("hello you")], of: "v.9.1.1")])
    view.press(.escape)
    #expect(view.press(.escape) == [.close(.name("v.9.1.1"))])
    view.end("v.9.1.1")
    #expect(view.session.row == 1, "the row that was chosen")
    // Once more: the views can be restored after a second loss.
    view.session.lose("")
    #expect(try view.open("chat", props: "") == .sync)
  }

  @Test
  func `a login name that another user has taken ends the restoration with a notice`() throws {
    var view = try inRoom()
    view.type("hello")
    view.session.lose("")
    _ = try view.open("chat", props: "")
    view.session.send(.sync, as: 3)
    try view.push("login", style: "replace", props: "", intents: Self.login, as: "v.1")
    view.session.answer(3, fault: nil)
    asks(&view, ShownView.ask("log_in", ["name": .string("kim")], of: "v.1"), as: 4)
    view.session.answer(4, fault: "kim is somebody else")
    #expect(view.session.next() == nil)
    #expect(view.session.message == "kim is somebody else")
    #expect(
      view.session.notice
        == "the daemon is back, but the view you were typing in is gone; what you typed was not sent: hello"
    )
    #expect(view.session.stack.frontView?.binder == "login")
  }

  @Test
  func `a loss during the restoration starts it again`() throws {
    var view = try inRoom()
    view.type("hello")
    view.session.lose("")
    _ = try view.open("chat", props: "")
    view.session.send(.sync, as: 3)
    view.session.lose("")
    #expect(view.session.next() == nil)
    try view.open("chat", props: "")
    view.session.send(.sync, as: 1)
    try view.push("login", style: "replace", props: "", intents: Self.login, as: "v.1")
    view.session.answer(1, fault: nil)
    asks(&view, ShownView.ask("log_in", ["name": .string("kim")], of: "v.1"), as: 2)
    #expect(view.session.form?.fields == ["hello"])
  }

  @Test
  func `an intent that creates something is not repeated`() throws {
    var view = try ShownView(
      "people", props: #""people":{"kind":"list","value":[]}"#,
      intents: #""create":{"params":{"name":"string"}}"#)
    view.press(.character("c"))
    view.type("Kim")
    view.press(.enter)
    view.send(as: 1)
    view.session.answer(1, fault: nil, opened: .name("v.1"))
    try view.push("person", props: "")
    view.session.lose("")
    #expect(try view.open("people", props: "", intents: "") == .sync)
    view.session.send(.sync, as: 2)
    view.session.answer(2, fault: nil)
    #expect(view.session.next() == nil)
    #expect(view.session.stack.frontView?.binder == "people")
    #expect(!view.session.isAway)
  }

  @Test
  func `a live intent is sent again with the typed text`() throws {
    let intents = #""search":{"params":{"term":"string"},"main":true,"live":true}"#
    let tea = ShownView.ask("search", ["term": .string("tea")])
    var view = try ShownView("search", props: "", intents: intents)
    view.type("tea")
    view.session.lose("")
    #expect(try view.open("search", props: "", intents: intents) == tea, "while one types")
    view.press(.escape)
    #expect(view.session.form == nil)
    view.session.lose("")
    #expect(try view.open("search", props: "", intents: intents) == tea, "and when one is done")
    view.session.lose("")
    #expect(try view.open("search", props: "", intents: "") == nil)
  }
}
