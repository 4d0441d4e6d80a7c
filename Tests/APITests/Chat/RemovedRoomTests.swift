import Configuration
import Connections
import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Removed rooms, and the limit on rooms of a user.
@Suite(.leavesNothing)
struct RemovedRoomTests {
  private let chat: ChatBench
  private var bench: Bench { chat.bench }

  init() throws { chat = try ChatBench() }

  @Test
  func `the creator removes a room, its views close, and its sources are gone`() throws {
    let kim = chat.client("kim", as: .user)
    let lee = chat.client("lee", uid: 1001, as: .user)
    for name in ["lobby", "attic"] { chat.makeRoom(name, by: kim) }
    _ = call(lee, "chat.join", #"{"room":1}"#)
    _ = call(lee, "chat.send", #"{"room":1,"text":"hello"}"#)
    #expect(error(lee, "chat.remove", #"{"room":1}"#)?.data["reason"] == .string("not_creator"))
    #expect(error(lee, "chat.remove", #"{"room":7}"#)?.name == .notFound)
    #expect(error(lee, "chat.remove", #"{"room":1,"as":"kim"}"#)?.name == .rejected)

    _ = lee.open("chat", "c")
    _ = lee.ask("c.1.1", "enter", #"{"id":1}"#)
    _ = lee.ask("c.1.1.1", "describe")
    for (sub, source) in [("r", "chat/rooms/1"), ("m", "chat/rooms/1/messages")] {
      _ = call(lee, "subscribe", #"{"source":"\#(source)","sub":"\#(sub)"}"#)
    }
    #expect(call(kim, "chat.remove", #"{"room":"lobby"}"#).contains(#""value":1"#))
    let told = lee.settle()
    for sub in ["r", "m"] {
      #expect(told.contains { $0.contains(#""sub":"\#(sub)","#) && $0.contains(#""gone":true"#) })
    }
    #expect(
      told.filter { $0.contains(#""method":"closed""#) }.map { line in
        ["c.1.1.1.1", "c.1.1.1"].first { line.contains(#""view":"\#($0)","#) }
      } == ["c.1.1.1.1", "c.1.1.1"])
    #expect(
      told.contains { $0.contains(#""rooms":{"changes":[{"op":"remove","at":0}]}"#) })
    #expect(error(lee, "chat.history", #"{"room":1}"#)?.name == .notFound)
    #expect(call(lee, "chat.unread", "{}").contains(#""value":[]"#))
    #expect(call(kim, "chat.create", #"{"name":"lobby"}"#).contains(#""value":3"#))
    for room in [2, 3] { _ = call(kim, "chat.remove", #"{"room":\#(room)}"#) }
    #expect(error(kim, "get", #"{"source":"chat/rooms"}"#)?.name == .notFound)
    #expect(call(lee, "chat.join", #"{"room":3}"#).contains("not_found"))
  }

  @Test
  func `an administrator can remove every room, with or without a login`() throws {
    let kim = chat.client("kim", as: .user)
    for name in ["lobby", "attic"] { chat.makeRoom(name, by: kim) }
    #expect(call(chat.client("lee", uid: 7), "chat.remove", #"{"room":1}"#).contains(#""value":0"#))
    #expect(call(bench.connect(uid: 8), "chat.remove", #"{"room":2}"#).contains(#""value":0"#))
    let stranger = bench.connect(uid: 9, as: .user)
    #expect(
      error(stranger, "chat.remove", #"{"room":2}"#)?.data["reason"] == .string("not_logged_in"))
  }

  @Test
  func `the creator can remove a room in its view`() throws {
    let (kim, lee) = (chat.client("kim"), chat.client("lee", uid: 1001))
    chat.makeRoom("lobby", by: kim)
    for client in [kim, lee] {
      _ = client.open("room", "r", #"{"room":1}"#)
      _ = client.ask("r", "describe")
    }
    #expect(lee.ask("r.1", "remove").first?.contains("not_creator") == true)
    let lines = kim.ask("r.1", "remove")
    #expect(lines.last?.contains(#""closed","params":{"view":"r","#) == true)
    #expect(lee.settle().count { $0.contains(#""method":"closed""#) } == 2)
  }

  @Test
  func `a user can create fifty rooms, and another one after removing one`() throws {
    let (kim, lee) = (chat.client("kim"), chat.client("lee", uid: 1001))
    for i in 1...50 { chat.makeRoom("r\(i)", by: kim) }
    let refused = error(kim, "chat.create", #"{"name":"more"}"#)
    #expect(refused?.data["reason"] == .string("too_many"))
    #expect(refused?.message.contains("50") == true)
    #expect(call(lee, "chat.create", #"{"name":"lee"}"#).contains(#""value":51"#))
    _ = call(kim, "chat.remove", #"{"room":"r7"}"#)
    #expect(call(kim, "chat.create", #"{"name":"more"}"#).contains(#""value":52"#))
  }
}
