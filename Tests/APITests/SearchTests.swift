import Apps
import BinderTesting
import Configuration
import Connections
import Features
import JSON
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

/// A search backend whose answers the test controls.
private final class HandBackend: SearchBackend {
  let name = "hand"
  let doc = "What a test says."
  private(set) var cancelled: [String] = []
  private var answered: Set<Int> = []
  private var observers: [AtomicObserver<[SearchHit], SearchError>] = []
  var count: Int { observers.count }

  /// The immediate result of every search; if it is empty, the test answers.
  var all: [SearchHit] = []
  /// The requested limits.
  var limits: [Int] = []

  func find(_ term: String, limit: Int) -> Signal<[SearchHit], SearchError> {
    guard all.isEmpty else {
      limits.append(limit)
      return Signal(just: Array(all.prefix(limit)))
    }
    return Signal { [self] observer in
      observers.append(observer)
      let number = observers.count - 1
      return BlockDisposable { [self] in if !answered.contains(number) { cancelled.append(term) } }
    }
  }

  func answer(_ i: Int) {
    answered.insert(i)
    observers[i].receive(lastElement: [
      SearchHit(id: "threads/1/1", title: "Tea", text: "green tea", source: "threads/1/posts"),
      SearchHit(id: "7", title: "Web", text: "tea", url: "https://example.org/"),
    ])
  }

  /// Answers the newest search with a thread with a matching name.
  func answerWithThread() {
    answered.insert(count - 1)
    observers[count - 1].receive(lastElement: [
      SearchHit(id: "threads/1", title: "Tea", text: "", source: "threads/1")
    ])
  }

  func fail(_ i: Int) {
    answered.insert(i)
    observers[i].fail(.failed("gone"))
  }
  func forget() { observers = [] }
}

@Suite(.leavesNothing)
struct SearchTests {
  private let backend = HandBackend()

  private static let tea =
    #"{"id":"threads/1/1","title":"Tea","text":"green tea","source":"threads/1/posts"}"#
  private static let web = #"{"id":"7","title":"Web","text":"tea","url":"https://example.org/"}"#

