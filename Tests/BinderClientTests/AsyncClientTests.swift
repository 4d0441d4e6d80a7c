import BinderAsync
import Testing

private let present = ScriptedDaemon.Step.answer(#"{"sub":"s","epoch":"e","seq":3,"value":1}"#)

private func cancelThisTask() { withUnsafeCurrentTask { $0?.cancel() } }

/// Cancellation; `Protocol/clients/conformance` has the rest.
@Suite(.timeLimit(.minutes(5)))
struct AsyncClientTests {
  @Test
  func `a cancelled call is given up in the daemon`() async throws {
    let answered = ScriptedDaemon.Step.send(#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, .take, .take, answered, .take, .hang]
    ])
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    await withThrowingTaskGroup { group in
      for _ in 0..<2 { group.addTask { try await client.call("wait") } }
      // The daemon answers one of them after it has both.
      let first = await group.nextResult()
      #expect((try? first?.get()) == [:])
      group.cancelAll()
      await #expect(throws: CancellationError.self) { try await group.next() }
    }
    await client.close()
    let last = try #require(try daemon.requests().first?.last)
    #expect(last["method"] == .string("cancel"))
    #expect(last["params"] == .object(["id": .number(JSONNumber(2))]))
  }

  @Test
  func `a cancelled task ends its subscription`() async throws {
    let daemon = try ScriptedDaemon([[ScriptedDaemon.hello, present, .hang]])
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    let task = Task {
      for try await _ in client.watch("cells/a") { cancelThisTask() }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    // It returns when the client has disconnected.
    #expect(try daemon.requests().map(\.count) == [2])
  }

  @Test
  func `leaving a loop ends its subscription`() async throws {
    let daemon = try ScriptedDaemon([[ScriptedDaemon.hello, present, .hang]])
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    for try await change in client.watch("cells/a") {
      #expect(change.value == JSONText(1) && change.isPresent)
      break
    }
    #expect(try daemon.requests().map(\.count) == [2])
  }

  @Test
  func `a task is cancelled while it waits for the daemon to come back`() async throws {
    // The second connection is accepted and never answered.
    let daemon = try ScriptedDaemon([[ScriptedDaemon.hello, present]])
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    let task = Task {
      var changes = client.watch("cells/a").makeAsyncIterator()
      _ = try await changes.next()
      cancelThisTask()
      _ = try daemon.requests()
      _ = try await changes.next()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test
  func `values of the types of the program`() async throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .answer(#"{"value":{"port":80}}"#), .answer(#"{"value":"x"}"#),
        .answer(#"{"value":2,"seq":9,"version":4}"#), .answer(#"{"value":3,"seq":10,"version":5}"#),
        .answer(#"{"stats":{}}"#), .answer(#"{"value":3,"seq":10,"version":5}"#),
        .answer(#"{"value":4,"seq":11,"version":6}"#), .hang,
      ]
    ])
    struct Settings: Codable, Equatable { var port: Int }
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    #expect(try await client.get("maps/app", as: Settings.self) == Settings(port: 80))
    await #expect(throws: ClientError.self) { try await client.get("maps/app", as: Settings.self) }
    let given = ["name": "visits"]
    #expect(try await client.command("cells.add", with: given, as: Int.self) == 2)
    let added = try await client.command("cells.add", with: given, result: Committed<Int>.self)
    #expect((added.value, added.seq, added.version) == (3, 10, 5))
    let error = await #expect(throws: ClientError.self) {
      try await client.call("stats", with: given, as: Int.self)
    }
    #expect("\(String(describing: error))".contains("decode all of it with 'result:'"))
    let mistake = await #expect(throws: ClientError.self) {
      try await client.command("cells.add", with: given, result: Int.self)
    }
    let text = "the result of cells.add is no Int: "
    #expect("\(mistake.map(String.init(describing:)) ?? "")".contains(text))
    #expect("\(String(describing: mistake))".contains("it has the members seq, value, version"))
    // As in the code that bindctl generates.
    let answer: [String: Int] = try await client.command("cells.add", with: given)
    #expect(answer == ["value": 4, "seq": 11, "version": 6])
    await client.close()
    let params = try #require(try daemon.requests().first?.last?["params"])
    guard case .object(let members) = params else { return }
    #expect(members["name"] == .string("visits"))
    #expect(members["_meta"] != nil)
  }

  private static func notification(_ method: String, _ params: String) -> ScriptedDaemon.Step {
    .send(#"{"jsonrpc":"2.0","method":"\#(method)","params":{"sub":"s",\#(params)}}"#)
  }

  private static func event(_ seq: Int) -> ScriptedDaemon.Step {
    notification("next", #""seq":\#(seq),"event":{"type":"x"}"#)
  }

  @Test
  func `a mark of a durable reader that reads again brings no event twice`() async throws {
    let begin = ScriptedDaemon.Step.answer(#"{"sub":"s","epoch":"e","after":0,"durable":"d"}"#)
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, begin, Self.event(2), Self.event(3)],
      [
        ScriptedDaemon.hello, begin, Self.notification("mark", #""seq":1"#), Self.event(2),
        Self.event(3), Self.event(4), .hang,
      ],
    ])
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    let reader = try await client.subscribe("events", ["durable": .string("d")])
    var seqs: [UInt64] = []
    while seqs.last != 4, let update = try await reader.next() {
      if update.kind == .next, let seq = update.seq { seqs.append(seq) }
    }
    #expect(seqs == [2, 3, 4])
    await reader.close()
  }

  @Test
  func `events of streams and types are asked for by their patterns`() async throws {
    let begin = ScriptedDaemon.Step.answer(#"{"sub":"s","epoch":"e","after":0}"#)
    let daemon = try ScriptedDaemon([[ScriptedDaemon.hello, begin, Self.event(2), .hang]])
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    for try await event in client.events("cells/x", "lists/*", types: ["cells.*"]) {
      #expect(event.seq == 2)
      break
    }
    let params = try daemon.requests().first?.last?["params"]
    guard case .object(let members)? = params else { throw CancellationError() }
    #expect(
      members["filter"]?.text.text
        == #"{"streams":["cells/x","lists/*"],"types":["cells.*"]}"#)
  }

  @Test
  func `an acknowledgement of another journal is not repeated`() async throws {
    func begin(_ epoch: String) -> ScriptedDaemon.Step {
      .answer(#"{"sub":"s","epoch":"\#(epoch)","after":0,"durable":"d"}"#)
    }
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, begin("e"), Self.event(500), .take],
      [ScriptedDaemon.hello, begin("f"), Self.event(2)],
      // It would receive an acknowledgement.
      [ScriptedDaemon.hello, begin("f"), Self.event(2), Self.event(3), .take],
    ])
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    let reader = try await client.subscribe("events", ["durable": .string("d")])
    #expect(try await reader.next()?.seq == 500)
    await reader.acknowledge(upTo: 500)
    #expect(try await reader.next()?.seq == 2)
    #expect(try await reader.next()?.seq == 3)
    await reader.close()
    #expect(try daemon.requests().map(\.count) == [3, 2, 2])
  }

  @Test
  func `the present value of a list that comes in parts is marked as present`() async throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello,
        .answer(#"{"sub":"s","epoch":"e","seq":1,"kind":"list","value":[1],"more":true}"#),
        Self.notification("next", #""seq":1,"part":{"at":1,"value":[2],"last":true}"#), .hang,
      ]
    ])
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    for try await change in client.watch("lists/a") {
      #expect(change.value?.text == "[1,2]")
      #expect(change.isPresent)
      break
    }
  }

  @Test
  func `sources that are not journaled are read again with those of a pattern`() async throws {
    func begin(_ load: Int) -> ScriptedDaemon.Step {
      .answer(#"{"sub":"s","epoch":"e","seq":3,"values":{"cells/a":1,"live/b":\#(load)}}"#)
    }
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, begin(1)], [ScriptedDaemon.hello, begin(2), .hang],
    ])
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    var seen: [String] = []
    for try await change in client.watch("**", mode: .newest) {
      seen.append("\(change.source)=\(change.value ?? .null)")
      if seen.count == 3 { break }
    }
    #expect(seen == ["cells/a=1", "live/b=1", "live/b=2"])
  }
}
