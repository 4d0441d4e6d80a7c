import Configuration
import Connections
import JSON
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Threads and posts belong to the named author.
@Suite(.leavesNothing)
struct NamedPostsTests {
  private let chat: ChatBench
  private let kim: TestClient

  init() throws {
    chat = try ChatBench()
    kim = chat.client("kim")
    _ = call(kim, "threads.start", #"["Tea"]"#)
    _ = call(kim, "threads.post", #"[1,"Green?"]"#)
  }

  /// Returns a client with all rights except those of the owner.
  private func guest(uid: UInt32) throws -> TestClient {
    let all = Rules(allow: [Rule(try #require(Pattern("**")))])
    return chat.bench.connect(
      uid: uid, as: Role(name: "guest", methods: all, read: all, write: all))
  }

  private func reason(_ client: TestClient, _ method: String, _ params: String) -> JSONValue? {
    error(client, method, params)?.data["reason"]
  }

  @Test
  func `a post has the name of the logged-in user, or else the user number`() throws {
    let script = chat.bench.connect(uid: 1000)
    _ = call(script, "threads.post", #"[1,"Black!"]"#)
    let opened = kim.open("thread", "t", #"{"id":1}"#).first
    #expect(
      opened?.contains(
        #"[{"id":1,"author":"kim","body":"Green?","likes":0},"#
          + #"{"id":2,"author":"1000","body":"Black!","likes":0}]"#) == true)
    #expect(
      call(kim, "get", #"["threads/1/posts"]"#).contains(
        #"[{"id":1,"author":1000,"name":"kim","body":"Green?","likes":0},"#
          + #"{"id":2,"author":1000,"body":"Black!","likes":0}]"#))
    #expect(
      kim.ask("t", "post", #"{"body":"White."}"#).last?.contains(
        #"{"id":3,"author":"kim","body":"White.","likes":0}"#) == true)
    #expect(reason(script, "threads.edit", #"[1,1,"Green."]"#) == .string("not_author"))
    #expect(
      call(script, "threads.edit", #"{"thread":1,"post":1,"body":"Green.","as":"kim"}"#)
        .contains("Green."))
    #expect(
      call(script, "threads.post", #"{"thread":1,"body":"Red.","as":"kim"}"#).contains("4"))
    #expect(
      call(kim, "threads.remove_post", "[1,4]").contains("Red."),
      "whoever has said that they are kim")
    #expect(call(kim, "threads.remove_post", "[1,2]").contains("Black!"), "of the user, unnamed")
  }

  @Test
  func `a post made with a token belongs to the owner of the token`() throws {
    let holder = try guest(uid: 1001)
    _ = call(holder, "users.log_in", #"{"token":"\#(try token(of: kim))"}"#)
    _ = call(holder, "threads.post", #"[1,"Black!"]"#)
    _ = holder.open("thread", "t", #"{"id":1}"#)
    #expect(call(kim, "threads.edit", #"[1,2,"White."]"#).contains("White."))
    #expect(
      holder.ask("t", "edit", #"{"id":2,"body":"Red."}"#).contains { $0.contains("Red.") },
      "as long as it is good")
    _ = call(kim, "users.revoke", "{}")
    _ = holder.settle()
    #expect(reason(holder, "threads.edit", #"[1,2,"Mine."]"#) == .string("not_author"))
    #expect(holder.ask("t", "remove", #"{"id":2}"#).first?.contains("not_author") == true)
    #expect(
      reason(holder, "threads.post", #"{"thread":1,"body":"x","as":"kim"}"#)
        == .string("name_taken"))
  }

  @Test
  func `only its creator and the owner of the daemon can rename and remove a thread`() throws {
    let (lee, nobody) = (try guest(uid: 1001), try guest(uid: 1001))
    _ = call(lee, "users.log_in", #"{"name":"lee"}"#)
    for client in [lee, nobody] {
      #expect(reason(client, "threads.rename", #"[1,"x"]"#) == .string("not_creator"))
      #expect(reason(client, "threads.remove", "[1]") == .string("not_creator"))
      _ = client.open("thread", "t", #"{"id":1}"#)
      #expect(client.ask("t", "rename", #"{"name":"x"}"#).first?.contains("not_creator") == true)
      _ = client.open("threads", "a")
      #expect(client.ask("a", "remove", #"{"id":1}"#).first?.contains("not_creator") == true)
    }
    #expect(kim.open("thread", "t", #"{"id":1}"#).count == 1)
    #expect(kim.ask("t", "rename", #"{"name":"Coffee"}"#).last?.contains("Coffee") == true)
    _ = lee.settle() + nobody.settle()
    let started = lee.ask("a", "start", #"{"name":"Mine"}"#)
    #expect(started.first?.contains(#""value":2"#) == true, "\(started)")
    for (client, view) in [(lee, "a"), (nobody, "a"), (nobody, "t")] {
      _ = call(client, "close", #"{"view":"\#(view)"}"#)
    }
    #expect(reason(nobody, "threads.remove", "[2]") == .string("not_creator"))
    #expect(
      call(nobody, "threads.rename", #"{"thread":2,"name":"Ours","as":"lee"}"#).contains("Ours"))
    #expect(call(lee, "threads.remove", "[2]").contains(#""value":0"#))
    _ = call(nobody, "threads.start", #"["Unnamed"]"#)
    #expect(call(lee, "threads.remove", "[3]").contains(#""value":0"#), "of the same user")
    #expect(call(kim, "threads.remove", "[1]").contains(#""value":1"#))
  }
}
