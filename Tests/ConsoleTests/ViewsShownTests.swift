import Console
import JSON
import Model
import Testing
import Wire

/// The views of the daemon on the screen, with the content of their binders.
struct ViewsShownTests {
  private static let long =
    "You come to the bridge at noon and wait there for the boat that brings the others, and then "
    + "all of us go up to the house together, where there is tea 🍵 and 日本茶 for everyone."

  @Test
  func `a chat shows whole messages`() throws {
    var view = try ShownView(
      "room",
      props: #""name":{"kind":"state","value":"lobby"},"messages":{"kind":"list","value":["#
        + #"{"id":1,"time":"11-21 18:50","author":"kim","note":"","text":"\#(Self.long)"},"#
        + #"{"id":2,"time":"11-21 18:51","author":"lee","note":"","text":"日本"},"#
        + #"{"id":3,"time":"11-21 18:52","author":"kim","note":"","text":"one\ntwo"}]}"#)
    #expect(
      view.screen.dropFirst(2).prefix(10) == [
        "name  lobby", "messages (3)", "  time         author  text",
        "  11-21 18:50  kim     You come to the bridge at noon and wait there for the",
        "                       boat that brings the others, and then all of us go up to",
        "                       the house together, where there is tea 🍵 and 日本茶 for",
        "                       everyone.", "  11-21 18:51  lee     日本",
        "> 11-21 18:52  kim     one", "                       two",
      ])
    view.height = 12
    #expect(
      view.screen.contains { $0.contains("> 11-21 18:52") }, "the list has half of what there is")
    for (width, height) in [(1, 1), (2, 3), (20, 6), (33, 9), (79, 12), (200, 60)] {
      (view.width, view.height) = (width, height)
      #expect(view.screen.count == height)
      #expect(view.screen.allSatisfy { $0.columns <= width }, "\(width): \(view.screen)")
    }
  }

  @Test
  func `a text longer than the screen is read line by line`() throws {
    let text = (1...60).map { "line \($0)" }.joined(separator: #"\n"#)
    var view = try ShownView(
      "room",
      props: #""messages":{"kind":"list","value":[{"id":1,"time":"1","text":"\#(text)"}]},"#
        + #""topic":{"kind":"state","value":"all"}"#)
    #expect(view.screen.contains { $0.contains("space shows all of it") })
    view.type(" ")
    #expect(view.screen[2...4] == ["id    1", "time  1", "text  line 1"])
    view.press(.end)
    #expect(view.screen[20] == "topic  all", "and what the view has beside it")
    #expect(view.screen[18] == "      line 60")
    view.press(.up)
    #expect(view.screen[19] == "      line 60", "it was scrolled no further than there is text")
    view.press(.escape)
    #expect(view.session.pane == nil)
    #expect(view.session.press(.escape) == nil)
  }

  @Test
  func `a search shows its results, and the chosen one in full`() throws {
    var view = try ShownView(
      "search",
      props: #""term":{"kind":"state","value":"tea"},"#
        + #""failure":{"kind":"state","hint":"quiet","value":null},"#
        + #""searching":{"kind":"state","hint":"quiet","value":true},"#
        + #""results":{"kind":"list","hides":["source"],"value":["#
        + #"{"id":"threads/1/1","title":"Tea","text":"\#(Self.long)","source":"threads/1/posts"},"#
        + #"{"id":"7","title":"Web","text":"tea","url":"https://example.org/"}]}"#,
      intents:
        #""search":{"params":{"term":"string"},"main":true,"live":true},"#
        + #""select":{"params":{"id":"string"},"main":true}"#
    )
    #expect(view.screen[2] == "searching  …")
    #expect(view.line("failure") == nil, "it says nothing")
    #expect(view.line("term") == nil, "it is in the field")
    #expect(view.line("> term") == "> term  tea")
    #expect(view.line("  id")?.split(separator: " ") == ["id", "title", "text", "url"])
    #expect(view.screen.contains { $0.hasPrefix("  7 ") && $0.hasSuffix("https://example.org/") })
    func joined() -> String { view.screen.joined(separator: " ") }
    #expect(joined().contains("everyone."))
    view.press(.down)
    #expect(!joined().contains("everyone."))
    #expect(view.press(.enter) == [ShownView.ask("select", ["id": .string("7")])])
    try view.change(
      #""failure":{"value":"the search has failed: gone"},"searching":{"value":false},"#
        + #""results":{"value":[]}"#)
    #expect(view.screen[2] == "failure  the search has failed: gone")
    #expect(view.line("searching") == nil)
    #expect(view.line("results") == "results (0)")
  }

  @Test
  func `a feed shows its episodes and its loading state`() throws {
    var view = try ShownView(
      "feed",
      props: #""feed":{"kind":"loading","hides":["id"],"state":"loading"},"#
        + #""episodes":{"kind":"list","hides":["url","key"],"value":[]}"#,
      intents: #""mark_played":{"params":{"episode":"integer?","played":"boolean?"},"main":true},"#
        + #""refresh":{"params":{}},"unsubscribe":{"params":{}}"#)
    #expect(view.line("feed  ") == "feed  loading …")
    try view.change(
      #""feed":{"state":"loaded","value":{"id":"swift","title":"Swift.org"}},"episodes":{"value":["#
        + #"{"id":2,"title":"Swift 6.3","url":"https://swift.org/2","played":false,"key":"b"},"#
        + #"{"id":1,"title":"Swift 6.2","published":"2025-09-15T10:00:00Z","played":true,"key":"a"}]}"#
    )
    #expect(view.line("feed  ") == "feed  title Swift.org")
    #expect(view.line("  title")?.split(separator: " ") == ["title", "played", "published"])
    #expect(view.line("> Swift 6.3")?.hasSuffix("no") == true)
    #expect(view.line("  Swift 6.2")?.hasSuffix("yes     2025-09-15T10:00:00Z") == true)
    #expect(
      view.screen[22]
        == "enter mark played   r refresh   u unsubscribe   space more   q quit   ? keys")
    view.type(" ")
    #expect(view.line("url") == "url     https://swift.org/2", "the whole row has all members")
    view.press(.escape)
    #expect(
      view.press(.enter) == [ShownView.ask("mark_played", ["episode": .number(JSONNumber(2))])])
    view.type("m")
    #expect(view.session.form?.fields == ["2", ""], "that it is not played is what is to change")
    #expect(
      view.press(.enter) == [ShownView.ask("mark_played", ["episode": .number(JSONNumber(2))])])
    try view.change(#""feed":{"state":"failed","error":{"name":"rejected","message":"no answer"}}"#)
    #expect(view.line("feed  ") == "feed  no answer")
    #expect(view.type("r") == [ShownView.ask("refresh", [:])])
  }

  @Test
  func `enter opens a thread, and posts can be liked`() throws {
    var view = try ShownView(
      "threads",
      props: #""threads":{"kind":"list","value":[{"id":1,"name":"Tea","posts":2}]}"#,
      intents: #""open":{"params":{"id":"integer"},"opens":"thread","main":true},"#
        + #""remove":{"params":{"id":"integer"},"destructive":true},"#
        + #""start":{"params":{"name":"string"}}"#)
    #expect(view.screen[22] == "enter open   s start…   r remove   space more   q quit   ? keys")
    #expect(view.press(.enter) == [ShownView.ask("open", ["id": .number(JSONNumber(1))])])
    view.type("s")
    #expect(view.session.form?.fields == [""], "a new thread has not the name of another")
    view.press(.escape)
    try view.push(
      "thread",
      props:
        #""id":{"kind":"state","hint":"hidden","value":1},"name":{"kind":"state","value":"Tea"},"#
        + #""posts":{"kind":"list","value":[{"id":1,"author":0,"body":"\#(Self.long)","#
        + #""likes":2},{"id":2,"author":1000,"body":"black","likes":0}]}"#,
      intents: #""post":{"params":{"body":"string"},"main":true},"#
        + #""edit":{"params":{"id":"integer","body":"string"}},"#
        + #""remove":{"params":{"id":"integer"},"destructive":true},"#
        + #""like":{"params":{"id":"integer"}},"unlike":{"params":{"id":"integer"}},"#
        + #""up_vote":{"params":{"name":"string"}}"#)
    #expect(view.screen[0] == "threads › thread")
    #expect(view.line("id") == nil)
    #expect(view.screen.contains { $0.hasPrefix("> 0       You come") && $0.hasSuffix("2") })
    #expect(view.screen.contains { $0.contains("日本茶 for") })
    #expect(
      view.screen.suffix(4).prefix(3) == [
        "> body", "enter post   arrows choose",
        "esc leaves the field, for edit, like, unlike, up vote, remove, back or quit",
      ])
    view.press(.down, .escape)
    #expect(
      view.type("l") == [ShownView.ask("like", ["id": .number(JSONNumber(2))], of: "v.1")],
      "the row is all that it needs")
    #expect(
      view.screen.suffix(3).prefix(2) == [
        "enter post…   e edit…   l like   u unlike   v up vote…   r remove   space more",
        "esc back   q quit   ? keys",
      ], "what removes something is last")
    view.type("r")
    #expect(view.session.question?.text == "remove 'black'")
  }

  @Test
  func `people and a person are shown and changed`() throws {
    var view = try ShownView(
      "people",
      props: #""people":{"kind":"list","value":[{"id":1,"name":"Kim","color":"#
        + #"{"red":255,"green":0,"blue":0}}]}"#,
      intents: #""create":{"params":{"name":"string","color":"string?"}},"#
        + #""open":{"params":{"id":"integer"},"opens":"person"},"remove":{"params":{"id":"integer"}}"#
    )
    #expect(view.line("> Kim") == "> Kim   red 255  green 0  blue 0")
    view.type("c")
    #expect(view.session.form?.fields == ["", ""])
    view.press(.escape)
    try view.push(
      "person",
      props: #""id":{"kind":"state","value":"1"},"name":{"kind":"state","value":"Kim"},"#
        + #""color":{"kind":"state","value":"ff0000"},"former_names":{"kind":"list","value":["miK"]}"#,
      intents: #""color":{"params":{"color":"string"}},"rename":{"params":{"name":"string"}},"#
        + #""show":{"params":{"id":"integer"}}"#)
    #expect(view.screen.contains("color  ff0000"))
    #expect(view.screen.contains("> miK"))
    view.type("s")
    #expect(view.session.form?.fields == [""])
  }

  @Test
  func `a profile is shown, and its form has the current values`() throws {
    var view = try ShownView(
      "profile",
      props: #""name":{"kind":"state","value":"kim"},"full_name":{"kind":"state","value":"Kim 김"},"#
        + #""about":{"kind":"state","hint":"quiet","value":"\#(Self.long)"},"#
        + #""added":{"kind":"loading","hint":"quiet"},"#
        + #""friends":{"kind":"loading","state":"loaded","value":[]}"#,
      intents: #""add_friend":{"params":{"name":"string"}},"#
        + #""edit_profile":{"params":{},"opens":"edit_profile"},"log_out":{"params":{}}"#)
    #expect(view.line("full name") == "full name  Kim 김")
    #expect(view.line("added") == nil)
    try view.change(#""added":{"state":"loading"}"#)
    #expect(view.line("added") == "added      loading …")
    view.type("a")
    #expect(view.session.form?.fields == [""], "a friend has not one's own name")
    view.press(.escape)
    #expect(view.type("e") == [ShownView.ask("edit_profile", [:])])
    view.type(" ")
    #expect(view.screen.contains { $0.hasSuffix("everyone.") }, "it is read whole")
    try view.push(
      "edit_profile", style: "present",
      props: #""full_name":{"kind":"state","value":"Kim 김"},"about":{"kind":"state","value":"x"}"#,
      intents: #""save":{"params":{"full_name":"string","about":"string"},"main":true},"#
        + #""dismiss":{"params":{}}"#
    )
    #expect(view.screen[0] == "profile › edit profile")
    #expect(view.session.form?.fields == ["Kim 김", "x"], "the form is open")
    #expect(view.line("full name") == nil, "the fields are not shown twice")
    #expect(view.line("> full name") == "> full name  Kim 김")
    view.type("!")
    view.press(.tab)
    #expect(
      view.press(.enter) == [
        ShownView.ask(
          "save", ["full_name": .string("Kim 김!"), "about": .string("x")], of: "v.1")
      ])
  }

  @Test
  func `the help lists every key, also on a narrow terminal`() throws {
    var view = try ShownView(
      "room", props: #""messages":{"kind":"list","value":[]}"#,
      intents: ["delete", "describe", "edit", "leave", "older", "send"].map {
        #""\#($0)":{"params":{"id":"integer","text":"string?"}}"#
      }.joined(separator: ","))
    view.width = 30
    #expect(view.screen[22].hasSuffix("q quit   ? keys") || view.screen[22] == "? keys")
    view.type("?")
    for word in ["delete", "describe", "edit", "leave", "older", "send"] {
      #expect(view.screen.contains { $0.contains("\(word) (id, text?)") }, "\(word)")
    }
    view.press(.escape)
    #expect(view.session.pane == nil)
  }

  @Test
  func `an intent that makes no sense now is not offered`() throws {
    var view = try ShownView(
      "room",
      props: #""joined":{"kind":"state","hint":"hidden","value":false},"#
        + #""after":{"kind":"state","hint":"after","value":0},"#
        + #""messages":{"kind":"list","value":[]}"#,
      intents: #""join":{"params":{},"main":true,"unless":"joined"},"#
        + #""send":{"params":{"text":"string"},"main":true,"when":"joined"},"#
        + #""newer":{"params":{},"when":"after"},"end":{"params":{},"when":"after"}"#)
    #expect(view.screen[22] == "enter join   q quit   ? keys")
    #expect(view.type("n") == [])
    #expect(view.press(.enter) == [ShownView.ask("join", [:])])
    try view.change(#""joined":{"value":true},"after":{"value":3}"#)
    #expect(view.screen[21] == "> text")
    #expect(view.line("messages") == "messages (0), 3 newer")
    view.press(.escape)
    #expect(view.screen[22] == "enter send…   n newer   e end   q quit   ? keys")
    #expect(view.type("n") == [ShownView.ask("newer", [:])])
    view.press(.enter)
    try view.change(#""joined":{"value":false}"#)
    #expect(view.session.form == nil, "nothing was typed yet")
  }

  @Test
  func `the key of an intent is the first free letter of its name`() throws {
    let view = try ShownView(
      "room", props: "",
      intents: ["delete", "describe", "edit", "quit", "send"].map { #""\#($0)":{"params":{}}"# }
        .joined(separator: ","))
    #expect(
      view.session.keys.map { "\($0.key) \($0.intent.name)" } == [
        "d delete", "c describe", "e edit", "u quit", "s send",
      ])
  }

  @Test
  func `the row that a view names is chosen first`() throws {
    let rows = (1...100).map { #"{"id":\#($0),"time":"1","text":"m\#($0)"}"# }
      .joined(separator: ",")
    let view = try ShownView(
      "room",
      props: #""chosen":{"kind":"state","value":7},"messages":{"kind":"list","value":[\#(rows)]}"#)
    #expect(view.session.row == 6)
    #expect(view.screen.contains { $0.hasPrefix("> 1     m7") })
    #expect(!view.screen.contains { $0.contains("chosen") })
  }

  @Test
  func `the named row is chosen when it arrives, unless the user has chosen another`() throws {
    let props = #""chosen":{"kind":"state","value":7},"messages":{"kind":"list","value":["#
    let rest = #""messages":{"changes":[{"op":"insert","at":2,"value":{"id":7}}]}"#
    for isMoved in [false, true] {
      var view = try ShownView("room", props: props + #"{"id":1},{"id":2}]}"#)
      if isMoved { view.press(.down) }
      try view.change(rest)
      #expect(view.session.row == (isMoved ? 1 : 2))
    }
  }

  @Test
  func `the chosen row stays chosen when it moves`() throws {
    var view = try ShownView(
      "rooms", props: #""rooms":{"kind":"list","value":[{"id":1},{"id":2},{"id":3}]}"#)
    view.press(.down)
    try view.change(#""rooms":{"changes":[{"op":"insert","at":0,"value":{"id":0}}]}"#)
    #expect(view.line("> ") == "> 2")
    try view.change(#""rooms":{"changes":[{"op":"remove","at":2}]}"#)
    #expect(view.line("> ") == "> 3", "what has come into the place of what is gone")
  }

  @Test
  func `a list step with a bad index is refused`() throws {
    for step in [
      #"{"op":"insert","at":2,"value":1}"#, #"{"op":"update","at":1,"value":1}"#,
      #"{"op":"remove","at":1}"#, #"{"op":"move","from":0,"to":1}"#, #"{"op":"remove","at":-1}"#,
    ] {
      var view = try ShownView("list", props: #""list":{"kind":"list","value":[0]}"#)
      #expect(throws: CollectionChange.Fault.self, "\(step)") {
        try view.change(#""list":{"changes":[\#(step)]}"#)
      }
    }
  }
}
