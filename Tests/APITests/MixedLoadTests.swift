import Apps
import BinderTesting
import Connections
import Features
import JSON
import Journal
import JournalMemory
import ServiceTestSupport
import Signals
import TestSupport
import Testing

/// Clients that use all features and leave nothing behind.
@Suite(.leavesNothing)
struct MixedLoadTests {
  /// Opens every kind of view, subscription, binding and wait as a user.
  private func load(_ client: TestClient, _ name: String, _ random: inout SeededRandom) {
    func call(_ method: String, _ params: String) {
      client.send(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
      if Bool.random(using: &random) { _ = client.settle() }
    }
    call("hello", #"{"limits":{}}"#)
    for _ in 0..<3 { call("users.log_in", #"{"name":"\#(name)"}"#) }
    var views = [
      ("cell", #"{"name":"lamp"}"#), ("system", "{}"), ("people", "{}"), ("person", #"{"id":1}"#),
      ("threads", "{}"), ("thread", #"{"id":1}"#), ("profile", #"{"as":"\#(name)"}"#),
      ("friends", #"{"as":"\#(name)"}"#), ("chat", "{}"), ("room", #"{"room":1}"#),
      ("feeds", "{}"), ("feed", #"{"id":"a"}"#), ("search", "{}"), ("todo", "{}"),
    ]
    views.shuffle(using: &random)
    for (i, (binder, args)) in views.enumerated() {
      call("open", #"{"binder":"\#(binder)","view":"w\#(i)","args":\#(args)}"#)
    }
    var sources = [
      "cells/lamp", "cells/**", "lists/l", "maps/m", "people/*", "threads/1/posts", "feeds/a",
      "feeds/**", "feeds/a/episodes", "users/*", "chat/rooms/1/messages", "presence/online",
      "system/load", "daemon/stats", "**", "events",
    ]
    sources.shuffle(using: &random)
    for source in sources { call("subscribe", #"{"source":"\#(source)"}"#) }
    call("subscribe", #"{"source":"events","durable":"r-\#(name)","steal":true}"#)
    call("subscribe", #"{"source":"cells/**","mode":"every"}"#)
    call("bind", #"{"expr":"cells/lamp ~> cells/\#(name)","binding":"b"}"#)
    call("bind", #"{"expr":"people/1/name <> cells/kim","binding":"c"}"#)
    call("wait", #"{"source":"cells/never","value":1}"#)
    call("history", #"{"source":"cells/lamp"}"#)
    call("search.find", #"{"term":"tea"}"#)
    call("atomic", #"{"calls":[{"method":"cells.set","params":["lamp",1]}]}"#)
    call("cells.set", #"["lamp","\#(name)"]"#)
    call("lists.append", #"["l",1]"#)
    call("maps.put", #"["m","\#(name)",1]"#)
    call("people.rename", #"[1,"\#(name)"]"#)
    call("threads.post", #"{"thread":1,"body":"\#(name)"}"#)
    call("threads.like", "[1,1]")
    call("todo.add", #"["\#(name)"]"#)
    call("todo.finish", "[1]")
    call("chat.join", #"{"room":1}"#)
    call("chat.send", #"{"room":1,"text":"hello"}"#)
    call("users.edit", #"{"about":"\#(name)"}"#)
    call("users.log_in", #"{"name":"\#(name)2"}"#)
    if Bool.random(using: &random) { call("users.log_out", "{}") }
    for i in views.indices where Bool.random(using: &random) {
      call("close", #"{"view":"w\#(i)"}"#)
    }
  }

  /// Connects clients, lets them act, and disconnects each in a different way.
  private func letCome(_ count: Int, to bench: Bench, _ random: inout SeededRandom) {
    let clients = (0..<count).map { bench.connect(uid: 1000 + UInt32($0)) }
    for (i, client) in clients.enumerated() { load(client, "user\(i)", &random) }
    for client in clients { _ = client.settle() }
    #expect(bench.table.connections.count == count)
    for client in clients.shuffled(using: &random) {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: client.connection.end()
      case 1: client.connection.close(.stalled)
      default:
        client.connection.receiveEnd()
        _ = client.settle()
        client.connection.end()
      }
      bench.time.advance(10)
      bench.table.flush()
    }
  }

  @Test(arguments: 0..<4)
  func `mixed load leaks nothing after all clients have left`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let whole = try WholeBench()
    let bench = whole.bench
    do {
      let owner = bench.connect()
      for (method, params) in [
        ("people.create", #"["Kim"]"#), ("threads.start", #"["Tea"]"#),
        ("threads.post", #"[1,"hello"]"#), ("users.log_in", #"{"name":"own"}"#),
        ("chat.create", #"{"name":"lobby"}"#), ("feeds.subscribe", #"["http://a.example/","a"]"#),
      ] { #expect(owner.result(#"{"id":3,"method":"\#(method)","params":\#(params)}"#) != nil) }
      owner.connection.end()
      bench.time.advance(1_000)
      whole.web.answer("Title\na One")
      _ = owner.settle()
    }
    let nodes = try #require(LiveNodes.counter)
    var before: [String: Int] = [:]
    for round in 0..<3 {
      letCome(6, to: bench, &random)
      bench.store.commit()
      bench.time.advance(3_000)
      bench.store.commit()
      bench.table.flush()
      #expect(bench.table.connections.isEmpty)
      try whole.checkNames()
      if round == 0 { before = nodes.counts } else { #expect(nodes.counts == before) }
      for kind in [
        "Connection", "View", "Subscription", "Broadcast", "ClientSession", "LoggedInUser",
      ] {
        let count = nodes.counts[kind] ?? 0
        #expect(count == 0, "\(kind)")
      }
    }
    let owner = bench.connect()
    for (method, params) in [
      ("users.log_in", #"{"name":"own"}"#), ("lists.clear", #"["l"]"#), ("maps.clear", #"["m"]"#),
      ("people.remove", "[1]"), ("threads.remove", "[1]"), ("chat.remove", #"{"room":1}"#),
      ("feeds.unsubscribe", #"["a"]"#), ("todo.remove", "[1]"),
    ] { #expect(owner.result(#"{"id":3,"method":"\#(method)","params":\#(params)}"#) != nil) }
    owner.connection.end()
    try whole.checkNames()
  }
}
