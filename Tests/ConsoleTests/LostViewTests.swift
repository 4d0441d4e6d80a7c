import Console
import JSON
import Testing
import Wire

/// What somebody sees and does while the daemon is away, and when it is back.
struct LostViewTests {
  private static let room =
    #""messages":{"kind":"list","value":[{"id":1,"time":"1","text":"a"}]}"#
  private static let intents =
    #""send":{"params":{"text":"string"}},"older":{"params":{}}"#

  @Test
  func `what was shown stays, nothing is asked, and what is typed waits`() throws {
    var view = try ShownView("room", props: Self.room, intents: Self.intents)
    view.press(.enter)
    view.type("hello")
    view.session.lose("waiting for the daemon")
    #expect(view.screen.contains { $0.contains("waiting for the daemon") })
    #expect(view.screen.contains { $0.contains("1     a") })
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
  func `a form goes when there is nothing to ask it of`() throws {
    var view = try ShownView("chat", props: "")
    try view.push("room", props: Self.room, intents: Self.intents)
    view.press(.enter)
    view.session.lose("")
    try view.open("chat", props: "")
    #expect(view.session.form == nil)
    #expect(view.session.notice?.hasPrefix("the daemon is back") == true)
  }

  @Test
  func `what was typed into a live intent is asked again`() throws {
    let intents = #""search":{"params":{"term":"string"},"live":true}"#
    let tea = ShownView.ask("search", ["term": .string("tea")])
    var view = try ShownView("search", props: "", intents: intents)
    view.press(.enter)
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
