import Apps
import Connections
import EventSourcing
import Features
import JSON
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

/// The views of the chat.
@Suite(.leavesNothing)
struct ChatViewTests {
  private let chat: ChatBench
  private var bench: Bench { chat.bench }

  init() throws { chat = try ChatBench() }

  @Test
  func `logging in and out switches the content of the window`() throws {
    let client = bench.connect()
    let opened = client.open("chat", "c")
    #expect(opened.count == 2)
    #expect(opened.first?.contains(#""user":{"kind":"state","hint":"quiet","value":null}"#) == true)
    #expect(opened.last?.contains(#""view":"c.1","seq":0,"parent":"c","binder":"login""#) == true)

    let inside = client.ask("c.1", "log_in", #"{"name":"kim"}"#)
    #expect(inside.first?.contains(#""id":2,"result":{"seq":1,"version":1}"#) == true)
    #expect(inside.contains { $0.contains(#""closed","params":{"view":"c.1","seq":1,"#) })
    #expect(inside.contains { $0.contains(#""props":{"user":{"value":"kim"}}"#) })
    #expect(
      inside.filter { $0.contains(#""method":"opened""#) }.map { line in
        ["main", "rooms", "profile"].first { line.contains(#""binder":"\#($0)""#) }
      } == ["main", "rooms", "profile"])

    let out = client.ask("c.2.2", "log_out")
    #expect(
      out.filter { $0.contains(#""method":"closed""#) }.map { line in
        ["c.2.2", "c.2.1", "c.2"].first { line.contains(#""view":"\#($0)""#) }
      } == ["c.2.2", "c.2.1", "c.2"], "children first")
    #expect(out.contains { $0.contains(#""binder":"login""#) && $0.contains(#"[{"id":"kim"}]"#) })
    #expect(client.connection.views.all.count == 2)
  }

  @Test
  func `views opened in a batch are sent after the answer of the batch`() throws {
    let client = bench.connect()
    client.send(
      #"[{"id":1,"method":"open","params":{"binder":"chat","view":"c"}},"#
        + #"{"id":2,"method":"cells.set","params":["lamp",1]}]"#)
    #expect(client.received() == [], "the batch waits for the disk")
    let lines = client.settle()
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("[") == true)
    #expect(lines.last?.contains(#""binder":"login""#) == true)
  }

  @Test
  func `a login switches all windows of its connection only`() throws {
    let (client, other) = (bench.connect(), bench.connect())
    _ = client.open("chat", "a")
    _ = client.open("chat", "b")
    _ = other.open("chat", "c")
    let lines = client.ask("a.1", "log_in", #"{"name":"kim"}"#)
    for window in ["a", "b"] {
      #expect(lines.contains { $0.contains(#""parent":"\#(window)","binder":"main""#) })
    }
    #expect(
      other.settle().allSatisfy { !$0.contains(#""binder":"main""#) }, "it sees a new name alone")
  }

  @Test
  func `login, logout and token intents do not accept a cmd`() throws {
    let (client, other) = (bench.connect(), bench.connect())
    func login(_ client: TestClient, _ intent: String, _ args: String) -> WireError? {
      client.error(
        #"{"id":3,"method":"intent","params":{"view":"c.1","name":"\#(intent)","args":\#(args),"#
          + #""_meta":{"cmd":"x"}}}"#)
    }
    let intents = [
      ("log_in", #"{"name":"kim"}"#), ("choose", #"{"id":"kim"}"#), ("token", #"{"token":"1.x"}"#),
    ]
    for client in [client, other] {
      _ = client.open("chat", "c")
      for (intent, args) in intents {
        let error = login(client, intent, args)
        #expect(error?.name == .invalidParams)
        #expect(error?.data["path"] == .string("/_meta/cmd"))
      }
      #expect(client.call(#"{"id":4,"method":"users.whoami"}"#).contains(#""value":{"names":[]}"#))
    }
    for client in [client, other] {
      _ = client.ask("c.1", "log_in", #"{"name":"kim"}"#)
      #expect(client.call(#"{"id":4,"method":"users.whoami"}"#).contains(#""user":"kim""#))
    }
    _ = client.ask("c.2.2", "token")
    for (view, intent) in [("c.2.2.1", "make"), ("c.2.2", "log_out")] {
      let error = client.error(
        #"{"id":3,"method":"intent","params":{"view":"\#(view)","name":"\#(intent)","#
          + #""_meta":{"cmd":"x"}}}"#)
      #expect(error?.name == .invalidParams, "\(intent)")
    }
  }

  @Test
  func `a message reaches others in one frame, and counts as unread until they see it`() throws {
    let (kim, lee) = (chat.client("kim"), chat.client("lee", uid: 1001))
    chat.makeRoom("lobby", by: kim)
    _ = kim.open("room", "r", #"{"room":"lobby"}"#)
    _ = lee.call(#"{"id":1,"method":"chat.join","params":{"room":1}}"#)
    _ = lee.open("chat", "c")
    _ = kim.settle()
    #expect(kim.ask("r", "send", #"{"text":"hello"}"#).count == 2, "the answer and one frame")
    let told = lee.settle()
    #expect(told.count == 1)
    #expect(told.first?.contains(#""view":"c.1.1""#) == true)
    #expect(
      told.first?.contains(#""changes":[{"op":"merge","at":0,"value":{"unread":1}}]"#) == true)
    let entered = lee.ask("c.1.1", "enter", #"{"id":1}"#)
    let room = entered.first { $0.contains(#""binder":"room""#) }
    // Only its author, or who has made the room, is offered what changes it.
    #expect(room?.contains(#""author":"kim","note":"","text":"hello"}"#) == true)
    #expect(room?.contains(#""when":"joined","when_row":"mine"}"#) == true)
    #expect(entered.contains { $0.contains(#""unread":0"#) })
    _ = kim.settle()
    _ = kim.ask("r", "send", #"{"text":"more"}"#)
    let more = lee.settle()
    #expect(
      more.contains { $0.contains(#""changes":[{"op":"insert","at":1,"#) && $0.contains("more") })
    let read = lee.call(#"{"id":3,"method":"chat.unread"}"#)
    #expect(read.contains(#""unread":0"#), "it is seen")
  }

  @Test
  func `a viewer joins a room in its view, and continues in the same view`() throws {
    let (kim, lee) = (chat.client("kim"), chat.client("lee", uid: 1001))
    chat.makeRoom("lobby", by: kim)
    let opened = lee.open("room", "r", #"{"room":"lobby"}"#)
    #expect(opened.first?.contains(#""join":{"params":{},"main":true,"unless":"joined"}"#) == true)
    let refused = lee.ask("r", "send", #"{"text":"hello"}"#)
    #expect(refused.first?.contains(#""reason":"not_member""#) == true)
    let joined = lee.ask("r", "join")
    #expect(joined.first?.contains(#""value":true"#) == true, "\(joined)")
    #expect(joined.last?.contains(#""members":{"value":"kim* lee*"}"#) == true, "\(joined)")
    let sent = lee.ask("r", "send", #"{"text":"hello"}"#)
    #expect(sent.last?.contains(#""op":"insert","at":0"#) == true, "\(sent)")
    #expect(sent.last?.contains(#""text":"hello","mine":true,"removable":true}"#) == true)
    let made = kim.open("room", "r", #"{"room":1}"#).joined()
    #expect(made.contains(#""text":"hello","removable":true}"#), "kim has made the room")
    #expect(lee.ask("r", "join").first?.contains(#""value":false"#) == true, "once")
  }

  @Test
  func `a message is edited and deleted in place`() throws {
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    _ = kim.open("room", "r", #"{"room":1}"#)
    _ = kim.ask("r", "send", #"{"text":"helo"}"#)
    let edited = kim.ask("r", "edit", #"{"id":1,"text":"hello"}"#)
    #expect(edited.last?.contains(#"[{"op":"merge","at":0,"#) == true)
    #expect(edited.last?.contains(#""note":"edited","text":"hello""#) == true)
    #expect(kim.ask("r", "remove", #"{"id":1}"#).last?.contains(#""note":"removed""#) == true)
    #expect(kim.ask("r", "remove", #"{"id":1}"#).first?.contains(#""reason":"removed""#) == true)
  }

  @Test
  func `the service of a room ends with its last view`() throws {
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    _ = kim.open("room", "r", #"{"room":1}"#)
    _ = kim.open("room", "s", #"{"room":1}"#)
    weak let messages = try #require(chat.sessions.last?.user.value).messages(in: 1)
    #expect(messages != nil)
    _ = kim.call(#"{"id":1,"method":"close","params":{"view":"r"}}"#)
    #expect(messages != nil, "another view has it")
    _ = kim.call(#"{"id":2,"method":"close","params":{"view":"s"}}"#)
    #expect(messages == nil)
  }

  @Test
  func `a room is renamed in a separate view`() throws {
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    _ = kim.open("room", "r", #"{"room":1}"#)
    let opened = kim.ask("r", "describe")
    #expect(opened.last?.contains(#""binder":"describe_room","style":"present""#) == true)
    let saved = kim.ask("r.1", "save", #"{"name":"hall","topic":"all"}"#)
    #expect(saved.contains { $0.contains(#""view":"r.1","#) && $0.contains("dismissed") })
    #expect(saved.last?.contains(#"{"name":{"value":"hall"},"topic":{"value":"all"}}"#) == true)
    let left = kim.ask("r", "leave")
    #expect(left.last?.contains(#""view":"r","seq":5,"reason":"dismissed""#) == true)
  }

  @Test
  func `saving writes only the changed fields, and keeps changes by others`() throws {
    let (kim, lee) = (chat.client("kim"), chat.client("lee", uid: 1001))
    chat.makeRoom("lobby", by: kim)
    _ = lee.open("room", "r", #"{"room":1}"#) + lee.ask("r", "join") + lee.ask("r", "describe")
    _ = call(kim, "chat.rename", #"{"room":1,"name":"hall"}"#)
    _ = lee.ask("r.1", "save", #"{"name":"lobby","topic":"tea"}"#)
    #expect(
      call(kim, "get", #"["chat/rooms/1"]"#).contains(#""name":"hall","topic":"tea""#))
    _ = kim.open("profile", "p") + kim.ask("p", "edit_profile")
    _ = call(kim, "users.edit", #"{"full_name":"Kim"}"#)
    _ = kim.ask("p.1", "save", #"{"full_name":"","about":"hi"}"#)
    #expect(call(kim, "get", #"["users/kim"]"#).contains(#""full_name":"Kim","about":"hi""#))
  }

  @Test
  func `opening and closing views leaks nothing`() throws {
    let nodes = LiveNodes()
    try LiveNodes.$counter.withValue(nodes) {
      let chat = try ChatBench()
      let kim = chat.client("kim")
      chat.makeRoom("lobby", by: kim)
      let before = nodes.counts
      for _ in 0..<100 {
        _ = kim.open("chat", "c")
        _ = kim.ask("c.1.1", "enter", #"{"id":1}"#)
        _ = kim.call(#"{"id":1,"method":"close","params":{"view":"c"}}"#)
      }
      #expect(nodes.counts == before)
      #expect(kim.connection.views.all.isEmpty)
    }
  }

  @Test
  func `choosing a name that nobody has claimed registers nobody`() throws {
    let (kim, other) = (chat.client("kim", uid: 7), bench.connect(uid: 8))
    _ = other.open("chat", "c")
    let last = bench.host.last
    for name in ["kimkim", "kim", ""] {
      let told = other.ask("c.1", "choose", #"{"id":"\#(name)"}"#).joined()
      #expect(told.contains(#""name":"not_found""#), "\(name)")
    }
    #expect(bench.host.last == last)
    _ = kim.open("chat", "c")
    kim.send(#"{"id":9,"method":"users.log_out"}"#)
    _ = kim.settle()
    let view = try #require(kim.connection.views.all.last?.handle.description)
    #expect(kim.ask(view, "choose", #"{"id":"kim"}"#).joined().contains(#""value":"kim""#))
  }
}
