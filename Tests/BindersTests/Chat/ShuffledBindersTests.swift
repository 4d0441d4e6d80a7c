import Connections
import Journal
import Services
import Testing

/// Binders are declarations: whatever the order of their lines, clients see the same.
struct ShuffledBindersTests {
  /// All that two clients see while they log in, look around, talk, rename, befriend and leave.
  private func script(seed: Int) throws -> [String] {
    let chat = try ChatBench(finding: [
      SearchHit(id: "chat/1/1", title: "lobby, lee", text: "hello", source: "chat/rooms/1/messages")
    ])
    chat.bench.hub.lineOrder = { lines in
      var lines = lines
      for i in lines.indices.reversed() { lines.swapAt(i, (seed * 7 + i * 3) % (i + 1)) }
      return lines
    }
    let (kim, lee) = (chat.bench.connect(), chat.client("lee", uid: 1001))
    var seen = kim.open("cell", "l", #"{"name":"lamp"}"#) + kim.open("system", "s")
    seen += kim.ask("l", "toggle") + kim.ask("l", "set", #"{"value":2}"#)
    seen += kim.open("chat", "c") + kim.ask("c.1", "login", #"{"name":"kim"}"#)
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
    seen += kim.ask("c.2.1.1", "older") + kim.ask("c.2.1.1", "delete", #"{"id":1}"#)
    _ = kim.ask("c.2.1.1", "describe")
    seen += kim.ask("c.2.1.1.2", "remove") + lee.settle()
    seen += kim.ask("c.2.2", "addFriend", #"{"name":"lee"}"#)
    seen += kim.ask("c.2.2", "friends") + kim.ask("c.2.2.1", "show", #"{"id":"lee"}"#)
    seen += kim.ask("c.2.2", "editProfile")
    seen += kim.ask("c.2.2.2", "save", #"{"fullName":"Kim","about":""}"#)
    seen += kim.ask("c.2.2", "token") + kim.ask("c.2.2.3", "make")
    seen += kim.ask("c.2.2", "logOut") + lee.settle()
    seen += kim.call(#"{"id":9,"method":"close","params":{"view":"c"}}"#)
      .split(separator: "\n").map(String.init)
    return seen
  }

  @Test
  func `the lines of every binder may be shuffled`() throws {
    let written = try script(seed: 0)
    #expect(written.count > 60)
    #expect(!written.contains { $0.contains(#""error":{"code":-"#) }, "the script fits the views")
    for seed in 1..<12 {
      let shuffled = try script(seed: seed)
      #expect(shuffled == written)
    }
  }
}
