import Apps
import BinderTesting
import Configuration
import Connections
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Search results in a room, found and selected.
@Suite(.leavesNothing)
struct FoundRoomTests {
  private let chat: ChatBench
  private var bench: Bench { chat.bench }

  init() throws {
    let source = "chat/rooms/1/messages"
    chat = try ChatBench(finding: [
      SearchHit(id: "chat/1", title: "lobby", text: "lobby", source: "chat/rooms/1"),
      SearchHit(id: "chat/1/2", title: "lobby, kim", text: "tea", source: source),
      SearchHit(id: "chat/9/1", title: "gone", text: "tea", source: "chat/rooms/9/messages"),
    ])
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    _ = kim.open("room", "r", #"{"room":"lobby"}"#)
    for i in 1...160 { _ = kim.ask("r", "send", #"{"text":"message \#(i)"}"#) }
  }

  private func find(_ client: TestClient) {
    _ = client.open("search", "s")
    _ = client.ask("s", "search", #"{"term":"tea"}"#)
    bench.time.advance(330)
    _ = client.settle()
  }

  @Test
  func `selecting a hit opens the room at the message`() throws {
    let lee = chat.client("lee", uid: 1001)
    find(lee)
    let opened = lee.ask("s", "select", #"{"id":"chat/1/2"}"#)
    let room = try #require(opened.last)
    #expect(room.contains(#""parent":"s","binder":"room","style":"push""#))
    #expect(room.contains(#""chosen":{"kind":"state","hint":"hidden","value":2}"#))
    #expect(room.contains("message 1\"") && room.contains("message 52\""), "around the message")
    #expect(
      room.contains(
        #""before":{"kind":"state","hint":"before","value":0},"#
          + #""after":{"kind":"state","hint":"after","value":108}"#))
    #expect(lee.ask("s.1", "join").first?.contains(#""value":true"#) == true)
    #expect(lee.ask("s.1", "send", #"{"text":"hi"}"#).first?.contains(#""value":161"#) == true)
    #expect(lee.ask("s.1", "older").last?.contains(#""before":{"value":60}"#) == true, "the end")
    #expect(lee.ask("s", "select", #"{"id":"chat/1"}"#).last?.contains(#""binder":"room""#) == true)
    let out = lee.call(#"{"id":5,"method":"users.log_out"}"#)
    #expect(out.split(separator: "\n").filter { $0.contains(#""closed""#) }.count == 2)
    #expect(
      lee.error(
        #"{"id":6,"method":"intent","params":{"view":"s","name":"select","#
          + #""args":{"id":"chat/9/1"}}}"#)?.name == .notFound)
  }

  @Test
  func `a room is marked as read when a command moves its window to the end`() throws {
    let (lee, kim) = (chat.client("lee", uid: 1001), chat.client("kim"))
    _ = call(lee, "chat.join", #"{"room":1}"#)
    _ = call(kim, "chat.send", #"{"room":1,"text":"more"}"#)
    find(lee)
    #expect(call(lee, "chat.unread", "{}").contains(#""unread":1"#))
    _ = lee.ask("s", "select", #"{"id":"chat/1/2"}"#)
    #expect(call(lee, "chat.unread", "{}").contains(#""unread":1"#), "the end is not shown")
    while lee.ask("s.1", "newer").first?.contains(#""value":0"#) == false {}
    #expect(call(lee, "chat.unread", "{}").contains(#""unread":0"#))
    bench.time.advance(0)
    #expect(lee.settle().isEmpty)
    var noted: [String] = []
    bench.store.replay(after: 0) {
      noted += $0.records.filter { $0.type == "chat.read" }.map(\.data)
    }
    #expect(noted.last == #"{"room":1,"up_to":161,"by":"lee"}"#)
  }

  @Test
  func `selecting a hit without a login opens the login first`() throws {
    let client = bench.connect(uid: 1001)
    find(client)
    let asked = client.ask("s", "select", #"{"id":"chat/1/2"}"#)
    #expect(asked.last?.contains(#""view":"s.1","seq":"#) == true)
    #expect(asked.last?.contains(#""binder":"login","style":"push""#) == true)
    let inside = client.ask("s.1", "log_in", #"{"name":"lee"}"#)
    #expect(inside.contains { $0.contains(#""closed","params":{"view":"s.1""#) })
    #expect(
      inside.contains { $0.contains(#""parent":"s","binder":"room""#) && $0.contains(#""chosen""#) }
    )
    #expect(client.connection.views.all.count == 2)
  }

  @Test
  func `a search does not open a room for a client without access`() throws {
    func rules(_ pattern: String, _ separator: Unicode.Scalar = "/") throws -> Rules {
      Rules(allow: [Rule(try #require(Pattern(pattern, separator: separator)))])
    }
    let role = Role(
      name: "r", methods: try rules("**", "."), read: try rules("chat/**"),
      write: try rules("**"))
    let client = bench.connect(uid: 1001, as: role)
    find(client)
    let refused = client.ask("s", "select", #"{"id":"chat/1/2"}"#)
    #expect(refused.count == 1)
    #expect(refused.first?.contains(#""name":"not_found""#) == true, "\(refused)")
  }
}