  private static func rules(
    _ pattern: String, _ separator: Unicode.Scalar = "/"
  ) throws -> Rules {
    Rules(allow: [Rule(try #require(Pattern(pattern, separator: separator)))])
  }

  private func bench() throws -> Bench {
    let backend = backend
    let time = ManualTime()
    let bench = try Bench(
      time: time,
      services: { parts in
        let host = parts.host
        let threads = ThreadsService(in: host.library)
        let chat = ChatService(in: host.library)
        let search = SearchService([backend], on: time)
        return { catalog in
          bindThreads(catalog, to: threads, parts.clients)
          bindSearch(catalog, to: search, opening: SearchHit.views) { view, hit in
            try openSelected(hit, from: view, parts.clients, threads, chat)
          }
        }
      })
    _ = bench.connect().call(#"{"id":1,"method":"threads.start","params":["Tea"]}"#)
    return bench
  }

  private func type(_ term: String, _ client: TestClient) {
    _ = client.call(
      #"{"id":8,"method":"intent","params":{"view":"s","name":"search","args":{"term":"\#(term)"}}}"#
    )
  }

  private func next(_ props: String) -> String {
    #"{"jsonrpc":"2.0","method":"next","params":{"view":"s","seq":1,"props":{\#(props)}}}"#
  }

  private static let open =
    #"{"id":1,"method":"open","params":{"binder":"search","view":"s"}}"#

  @Test
  func `a found thread opens only for clients that can read its posts`() throws {
    let bench = try bench()
    var read = try Self.rules("**")
    read.deny = [Rule(try #require(Pattern("threads/*/posts")))]
    let role = Role(
      name: "r", methods: try Self.rules("**", "."), read: read, write: try Self.rules("**"))
    for (client, isAllowed) in [(bench.connect(as: role), false), (bench.connect(), true)] {
      _ = client.call(Self.open)
      type("green", client)
      bench.time.advance(400)
      backend.answerWithThread()
      _ = client.settle()
      client.send(
        #"{"id":9,"method":"intent","params":{"view":"s","name":"select","args":{"id":"threads/1"}}}"#
      )
      let lines = client.settle()
      #expect(lines.contains { $0.contains(#""method":"opened""#) } == isAllowed, "\(lines)")
      if !isAllowed {
        #expect(lines.allSatisfy { $0.contains(#""name":"not_found""#) }, "\(lines)")
      }
    }
    backend.forget()
  }

  @Test
  func `a view searches the typed term after a pause, and shows only the newest result`() throws {
    let bench = try bench()
    let client = bench.connect()
    let opened = client.call(Self.open)
    #expect(
      opened.contains(
        #""props":{"term":{"kind":"state","value":""},"#
          + #""failure":{"kind":"state","hint":"quiet","value":null},"#
          + #""searching":{"kind":"state","hint":"quiet","value":false},"#
          + #""results":{"kind":"list","hides":["source"],"value":[]}}"#))
    #expect(
      opened.contains(
        #""intents":{"search":{"params":{"term":"string"},"main":true,"live":true},"#
          + #""select":{"params":{"id":"string"},"main":true}}"#))
    type(" gre", client)
    bench.time.advance(200)
    type(" green ", client)
    bench.time.advance(200)
    #expect(backend.count == 0)
    bench.time.advance(130)
    #expect(client.settle() == [next(#""searching":{"value":true}"#)])
    type("tea", client)
    bench.time.advance(330)
    #expect(backend.cancelled == ["green"])
    backend.answer(0)
    #expect(client.settle() == [], "it was cancelled")
    backend.answer(1)
    #expect(
      client.settle() == [
        next(
          #""searching":{"value":false},"results":{"changes":["#
            + #"{"op":"insert","at":0,"value":\#(Self.tea)},"#
            + #"{"op":"insert","at":1,"value":\#(Self.web)}]}"#)
      ])
    type("x", client)
    bench.time.advance(330)
    _ = client.settle()
    backend.fail(2)
    #expect(
      client.settle() == [
        next(
          #""failure":{"value":"the search has failed: gone"},"searching":{"value":false},"#
            + #""results":{"changes":[{"op":"remove","at":1},{"op":"remove","at":0}]}"#)
      ])
    _ = client.call(#"{"id":9,"method":"close","params":{"view":"s"}}"#)
    #expect(bench.time.count == 0)
    backend.forget()
  }

  @Test
  func `selecting a result opens its thread`() throws {
    let bench = try bench()
    let client = bench.connect()
    _ = client.call(Self.open)
    type("tea", client)
    bench.time.advance(330)
    backend.answer(0)
    _ = client.settle()
    func select(_ id: String) -> String {
      #"{"id":9,"method":"intent","params":{"view":"s","name":"select","args":{"id":"\#(id)"}}}"#
    }
    client.send(select("threads/1/1"))
    let lines = client.settle()
    #expect(lines.first?.contains(#""opened":"s.1""#) == true)
    #expect(lines.last?.contains(#""binder":"thread","style":"push""#) == true)
    #expect(client.call(select("7")).contains(#""url":"https://example.org/""#))
    #expect(client.error(select("8"))?.name == .notFound)
    backend.forget()
  }

  @Test
  func `find answers late, and omits unreadable results`() throws {
    let bench = try bench()
    let client = bench.connect()
    let find = #"{"id":2,"method":"search.find","params":{"term":" tea "}}"#
    client.send(find)
    #expect(client.settle() == [])
    backend.answer(0)
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":2,"result":{"value":[\#(Self.tea),\#(Self.web)]}}"#
      ])
    client.send(find)
    backend.fail(1)
    #expect(client.settle().first?.contains(#""reason":"search_failed""#) == true)
    client.send(find)
    #expect(client.call(#"{"id":3,"method":"cancel","params":{"id":2}}"#).contains("cancelled"))
    #expect(backend.cancelled == ["tea"])
    #expect(
      client.error(#"{"id":4,"method":"search.find","params":{"term":""}}"#)?.name == .invalidParams
    )
    #expect(
      client.error(#"{"id":5,"method":"search.find","params":{"term":"x","backend":"web"}}"#)?.name
        == .notFound)
    #expect(
      client.call(#"{"id":6,"method":"search.backends"}"#).contains(
        #""value":[{"name":"hand","doc":"What a test says."}]"#))

    let role = Role(
      name: "guest", methods: try Self.rules("search.*", "."), read: try Self.rules("cells/**"),
      write: Rules())
    let guest = bench.connect(as: role)
    guest.send(find)
    backend.answer(3)
    #expect(
      guest.settle() == [
        #"{"jsonrpc":"2.0","id":2,"result":{"value":[{"id":"7","title":"Web","text":"tea","#
          + #""url":"https://example.org/"}]}}"#
      ])
    backend.forget()
  }

  @Test
  func `readable results fill the places of unreadable ones`() throws {
    let bench = try bench()
    let role = Role(
      name: "guest", methods: try Self.rules("search.*", "."), read: try Self.rules("cells/**"),
      write: Rules())
    let guest = bench.connect(as: role)
    backend.all = (1...30).map {
      SearchHit(id: "t\($0)", title: "", text: "", source: "threads/\($0)")
    }
    backend.all += (1...5).map { SearchHit(id: "w\($0)", title: "", text: "") }
    func found(limit: Int) -> [String] {
      let answer = guest.call(
        #"{"id":2,"method":"search.find","params":{"term":"tea","limit":\#(limit)}}"#)
      return backend.all.map(\.id).filter { answer.contains(#""id":"\#($0)""#) }
    }
    #expect(found(limit: 3) == ["w1", "w2", "w3"])
    #expect(backend.limits == [3, 24, 192])
    #expect(found(limit: 10) == ["w1", "w2", "w3", "w4", "w5"])
    backend.all = (1...100_000).map {
      SearchHit(id: "t\($0)", title: "", text: "", source: "threads/\($0)")
    }
    backend.limits = []
    #expect(found(limit: 100) == [])
    #expect(backend.limits == [100, 800, 5000], "it does not look for ever")
    _ = guest.call(Self.open)
    backend.all = Array(backend.all[..<50]) + [SearchHit(id: "w", title: "", text: "")]
    type("tea", guest)
    bench.time.advance(330)
    #expect(guest.settle().last?.contains(#""id":"w""#) == true, "as one types as well")
    backend.forget()
  }

  @Test
  func `the order of the lines does not change the frames`() throws {
    try expectSameInAnyOrder({ try bench() }) { client in
      let opened = client.call(Self.open)
      type("tea", client)
      (client.connection.context.scheduler as? ManualTime)?.advance(330)
      let searching = client.settle()
      backend.answer(0)
      let found = client.settle()
      backend.forget()
      return [opened] + searching + found
    }
  }
}
