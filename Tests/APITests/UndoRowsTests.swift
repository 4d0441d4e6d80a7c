import API
import Apps
import Configuration
import EventSourcing
import Features
import JSON
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct UndoRowsTests {
  private let bench: Bench
  private let client: TestClient

  private static func bench(_ store: MemoryStore? = nil) throws -> Bench {
    try Bench(store) { catalog, parts in
      bindTodo(catalog, to: TodoService(in: parts.host.library))
      bindLists(catalog, to: ListsService(in: parts.host))
      bindUndo(catalog)
    }
  }

  init() throws {
    bench = try Self.bench()
    client = bench.connect()
  }

  @discardableResult
  private func call(_ method: String, _ params: String, by client: TestClient? = nil) -> String {
    (client ?? self.client).call(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
  }

  private func value(of source: String, _ client: TestClient? = nil) -> String? {
    (client ?? self.client).result(#"{"id":2,"method":"get","params":["\#(source)"]}"#)?["value"]?
      .text.text
  }

  private func refusal(_ params: String, by client: TestClient? = nil) -> WireError? {
    (client ?? self.client).error(#"{"id":1,"method":"undo","params":{\#(params)}}"#)
  }

  private let milk = #"{"id":1,"title":"milk","done":false}"#

  @Test
  func `a row gets back what it was, and the undo is undone too`() {
    call("todo.add", #"["milk"]"#)
    call("todo.finish", "[1]")
    #expect(
      call("undo", #"{"seq":2,"preview":true}"#).contains(
        #"{"changes":[{"source":"todo/1","from":{"id":1,"title":"milk","done":true},"to":\#(milk)}],"#
          + #""conflicts":[],"left":[],"through":2}"#))
    #expect(bench.host.last == 2)
    #expect(call("undo", #"{"seq":2}"#).contains(#""seq":3,"version":3"#))
    #expect(value(of: "todo/1") == milk)
    call("undo", #"{"seq":3}"#)
    #expect(value(of: "todo/1") == #"{"id":1,"title":"milk","done":true}"#)
  }

  @Test
  func `a removed row comes back with its number, and a number is not given again`() {
    call("todo.add", #"["milk"]"#)
    call("todo.remove", "[1]")
    call("undo", #"{"seq":2}"#)
    #expect(value(of: "todo/1") == milk)
    call("undo", #"{"seq":1,"force":true}"#)
    #expect(value(of: "todo/1") == nil)
    #expect(call("todo.add", #"["tea"]"#).contains(#""id":2"#))
  }

  @Test
  func `watchers, views and the history see it`() {
    call("todo.add", #"["milk"]"#)
    call("todo.remove", "[1]")
    call("subscribe", #"{"source":"todo/*","sub":"t"}"#)
    call("open", #"{"binder":"todo","view":"v"}"#)
    client.send(#"{"id":3,"method":"undo","params":{"seq":2}}"#)
    let lines = client.settle()
    #expect(
      lines.contains { $0.contains(#""sub":"t","seq":3,"source":"todo/1","value":\#(milk)"#) })
    #expect(lines.contains { $0.contains(#""view":"v""#) && $0.contains("milk") }, "\(lines)")
    let events = call("history", #"{"source":"events","after":2}"#)
    #expect(
      events.contains(
        #""data":{"rows":[{"table":"todo/*","key":"1","row":\#(milk)}]}"#))
    #expect(events.contains(#""type":"todo.rows-restored","stream":"todo/1","version":3"#))
  }

  @Test
  func `37: a change since is refused, unless it is forced`() {
    call("todo.add", #"["milk"]"#)
    call("todo.finish", "[1]")
    call("todo.rename", #"[1,"tea"]"#)
    #expect(refusal(#""seq":2"#)?.message == "event 3 has changed 'todo/1' since")
    #expect(bench.host.last == 3)
    call("undo", #"{"seq":2,"force":true}"#)
    #expect(value(of: "todo/1") == milk)
  }

  @Test
  func `a change that somebody has taken back is none`() {
    call("todo.add", #"["milk"]"#)
    call("todo.rename", #"[1,"tea"]"#)
    call("todo.finish", "[1]")
    call("todo.reopen", "[1]")
    #expect(refusal(#""seq":2"#) == nil)
    #expect(value(of: "todo/1") == milk)
  }

  @Test
  func `a span with rows and other sources is one commit, for a pattern too`() {
    call("todo.add", #"["milk"]"#)
    call("todo.add", #"["tea"]"#)
    call("lists.append", #"["l","x"]"#)
    call("todo.finish", "[2]")
    call("undo", #"{"since":{"seq":0},"source":"todo/2"}"#)
    #expect(value(of: "todo/2") == nil)
    #expect(value(of: "todo/1") == milk)
    call("undo", #"{"since":{"seq":0},"until":{"seq":4},"force":true}"#)
    #expect(value(of: "todo/1") == nil)
    #expect(value(of: "lists/l") == "[]")
  }

  @Test
  func `an undo is replayed by a restart, and by a reader of the past`() throws {
    call("todo.add", #"["milk"]"#)
    call("todo.remove", "[1]")
    call("undo", #"{"seq":2}"#)
    call("todo.finish", "[1]")
    let store = bench.store
    let again = try Self.bench(
      MemoryStore(epoch: "7f3a9c52", records: store.records, clock: { 1_767_323_046_000_000 }))
    let other = again.connect()
    #expect(value(of: "todo/1", other) == #"{"id":1,"title":"milk","done":true}"#)
    #expect(
      call("history", #"{"source":"todo/1","at":{"seq":3}}"#, by: other).contains(milk))
    #expect(!call("history", #"{"source":"todo/1","at":{"seq":2}}"#, by: other).contains("milk"))
  }

  @Test
  func `37: only who has changed a row, or may write everything, undoes it`() {
    let kim = bench.connect(uid: 2000, as: .made(read: ["todo/*"], write: ["todo/*"]))
    call("todo.add", #"["milk"]"#)
    call("todo.finish", "[1]", by: kim)
    let answer = call("undo", #"{"since":{"seq":0},"preview":true}"#, by: kim)
    #expect(answer.contains(#"{"stream":"todo/1","reason":"another user has recorded it"#))
    #expect(
      answer.contains(
        #""changes":[{"source":"todo/1","from":{"id":1,"title":"milk","done":true}"#))
    call("undo", #"{"seq":2}"#, by: kim)
    #expect(value(of: "todo/1") == milk)
    let reader = bench.connect(uid: 1000, as: .made(read: ["todo/*"], write: ["cells/**"]))
    #expect(refusal(#""seq":1,"force":true"#, by: reader)?.name == .permissionDenied)
    #expect(value(of: "todo/1") == milk)
  }
}

/// An undo in the applications that observe their own events, or except some.
@Suite(.leavesNothing)
struct UndoApplicationsTests {
  private func call(_ client: TestClient, _ method: String, _ params: String) -> String {
    client.call(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
  }

  @Test
  func `an open thread shows a post that comes back`() throws {
    let bench = try Bench { catalog, parts in
      bindThreads(catalog, to: ThreadsService(in: parts.host.library), parts.clients)
      bindUndo(catalog)
    }
    let client = bench.connect(uid: 7)
    _ = call(client, "threads.start", #"["Tea"]"#)
    _ = call(client, "threads.post", #"[1,"Green"]"#)
    _ = call(client, "threads.remove_post", #"{"thread":1,"post":1}"#)
    let last = bench.host.last
    _ = call(client, "open", #"{"binder":"thread","view":"t","args":{"id":1}}"#)
    client.send(#"{"id":2,"method":"undo","params":{"seq":\#(last)}}"#)
    let lines = client.settle()
    #expect(lines.contains { $0.contains(#""view":"t""#) && $0.contains("Green") }, "\(lines)")
    #expect(
      call(client, "get", #"["threads/1/posts"]"#).contains(#""body":"Green""#))
    // Sets have no order, and are compared nevertheless.
    for uid: UInt32 in 20..<30 {
      _ = call(bench.connect(uid: uid), "threads.like", #"{"thread":1,"post":1}"#)
    }
    let liked = bench.host.last
    #expect(liked == last + 11)
    #expect(call(client, "undo", #"{"seq":\#(liked)}"#).contains(#""conflicts":[]"#))
    #expect(call(client, "get", #"["threads/1/posts"]"#).contains(#""likes":9"#))
  }

  @Test
  func `an open person shows the name that comes back, and the one that it had`() throws {
    let bench = try Bench { catalog, parts in
      bindPeople(catalog, to: PeopleService(in: parts.host.library))
      bindUndo(catalog)
    }
    let client = bench.connect()
    _ = call(client, "people.create", #"["Kim"]"#)
    _ = call(client, "people.rename", #"[1,"Max"]"#)
    _ = call(client, "open", #"{"binder":"person","view":"p","args":{"id":1}}"#)
    _ = call(client, "subscribe", #"{"source":"people/1/name","sub":"n"}"#)
    _ = client.settle()
    client.send(#"{"id":2,"method":"undo","params":{"seq":2}}"#)
    let lines = client.settle()
    #expect(lines.contains { $0.contains(#""sub":"n","seq":3,"value":"Kim""#) }, "\(lines)")
    #expect(
      lines.contains {
        $0.contains(#""view":"p","seq":3"#) && $0.contains(#""name":{"value":"Kim"}"#)
      }, "\(lines)")
    #expect(lines.contains { $0.contains(#"{"op":"insert","at":0,"value":"Max"}"#) }, "\(lines)")
    // One who opens it later sees the same.
    client.send(
      #"{"id":3,"method":"open","params":{"binder":"person","view":"q","args":{"id":1}}}"#)
    let opened = client.settle().filter { $0.contains(#""view":"q""#) }
    #expect(
      opened.contains { $0.contains(#""value":"Max"},{"op":"insert","at":1,"value":"Kim"}"#) },
      "\(opened)")
    _ = call(client, "intent", #"{"view":"p","name":"rename","args":{"name":"Lee"}}"#)
    #expect(call(client, "get", #"["people/1/name"]"#).contains(#""value":"Lee""#))

    _ = call(client, "people.remove", "[1]")
    let removal = bench.host.last
    _ = call(client, "open", #"{"binder":"people","view":"all"}"#)
    client.send(#"{"id":4,"method":"undo","params":{"seq":\#(removal)}}"#)
    let again = client.settle()
    #expect(again.contains { $0.contains(#""view":"all""#) && $0.contains("Lee") }, "\(again)")
    #expect(call(client, "get", #"["people/1/color"]"#).contains("#808080"))
    #expect(
      call(client, "open", #"{"binder":"person","view":"r","args":{"id":1}}"#).contains("Lee"))
  }

  @Test
  func `a room stays as its members have seen it, and the answer says why`() throws {
    let bench = try ChatBench(bind: bindUndo)
    let client = bench.client("kim")
    let answer = call(client, "chat.create", #"["tea"]"#)
    #expect(answer.contains("result"), "\(answer)")
    let seq = bench.bench.host.last
    #expect(
      call(client, "undo", #"{"seq":\#(seq),"preview":true}"#).contains(
        #""changes":[],"conflicts":[],"left":[{"stream":"chat/rooms/1","#
          + #""reason":"it was sent to the members of the room"}]"#))
    #expect(
      call(client, "undo", #"{"since":{"seq":0},"source":"users/*","preview":true}"#)
        .contains("an undo takes no rights away, and gives none back"))
  }
}
