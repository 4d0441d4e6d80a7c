import Apps
import BinderTesting
import Connections
import Features
import Journal
import ServiceTestSupport
import TestSupport
import Testing

/// The order of the lines of a binder makes no difference for clients.
@Suite(.leavesNothing)
struct ShuffledBindersTests {
  /// Returns all lines of two clients that log in, open views, talk, rename, befriend and leave.
  private func script(seed: Int) throws -> [String] {
    let chat = try ChatBench(finding: [
      SearchHit(id: "chat/1/1", title: "lobby, lee", text: "hello", source: "chat/rooms/1/messages")
    ])
    chat.bench.table.context.views.lineOrder = LineOrder.order(seed)
    let (kim, lee) = (chat.bench.connect(), chat.client("lee", uid: 1001))
    var seen = kim.open("cell", "l", #"{"name":"lamp"}"#) + kim.open("system", "s")
    seen += kim.ask("l", "toggle") + kim.ask("l", "set", #"{"value":2}"#)
    seen += kim.open("chat", "c") + kim.ask("c.1", "log_in", #"{"name":"kim"}"#)
    seen += kim.ask("c.2.1", "create", #"{"name":"lobby","topic":"all"}"#)
    seen += kim.ask("c.2.1", "enter", #"{"id":1}"#)
    seen += lee.open("room", "r", #"{"room":1}"#) + kim.settle()
    seen += lee.ask("r", "join") + kim.settle()
    seen += lee.ask("r", "send", #"{"text":"hello"}"#) + kim.settle()
    seen += lee.ask("r", "edit", #"{"id":1,"text":"hullo"}"#) + kim.settle()
    seen += kim.open("search", "f") + kim.ask("f", "search", #"{"term":"hello"}"#)
    chat.bench.time.advance(330)
    seen += kim.settle() + kim.ask("f", "select", #"{"id":"chat/1/1"}"#)
    seen += kim.ask("c.2.1.1", "describe")
    seen += kim.ask("c.2.1.1.1", "save", #"{"name":"hall","topic":"x"}"#) + lee.settle()
    seen += kim.ask("c.2.1.1", "older") + kim.ask("c.2.1.1", "remove", #"{"id":1}"#)
    _ = kim.ask("c.2.1.1", "describe")
    seen += kim.ask("c.2.1.1.2", "remove") + lee.settle()
    seen += kim.ask("c.2.2", "add_friend", #"{"name":"lee"}"#)
    seen += kim.ask("c.2.2", "friends") + kim.ask("c.2.2.1", "show", #"{"id":"lee"}"#)
    seen += kim.ask("c.2.2", "edit_profile")
    seen += kim.ask("c.2.2.2", "save", #"{"full_name":"Kim","about":""}"#)
    seen += kim.ask("c.2.2", "token") + kim.ask("c.2.2.3", "make")
    seen += kim.ask("c.2.2", "log_out") + lee.settle()
    seen += kim.call(#"{"id":9,"method":"close","params":{"view":"c"}}"#)
      .split(separator: "\n").map(String.init)
    return seen
  }

  @Test
  func `the lines of every chat binder can be shuffled`() throws {
    let written = try script(seed: 0)
    #expect(written.count > 60)
    #expect(!written.contains { $0.contains(#""error":{"code":-"#) }, "the script fits the views")
    for seed in 1..<12 {
      let shuffled = try script(seed: seed)
      #expect(shuffled == written)
    }
  }

  /// Returns the lines of a client that watches people, threads, things to do and feeds changed by another.
  private func otherScript(seed: Int) throws -> [String] {
    let whole = try WholeBench(lineOrder: LineOrder.order(seed))
    let (kim, lee) = (whole.bench.connect(), whole.bench.connect(uid: 1001))
    var seen = kim.open("people", "p") + kim.open("threads", "t") + kim.open("feeds", "f")
    seen += kim.open("todo", "d")
    func change(_ method: String, _ params: String) {
      _ = lee.call(#"{"id":3,"method":"\#(method)","params":\#(params)}"#)
      seen += kim.settle()
    }
    for name in ["Kim", "Lee", "Ann"] { change("people.create", #"["\#(name)"]"#) }
    change("people.rename", #"[2,"Leo"]"#)
    seen += kim.ask("p", "open", #"{"id":2}"#) + kim.ask("p.1", "rename", #"{"name":"Lea"}"#)
    change("people.remove", "[1]")
    change("todo.add", #"["Boil water"]"#)
    seen += kim.ask("d", "toggle", #"{"id":1}"#) + kim.ask("d", "clear_done")
    change("threads.start", #"["Tea"]"#)
    seen += kim.ask("t", "open", #"{"id":1}"#) + kim.ask("t.1", "post", #"{"body":"green"}"#)
    change("threads.post", #"[1,"black"]"#)
    change("threads.like", "[1,1]")
    change("threads.edit", #"[1,2,"white"]"#)
    change("threads.remove_post", "[1,2]")
    change("feeds.subscribe", #"["http://a.example/","a"]"#)
    whole.web.answer("Title\nb Two\na One")
    seen += kim.settle() + kim.ask("f", "open", #"{"id":"a","newest":1}"#)
    change("feeds.mark_played", #"{"id":"a"}"#)
    change("feeds.unsubscribe", #"["a"]"#)
    change("threads.remove", "[1]")
    return seen
  }

  @Test
  func `the lines of people, thread and feed binders can be shuffled`() throws {
    let written = try otherScript(seed: 0)
    #expect(!written.contains { $0.contains(#""error":{"code":-"#) }, "the script fits the views")
    for part in [
      #"{"op":"merge","at":1,"value":{"name":"Leo"}}"#, #"{"op":"remove","at":0}"#,
      #""threads":{"changes":[{"op":"insert","at":0,"value":{"id":1,"name":"Tea","posts":0}}]}"#,
      #"{"op":"merge","at":0,"value":{"posts":2}}"#,
      #"{"op":"merge","at":0,"value":{"likes":1}}"#,
      #"{"op":"merge","at":1,"value":{"body":"white"}}"#,
      #""episodes":{"kind":"list","hides":["url","audio","key"],"value":[{"id":2,"#,
      #"{"op":"merge","at":0,"value":{"done":true}}"#, #"{"played":true}"#, #""unplayed":0"#,
      #""closed","params":{"view":"f.1""#,
      #""closed","params":{"view":"t.1""#,
    ] { #expect(written.contains { $0.contains(part) }, "\(part) \(written)") }
    for seed in 1..<12 {
      let shuffled = try otherScript(seed: seed)
      #expect(shuffled == written)
    }
  }
}
