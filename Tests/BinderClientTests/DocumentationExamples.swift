import BinderAsync
import BinderClient
import JSON
import Wire

// The examples of the documentation, which need a daemon: they are compiled, not run.

private func exampleOfBinderClient() throws {
  let client = BinderClient(name: "porch")
  _ = try client.call("set", ["source": .string("cells/lamp"), "value": .bool(true)])
  let lamps = try client.follow([Topic("cells/**")])
  while true {
    if case .value(let change) = try lamps.next() { print(change.source, change.value ?? .null) }
  }
}

private func exampleOfPolledConnection(_ client: BinderClient) throws {
  let link = PolledConnection(client)
  link.onConnect = { [unowned link] in link.send("subscribe", ["source": .string("cells/a")]) }
  link.onNotification = { method, params in print(method, params) }
  try link.start()
  while true {
    // Wait until link.descriptor is readable or link.deadline is over.
    if let loss = try link.receive() { print("lost:", loss.error) }
  }
}

private func exampleOfReconnection(
  _ reconnection: inout Reconnection, _ end: ConnectionEnd
) throws -> UInt64 {
  guard let pause = reconnection.pause(after: end) else { throw end.error }
  return pause
}

private func exampleOfAsyncBinderClient() async throws {
  let client = AsyncBinderClient(name: "porch")
  try await client.set("cells/lamp", to: true)
  for try await change in client.watch("cells/**") {
    print(change.source, change.value ?? .null)
  }
}

private struct Add: Decodable {
  let thing: String
  let n: Int?
}

private func exampleOfService(_ client: AsyncBinderClient) async throws {
  let stock = Service("stock", doc: "What is in the store.")
    .method("add", "Adds things; returns how many there are.") { (call, add: Add) in
      let count = try await call.get(add.thing, or: 0) + (add.n ?? 1)
      try call.set(add.thing, to: count)
      return count
    }
  try await client.provide(stock).wait()
}

private struct Cell: Encodable {
  let name: String
  let value: Bool
}

private func exampleOfCommands(_ client: AsyncBinderClient) async throws {
  let visits = try await client.command("cells.add", with: ["name": "visits"], as: Int.self)
  print(visits)
  let set = try await client.command(
    "cells.set", with: Cell(name: "lamp", value: true), result: Committed<Bool>.self)
  print(set.value, set.seq ?? 0)
}
