import API
import BinderTesting
import Features
import JSON
import ServiceTestSupport
import TestSupport
import Testing

/// The order of the lines in the binders of services makes no difference.
@Suite(.leavesNothing)
struct ShuffledServicesTests {
  /// Returns the description of all features, and the lines of a client that uses them.
  private func told(seed: Int) throws -> [String] {
    let whole = try WholeBench(lineOrder: LineOrder.order(seed))
    let client = whole.bench.connect()
    var told = [
      client.call(#"{"id":0,"method":"hello","params":{"limits":{"line":1000000}}}"#),
      client.call(#"{"id":1,"method":"describe"}"#),
      client.call(#"{"id":1,"method":"rpc.discover"}"#),
      client.call(#"{"id":1,"method":"whoami"}"#),
    ]
    guard
      case .object(let services)? = client.result(#"{"id":1,"method":"describe"}"#)?["services"]
    else { return [] }
    for service in services.members.map(\.name) {
      told.append(client.call(#"{"id":1,"method":"describe","params":["\#(service)"]}"#))
    }
    for source in [
      "cells/**", "lists/l", "people/1", "system/load", "presence/online", "daemon/journal",
    ] {
      told.append(client.call(#"{"id":2,"method":"subscribe","params":["\#(source)"]}"#))
    }
    for (method, params) in [
      ("cells.set", #"["lamp",1]"#), ("set", #"["cells/lamp",2]"#), ("lists.append", #"["l",1]"#),
      ("maps.put", #"["m","k",1]"#), ("people.create", #"["Kim"]"#),
      ("set", #"["people/1/name","Lee"]"#), ("threads.start", #"["Tea"]"#),
      ("threads.post", #"[1,"hello"]"#), ("todo.add", #"["Tea"]"#),
      ("users.log_in", #"{"name":"kim"}"#),
      ("chat.create", #"{"name":"lobby"}"#), ("chat.send", #"{"room":1,"text":"hello"}"#),
      ("feeds.subscribe", #"["http://a.example/","a"]"#), ("search.find", #"["hello"]"#),
      ("bind", #"{"expr":"cells/lamp ~> cells/copy","scope":"daemon","binding":"b"}"#),
      ("get", #"["**"]"#),
    ] {
      told.append(client.call(#"{"id":3,"method":"\#(method)","params":\#(params)}"#))
    }
    return told
  }

  @Test
  func `the lines of the binders of all services can be shuffled`() throws {
    let written = try told(seed: 0)
    #expect(!written.contains { $0.contains(#""error":{"code":-"#) }, "\(written)")
    #expect(written.contains { $0.contains(#""chat/rooms/1/messages""#) }, "\(written.suffix(1))")
    for seed in 1..<12 {
      let shuffled = try told(seed: seed)
      #expect(shuffled == written)
    }
  }

  @Test
  func `the shuffle covers every binder of a service`() throws {
    let root = #filePath.replacing("/Tests/APITests/ShuffledServicesTests.swift", with: "")
    let bench = ["Support", "WholeBench"].map {
      Files.text(of: "\(root)/Tests/APITests/\($0).swift")
    }.joined()
    var count = 0
    let files = ["API", "Apps", "Features"].flatMap { folder in
      Files.paths(below: "\(root)/Sources/\(folder)").map { "\(folder)/\($0)" }
    }
    for file in files where file.hasSuffix("Binder.swift") {
      let text = Files.text(of: "\(root)/Sources/\(file)")
      for match in text.matches(of: /package func (bind\w+)\(\s*_ catalog: Catalog/) {
        #expect(bench.contains("\(match.1)(catalog"), "\(match.1)")
        count += 1
      }
    }
    #expect(count > 15)
  }

  @Test
  func `sources, methods and values of a service that is not offered are reported`()
    async
  {
    await #expect(processExitsWith: .failure) {
      _ = try Bench { catalog, parts in
        let host = parts.host
        catalog.offerSources(of: ChoreService(in: host).ledger, [], exists: { _ in true })
      }
    }
    await #expect(processExitsWith: .failure) {
      _ = try Bench { catalog, parts in
        let host = parts.host
        let chores = ChoreService(in: host)
        catalog.command("chores.finish", "Finishes.", FinishChore.self, writes: []) {
          _, chore throws(ChoreError) in try chores.finish(chore.id)
        }
      }
    }
    await #expect(processExitsWith: .failure) {
      _ = try Bench { catalog, _ in
        catalog.offerSource(
          "chores/load", "Load.", SystemService(FixedProbe(), on: ManualTime()).load)
      }
    }
  }
}
