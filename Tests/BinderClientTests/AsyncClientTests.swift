import BinderAsync
import Testing

private let present = ScriptedDaemon.Step.answer(#"{"sub":"s","epoch":"e","seq":3,"value":1}"#)

private func cancelThisTask() { withUnsafeCurrentTask { $0?.cancel() } }

/// Cancellation; `Protocol/clients/conformance` has the rest.
@Suite(.timeLimit(.minutes(1)))
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
        .answer(#"{"value":2}"#), .hang,
      ]
    ])
    struct Settings: Codable, Equatable { var port: Int }
    let client = AsyncBinderClient(socket: daemon.path, name: "test")
    #expect(try await client.get("maps/app", as: Settings.self) == Settings(port: 80))
    await #expect(throws: ClientError.self) { try await client.get("maps/app", as: Settings.self) }
    let given = ["name": "visits"]
    let answer: [String: Int] = try await client.command("cells.add", with: given)
    #expect(answer == ["value": 2])
    await client.close()
    let params = try #require(try daemon.requests().first?.last?["params"])
    guard case .object(let members) = params else { return }
    #expect(members["name"] == .string("visits"))
    #expect(members["_meta"] != nil)
  }
}
