import Apps
import Features
import Configuration
import Connections
import Model
import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct ThreadsTests {
  /// Returns a bench with a thread of some posts.
  private static func bench(posts: Int = 2) throws -> Bench {
    let bench = try Bench { catalog, parts in
      let host = parts.host
      bindThreads(catalog, to: ThreadsService(in: host.library), parts.clients)
    }
    let client = bench.connect(uid: 7)
    _ = client.call(#"{"id":1,"method":"threads.start","params":["Tea"]}"#)
    for i in 1...posts {
      let body = "Post \(i) " + String(repeating: "x", count: 500)
      _ = client.call(#"{"id":2,"method":"threads.post","params":[1,"\#(body)"]}"#)
    }
    return bench
  }

  private static func intent(_ name: String, _ args: String) -> String {
    #"{"id":9,"method":"intent","params":{"view":"t","name":"\#(name)","args":\#(args)}}"#
  }

  private static let open =
    #"{"id":1,"method":"open","params":{"binder":"thread","view":"t","args":{"id":1}}}"#

  @Test
  func `a refused start of a thread does not reveal the number of threads`() throws {
    let bench = try Bench(services: { parts in
      let host = parts.host
      let threads = ThreadsService(in: host.library)
      return { bindThreads($0, to: threads, parts.clients) }
    })
    let all = Rules(allow: [Rule(try #require(Pattern("**")))])
    func start(_ read: Rules) -> WireError? {
      bench.connect(as: Role(name: "a", methods: all, read: read, write: Rules()))
        .error(#"{"id":1,"method":"threads.start","params":["Milk"]}"#)
    }
    #expect(start(Rules())?.name == .notFound)
    #expect(start(Rules())?.data["id"] == .string("threads/*"))
    #expect(start(all)?.name == .permissionDenied)
    #expect(start(all)?.data["need"] == .string("write threads/*"))
  }

  @Test
  func `a like sends only the count to subscribers of the posts`() throws {
    let bench = try Self.bench(posts: 60)
    let client = bench.connect(uid: 8)
    let whole = client.call(
      #"{"id":1,"method":"subscribe","params":{"source":"threads/1/posts","sub":"p"}}"#)
    #expect(whole.utf8.count > 30_000)
    client.send(#"{"id":2,"method":"threads.like","params":[1,40]}"#)
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":2,"result":{"value":1,"seq":62,"version":62}}"#,
        #"{"jsonrpc":"2.0","method":"next","params":{"sub":"p","seq":62,"#
          + #""changes":[{"op":"merge","at":39,"value":{"likes":1}}]}}"#,
      ])
  }

  @Test
  func `a like sends only the count to viewers of the thread`() throws {
    let bench = try Self.bench(posts: 60)
    let client = bench.connect(uid: 8)
    let whole = client.call(Self.open)
    #expect(whole.utf8.count > 30_000)
    #expect(whole.contains(#""name":{"kind":"state","value":"Tea"}"#))
    #expect(whole.contains(#""likes":0}"#))
    client.send(Self.intent("like", #"{"id":40}"#))
    #expect(client.received() == [], "nothing is durable yet")
    let lines = client.settle()
    #expect(
      lines == [
        #"{"jsonrpc":"2.0","id":9,"result":{"value":1,"seq":62,"version":62}}"#,
        #"{"jsonrpc":"2.0","method":"next","params":{"view":"t","seq":62,"#
          + #""props":{"posts":{"changes":[{"op":"merge","at":39,"value":{"likes":1}}]}}}}"#,
      ])
    #expect((lines.last?.utf8.count ?? 0) * 200 < whole.utf8.count)
  }

  @Test
  func `posts are added, changed and removed one by one, and the name follows`() throws {
    let bench = try Self.bench()
    let (client, other) = (bench.connect(uid: 7), bench.connect(uid: 8))
    _ = client.call(Self.open)
    func told(_ line: String) -> String? {
      _ = other.call(line)
      return client.settle().last
    }
    func next(_ seq: Int, _ props: String) -> String {
      #"{"jsonrpc":"2.0","method":"next","params":{"view":"t","seq":\#(seq),"props":{\#(props)}}}"#
    }
    #expect(
      told(#"{"id":1,"method":"threads.post","params":[1,"Me too"]}"#)
        == next(
          4,
          #""posts":{"changes":[{"op":"insert","at":2,"value":"#
            + #"{"id":3,"author":"8","body":"Me too","likes":0}}]}"#))
    #expect(
      told(#"{"id":1,"method":"threads.edit","params":[1,3,"Me!"]}"#)
        == next(5, #""posts":{"changes":[{"op":"merge","at":2,"value":{"body":"Me!"}}]}"#))
    #expect(
      told(#"{"id":1,"method":"threads.rename","params":[1,"Coffee"]}"#)
        == next(6, #""name":{"value":"Coffee"}"#))
    client.send(Self.intent("remove", #"{"id":1}"#))
    #expect(
      client.settle().last == next(7, #""posts":{"changes":[{"op":"remove","at":0}]}"#))
    #expect(
      client.error(Self.intent("remove", #"{"id":3}"#))?.data["reason"]
        == .string("not_author"))
    #expect(client.error(Self.intent("like", #"{"id":1}"#))?.name == .notFound)
    #expect(
      told(#"{"id":1,"method":"threads.remove","params":[1]}"#)?.contains(#""closed""#) == true)
  }

  @Test
  func `the list of threads opens one, and the sources are described`() throws {
    let client = try Self.bench().connect()
    #expect(
      client.call(#"{"id":1,"method":"open","params":{"binder":"threads","view":"t"}}"#).contains(
        #""threads":{"kind":"list","value":[{"id":1,"name":"Tea","posts":2}]}"#))
    client.send(Self.intent("open", #"{"id":1}"#))
    #expect(client.settle().last?.contains(#""name":{"kind":"state","value":"Tea"}"#) == true)
    #expect(client.error(Self.intent("open", #"{"id":2}"#))?.name == .notFound)
    #expect(
      client.call(#"{"id":2,"method":"threads.list"}"#).contains(
        #""value":[{"id":1,"name":"Tea","posts":2}]"#))
    #expect(
      client.call(#"{"id":3,"method":"get","params":["threads/1"]}"#).contains(#""kind":"state""#))
    let described = client.call(#"{"id":4,"method":"describe","params":["threads"]}"#)
    #expect(described.contains("Likes a post, once; returns how many likes it has."))
    #expect(described.contains(#""doc":"Its posts, the oldest first.","kind":"list""#))
  }

  @Test
  func `the order of the lines does not change the frames`() throws {
    for view in [#""thread","args":{"id":1}"#, #""threads""#] {
      try expectSameInAnyOrder({ try Self.bench() }) { client in
        [
          client.call(#"{"id":1,"method":"open","params":{"view":"t","binder":\#(view)}}"#),
          client.call(#"{"id":2,"method":"threads.post","params":[1,"b"]}"#),
          client.call(#"{"id":3,"method":"threads.rename","params":[1,"Coffee"]}"#),
          client.call(#"{"id":4,"method":"threads.like","params":[1,1]}"#),
          client.call(#"{"id":5,"method":"threads.remove","params":[1]}"#),
        ]
      }
    }
  }
}
