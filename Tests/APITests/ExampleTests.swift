import API
import Features
import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// The example service of the README.
@Suite(.leavesNothing)
struct ExampleTests {
  @Test
  func `the service of the README answers, shows, refuses and describes itself`() throws {
    let bench = try Bench { bindChores($0, to: ChoreService(in: $1.host)) }
    let client = bench.connect()
    client.send(#"{"id":1,"method":"subscribe","params":{"source":"chores/*"}}"#)
    _ = client.settle()
    client.send(#"{"id":2,"method":"chores.add","params":["milk"]}"#)
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":2,"result":{"value":1,"seq":1,"version":1}}"#,
        #"{"jsonrpc":"2.0","method":"next","params":{"sub":1,"seq":1,"source":"chores/1","value":"milk"}}"#,
      ])
    client.send(#"{"id":3,"method":"chores.finish","params":{"id":1}}"#)
    #expect(
      client.settle().last
        == #"{"jsonrpc":"2.0","method":"next","params":{"sub":1,"seq":2,"source":"chores/1","gone":true}}"#
    )
    #expect(client.error(#"{"id":4,"method":"chores.finish","params":[1]}"#)?.name == .notFound)
    #expect(client.error(#"{"id":5,"method":"chores.add","params":[""]}"#)?.name == .invalidParams)
    let methods = client.result(#"{"id":6,"method":"describe","params":["chores"]}"#)?["methods"]
    guard case .object(let methods)? = methods else {
      Issue.record("no methods")
      return
    }
    #expect(methods.members.map(\.name) == ["add", "finish"])
  }

  @Test
  func `its view shows the chores, and sends a change as a difference`() throws {
    let bench = try Bench { bindChores($0, to: ChoreService(in: $1.host)) }
    let client = bench.connect()
    #expect(
      client.call(#"{"id":1,"method":"open","params":{"binder":"chores","view":"t"}}"#).contains(
        #""props":{"chores":{"kind":"list","value":[]}}"#))
    for title in ["milk", "bread"] {
      client.send(
        #"{"method":"intent","params":{"view":"t","name":"add","args":{"title":"\#(title)"}}}"#)
    }
    _ = client.settle()
    client.send(
      #"{"id":2,"method":"intent","params":{"view":"t","name":"finish","args":{"id":1}}}"#)
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":2,"result":{"value":"milk","seq":3,"version":3}}"#,
        #"{"jsonrpc":"2.0","method":"next","params":{"view":"t","seq":3,"#
          + #""props":{"chores":{"changes":[{"op":"remove","at":0}]}}}}"#,
      ])
  }

  @Test
  func `sources exist whether they are offered before or after their service`() throws {
    let bench = try Bench { catalog, parts in
      let host = parts.host
      let chores = ChoreService(in: host)
      catalog.command("chores.add", "Adds.", AddChore.self, writes: ["chores.added"]) {
        _, chore throws(ChoreError) in try chores.add(title: chore.title)
      }
      catalog.offerSources(
        of: chores.ledger, [.init("chores/*", "The title.", .string)], exists: { _ in true })
      catalog.offer("Things to do.", chores.ledger)
    }
    let client = bench.connect()
    _ = client.call(#"{"id":1,"method":"chores.add","params":["milk"]}"#)
    #expect(
      client.result(#"{"id":2,"method":"get","params":["chores/1"]}"#)?["value"] == .string("milk"))
  }

  @Test(arguments: ["Chores", "ChoreService", "ChoreBinder", "ChoreView"])
  func `the page on features shows the code that is tested here`(name: String) throws {
    let root = #filePath.replacing("/Tests/APITests/ExampleTests.swift", with: "")
    let readme = Files.text(of: "\(root)/Documentation/writing-a-feature.md")
    let code = Files.text(of: "\(root)/Tests/APITests/Example/\(name).swift")
    #expect(!code.isEmpty)
    #expect(readme.contains("```swift\n// \(name).swift\n\(code)```"))
  }
}
