import Apps
import BinderTesting
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Clients of feeds.
@Suite(.leavesNothing)
struct FeedsTests {
  let web = FakeWeb()
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Self.bench(web)
    client = bench.connect()
  }

  private static func bench(_ web: FakeWeb) throws -> Bench {
    let time = ManualTime()
    var end: () -> Void = {}
    let bench = try Bench(
      time: time,
      services: { parts in
        let host = parts.host
        let feeds = FeedsService(
          in: host.library(on: time), web: web, reader: FakeReader())
        end = { [unowned host] in #expect(throws: Never.self) { try feeds.end(in: host) } }
        return {
          bindFeeds($0, to: feeds)
          bindUndo($0)
        }
      })
    bench.endServices = end
    return bench
  }

  private func subscribe() {
    _ = client.call(
      #"{"id":1,"method":"feeds.subscribe","params":{"url":"http://a.example/","id":"a"}}"#)
    bench.time.advance(0)
  }

  private func next(_ members: String) -> String {
    #"{"jsonrpc":"2.0","method":"next","params":{\#(members)}}"#
  }

  @Test
  func `a feed is subscribed to, fetched, listed, played and unsubscribed`() throws {
    #expect(
      client.call(
        #"{"id":1,"method":"feeds.subscribe","params":{"url":"http://a.example/"}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"value":"1","seq":1,"version":1}}"#)
    bench.time.advance(0)
    web.answer("Title\nb Two\na One")
    _ = client.settle()
    #expect(
      client.call(#"{"id":2,"method":"feeds.list"}"#)
        == #"{"jsonrpc":"2.0","id":2,"result":{"value":[{"id":"1","url":"http://a.example/","title":"Title","episodes":2,"unplayed":2}]}}"#
    )
    #expect(
      client.call(#"{"id":3,"method":"feeds.mark_played","params":{"id":"1","episode":2}}"#)
        .contains(#""value":1,"#))
    let episodes = client.call(#"{"id":4,"method":"get","params":["feeds/1/episodes"]}"#)
    #expect(
      episodes.contains(
        #""value":[{"id":2,"title":"Two","played":true,"key":"b"},{"id":1,"title":"One","played":false,"key":"a"}]"#
      ), "\(episodes)")
    #expect(
      client.error(#"{"id":5,"method":"feeds.mark_played","params":{"id":"1","episode":9}}"#)?.name
        == .notFound)
    #expect(
      client.call(#"{"id":6,"method":"feeds.unsubscribe","params":{"id":"1"}}"#).contains(
        #""value":"http://a.example/""#))
    #expect(client.error(#"{"id":7,"method":"get","params":["feeds/1"]}"#)?.name == .notFound)
    #expect(
      client.error(#"{"id":8,"method":"feeds.subscribe","params":["file:///x"]}"#)?.data["path"]
        == .string("/url"))
  }

  private func undo(_ params: String) -> String {
    client.call(#"{"id":1,"method":"undo","params":{\#(params)}}"#)
  }

  @Test
  func `marks and subscriptions are undone, and what the web says stays`() throws {
    subscribe()
    web.answer("Title\nb Two\na One")
    _ = client.settle()
    _ = client.call(
      #"{"id":2,"method":"subscribe","params":{"source":"feeds/a/episodes","sub":"e"}}"#)
    _ = client.call(#"{"id":3,"method":"feeds.mark_played","params":{"id":"a","episode":2}}"#)
    let mark = bench.host.last
    client.send(#"{"id":4,"method":"undo","params":{"seq":\#(mark)}}"#)
    let lines = client.settle()
    #expect(
      lines.contains {
        $0.contains(#""sub":"e""#) && $0.contains(#""id":2,"title":"Two","played":false"#)
      }, "\(lines)")
    #expect(client.call(#"{"id":5,"method":"feeds.list"}"#).contains(#""episodes":2,"unplayed":2"#))
    #expect(
      undo(#""since":{"seq":0},"preview":true"#).contains(
        #"{"stream":"feeds/a","reason":"the feed on the web says so"#))

    _ = client.call(#"{"id":6,"method":"feeds.unsubscribe","params":{"id":"a"}}"#)
    let end = bench.host.last
    let before = web.requests.count
    client.send(#"{"id":7,"method":"undo","params":{"seq":\#(end)}}"#)
    let back = client.settle()
    #expect(back.contains { $0.contains(#""sub":"e""#) && $0.contains("Two") }, "\(back)")
    #expect(
      client.call(#"{"id":8,"method":"feeds.list"}"#).contains(
        #""title":"Title","episodes":2,"unplayed":2"#))
    // It is fetched again for those who watch it.
    _ = client.call(#"{"id":9,"method":"subscribe","params":{"source":"feeds/a","sub":"f"}}"#)
    bench.time.advance(0)
    #expect(web.requests.count == before + 1)
    try #require(web.count == 1)
    web.answer("Title\nc Three\nb Two\na One")
    _ = client.settle()
    #expect(client.call(#"{"id":10,"method":"feeds.list"}"#).contains(#""episodes":3"#))
  }

  @Test
  func `a subscription that was undone ends the fetch, and begins again without its result`()
    throws
  {
    subscribe()
    let begin = bench.host.last
    #expect(web.requests.count == 1)
    #expect(undo(#""seq":\#(begin)"#).contains("result"))
    #expect(client.call(#"{"id":2,"method":"feeds.list"}"#).contains(#""value":[]"#))
    #expect(web.count == 0, "the request is cancelled")
    subscribe()
    try #require(web.count == 1)
    web.answer("Title\na One")
    _ = client.settle()
    let answered = bench.host.last
    #expect(
      undo(#""since":{"seq":\#(begin + 1)},"until":{"seq":\#(answered)},"force":true"#)
        .contains("result"))
    #expect(client.call(#"{"id":4,"method":"feeds.list"}"#).contains(#""value":[]"#))
    subscribe()
    let state = client.call(#"{"id":5,"method":"get","params":["feeds/a"]}"#)
    #expect(state.contains(#""state":"loading""#), "\(state)")
    try #require(web.count == 1)
    web.answer("Title\na One")
    _ = client.settle()
  }

  @Test
  func `a hidden feed looks like a missing one`() throws {
    subscribe()
    web.answer("Title\na One")
    _ = client.settle()
    let some = bench.connect(as: .made(read: ["cells/**"], write: ["feeds/mine"]))
    let (requests, last) = (web.requests.count, bench.host.last)
    for id in ["a", "none"] {
      let error = some.error(#"{"id":1,"method":"feeds.refresh","params":["\#(id)"]}"#)
      #expect(error?.name == .notFound)
      #expect(error?.message == "there is no feed '\(id)'")
    }
    #expect(
      some.result(#"{"id":1,"method":"feeds.refresh"}"#)?["value"] == .number(JSONNumber(0)))
    let taken = some.error(
      #"{"id":1,"method":"feeds.subscribe","params":["http://a.example/","mine"]}"#)
    #expect(taken?.name == .alreadyExists)
    #expect(taken?.data["id"] == .string("http://a.example/"))
    for url in ["http://a.example/", "http://b.example/"] {
      let unnamed = some.error(#"{"id":1,"method":"feeds.subscribe","params":["\#(url)"]}"#)
      #expect(unnamed?.data["id"] == .string("feeds/*"), "the next number stays hidden")
    }
    bench.time.advance(0)
    #expect(web.requests.count == requests, "nothing is fetched")
    #expect(bench.host.last == last)

    let reader = bench.connect(as: .made(read: ["feeds/*"], write: []))
    #expect(
      reader.result(#"{"id":1,"method":"feeds.refresh"}"#)?["value"] == .number(JSONNumber(1)))
    bench.time.advance(0)
    #expect(web.requests.count == requests + 1, "who may watch it may have it fetched")
    web.answer("Title\na One")
    _ = client.settle()
  }

  @Test
  func `the refresh intent of a view requires access to feeds.refresh`() throws {
    subscribe()
    web.answer("Title\na One")
    _ = client.settle()
    for (methods, isAllowed) in [([String](), false), (["feeds.refresh"], true)] {
      let some = bench.connect(as: .made(methods: methods, read: ["feeds/**"], write: []))
      for (binder, view) in [(#""feeds""#, "v"), (#""feed","args":{"id":"a"}"#, "w")] {
        let opened = some.call(
          #"{"id":1,"method":"open","params":{"view":"\#(view)","binder":\#(binder)}}"#)
        #expect(opened.contains(#""intents":{"#), "\(opened)")
        #expect(opened.contains(#""refresh":{"params""#) == isAllowed, "\(opened)")
        guard !isAllowed else { continue }
        let error = some.error(
          #"{"id":2,"method":"intent","params":{"view":"\#(view)","name":"refresh"}}"#)
        #expect(error?.name == .notFound)
      }
    }
  }

  @Test
  func `a subscriber of a feed sees it load, fail, reload and end`() throws {
    subscribe()
    #expect(
      client.call(#"{"id":2,"method":"subscribe","params":{"source":"feeds/a","sub":"s"}}"#)
        == #"{"jsonrpc":"2.0","id":2,"result":{"sub":"s","source":"feeds/a","kind":"loading","state":"loading"}}"#
    )
    web.answer("T\na One")
    let value =
      #""value":{"id":"a","url":"http://a.example/","title":"T","episodes":1,"unplayed":1}"#
    #expect(client.settle() == [next(#""sub":"s","state":"loaded",\#(value)"#)])
    bench.time.advance(1_800_000)
    #expect(client.settle() == [next(#""sub":"s","state":"reloading",\#(value)"#)])
    web.answer("?")
    let lines = client.settle()
    #expect(lines.first?.contains(#""sub":"s","state":"failed","error":{"code":1000,"#) == true)
    #expect(lines.first?.contains(#""reason":"parse_error""#) == true)
    bench.time.advance(1_800_000)
    web.fail(.untrusted)
    #expect(client.settle().last?.contains(#""retry":false,"reason":"server_error""#) == true)
    bench.time.advance(1_800_000)
    web.fail(.timedOut)
    #expect(
      client.settle().last?.contains(
        #""retry":true,"reason":"upstream_timeout"}},\#(value)"#) == true,
      "with what is known of the feed")
    client.send(#"{"id":3,"method":"feeds.mark_played","params":{"id":"a"}}"#)
    #expect(
      client.settle().contains {
        $0.contains(#""sub":"s","state":"failed""#) && $0.contains(#""unplayed":0}"#)
      }, "what is known changes beside a failure")
    _ = client.call(#"{"id":3,"method":"feeds.unsubscribe","params":["a"]}"#)
    #expect(client.settle() == [])
    #expect(bench.time.count == 0)
  }

  @Test
  func `fetches stop when the last subscriber leaves`() {
    subscribe()
    client.send(#"{"id":2,"method":"subscribe","params":{"source":"feeds/a","sub":"s"}}"#)
    _ = client.settle()
    #expect(web.count == 1)
    _ = client.call(#"{"id":3,"method":"unsubscribe","params":["s"]}"#)
    web.answer("T")
    _ = client.settle()
    #expect(web.count == 0)
    #expect(bench.time.count == 0)
  }

  @Test
  func `a pattern fetches its feeds, and shows new and removed feeds`() {
    client.send(#"{"id":1,"method":"subscribe","params":{"source":"feeds/*","sub":"p"}}"#)
    _ = client.settle()
    subscribe()
    web.answer("T\na One")
    #expect(
      client.settle().last?.contains(#""source":"feeds/a","value":{"state":"loaded""#) == true)
    _ = client.call(#"{"id":3,"method":"feeds.unsubscribe","params":["a"]}"#)
    _ = client.call(#"{"id":4,"method":"unsubscribe","params":["p"]}"#)
    #expect(bench.time.count == 0)
  }

  @Test
  func `episodes are a list, sent step by step, with a history`() {
    let none = #"{"id":1,"method":"get","params":["feeds/a/episodes"]}"#
    #expect(client.error(none)?.name == .notFound)
    subscribe()
    #expect(client.call(none).contains(#""value":[]"#), "a feed without episodes")
    web.answer("T\na One")
    _ = client.settle()
    let first = #"{"id":1,"title":"One","played":false,"key":"a"}"#
    #expect(
      client.call(
        #"{"id":2,"method":"subscribe","params":{"source":"feeds/a/episodes","sub":"e"}}"#
      ).contains(#""kind":"list","epoch":"7f3a9c52","seq":3,"value":[\#(first)]"#))
    client.send(#"{"id":3,"method":"feeds.mark_played","params":["a",1]}"#)
    #expect(
      client.settle().last
        == next(#""sub":"e","seq":4,"changes":[{"op":"merge","at":0,"value":{"played":true}}]"#))
    #expect(
      client.call(
        #"{"id":4,"method":"history","params":{"source":"feeds/a/episodes","at":{"seq":3}}}"#
      )
      .contains(#""value":[\#(first)]"#))
    #expect(
      client.error(#"{"id":5,"method":"history","params":{"source":"feeds/a","at":{"seq":3}}}"#)?
        .message.contains("not journaled") == true)
    #expect(
      client.error(
        #"{"id":6,"method":"subscribe","params":{"source":"feeds/a","mode":"every"}}"#)?.message
        .contains("needs a journaled source") == true)
    for (i, pattern) in ["feeds/*", "feeds/**"].enumerated() {
      let line =
        #"{"id":\#(10 + i),"method":"subscribe","params":{"source":"\#(pattern)","mode":"every"}}"#
      #expect(client.error(line)?.data["path"] == .string("/mode"))
    }
    #expect(
      client.call(
        #"{"id":20,"method":"subscribe","params":{"source":"feeds/*/episodes","mode":"every"}}"#
      ).contains(#""values":{"feeds/a/episodes":["#))
    let described = client.call(#"{"id":7,"method":"describe","params":["feeds"]}"#)
    #expect(
      described.contains(
        #""*/episodes":{"doc":"The episodes of a feed, newest first.","kind":"list""#))
    #expect(
      described.contains(#""kind":"loading","type":"object","writable":false,"journaled":false"#))
  }

  // MARK: Views

  /// Runs a conversation with the views; the order of their binders' lines must not matter.
  private static func conversation(
    _ client: TestClient, _ bench: Bench, _ web: FakeWeb
  ) -> [String] {
    var lines: [String] = []
    func say(_ text: String) {
      client.send(text)
      lines += client.settle()
      bench.time.advance(0)
      lines += client.settle()
    }
    func answer(_ text: String) {
      web.answer(text)
      lines += client.settle()
    }
    func ask(_ id: Int, _ view: String, _ name: String, _ arguments: String = "{}") {
      say(
        #"{"id":\#(id),"method":"intent","params":{"view":"\#(view)","name":"\#(name)","args":\#(arguments)}}"#
      )
    }
    say(#"{"id":1,"method":"open","params":{"binder":"feeds","view":"v"}}"#)
    ask(2, "v", "add", #"{"url":"http://a.example/","id":"a"}"#)
    answer("Title\na One")
    ask(3, "v", "open", #"{"id":"b"}"#)
    ask(4, "v", "open", #"{"id":"a"}"#)
    ask(5, "v.1", "refresh")
    answer("Title\nb Two\na One")
    ask(6, "v.1", "mark_played", #"{"episode":1}"#)
    bench.time.advance(1_800_000)
    lines += client.settle()
    web.fail(.status(503))
    lines += client.settle()
    ask(7, "v.1", "unsubscribe")
    ask(8, "v", "refresh")
    say(#"{"id":9,"method":"close","params":{"view":"v"}}"#)
    return lines
  }

  @Test
  func `the views show feeds and episodes, and their changes`() throws {
    let lines = Self.conversation(client, bench, web)
    func has(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
    #expect(has(#""props":{"feeds":{"kind":"list","hides":["url"],"value":[]}}"#))
    #expect(has(#""changes":[{"op":"insert","at":0,"value":{"id":"a","#))
    #expect(has(#""title":"Title","episodes":1,"unplayed":1,"state":"loaded"}"#))
    #expect(has(#""id":3,"error":{"code":1001,"message":"there is no feed 'b'""#))
    #expect(has(#""opened":"v.1""#))
    let episodes = #""episodes":{"kind":"list","hides":["url","audio","key"],"#
    #expect(has(episodes + #""value":[{"id":1,"title":"One""#))
    #expect(has(#""episodes":{"changes":[{"op":"insert","at":0,"value":{"id":2,"title":"Two""#))
    #expect(has(#""state":"reloading""#))
    #expect(
      has(#""state":"failed","error":{"code":1000,"message":"the server answered with status 503""#)
    )
    #expect(has(#""closed","params":{"view":"v.1","#))
    #expect(has(#""id":8,"result":{"value":0"#))
    #expect(bench.time.count == 0, "nobody fetches any more")
  }

  @Test
  func `the order of the binders' lines does not change the frames`() throws {
    var (web, bench) = (web, bench)
    try expectSameInAnyOrder {
      web = FakeWeb()
      bench = try Self.bench(web)
      return bench
    } _: { client in
      Self.conversation(client, bench, web)
    }
  }

  @Test
  func `a view shows as many of the newest episodes as fit, or as requested`() {
    subscribe()
    web.answer("T" + (1...60).map { "\nk\($0) e\($0)" }.joined())
    _ = client.settle()
    func count(_ arguments: String) -> Int {
      let line =
        #"{"id":1,"method":"open","params":{"binder":"feed","args":{"id":"a"\#(arguments)}}}"#
      return client.call(line).split(separator: #""key":"#).count - 1
    }
    #expect(count("") == 50)
    #expect(count(#","newest":3"#) == 3)
    #expect(count(#","newest":100"#) == 60)
    #expect(count(#","newest":-1"#) == 0)
  }

  @Test
  func `a view of a missing feed does not open`() {
    #expect(
      client.error(#"{"id":1,"method":"open","params":{"binder":"feed","args":{"id":"x"}}}"#)?.name
        == .notFound)
  }
}
