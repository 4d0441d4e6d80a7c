import BinderTesting
import JSON
import TestSupport
import Testing

@testable import choresd

@Suite(.leavesNothing)
struct ChoresTests {
  private static func chores() throws -> TestDaemon {
    try TestDaemon { host, catalog in bindChores(catalog, to: ChoreService(in: host)) }
  }

  @Test
  func `chores are added, shown, finished, and are there after a restart`() throws {
    let daemon = try Self.chores()
    let client = daemon.connect()
    let view = try client.open("chores")
    #expect(try client.call("chores.add", ["title": "milk"]) == 1)
    #expect(view["chores"] == [["id": 1, "title": "milk"]])
    #expect(try view.intent("add", ["title": "tea"]) == 2)
    #expect(try view.intent("finish", ["id": 1]) == "milk")
    #expect(view["chores"] == [["id": 2, "title": "tea"]])
    try daemon.checkReplay()
    try daemon.restart()
    let again = daemon.connect()
    #expect(try again.get("chores/2") == "tea")
    #expect(throws: CallError.notFound) { try again.get("chores/1") }
    #expect(throws: CallError.notFound) { try again.call("chores.finish", ["id": 7]) }
    #expect(throws: CallError.invalid) { try again.call("chores.add", ["title": ""]) }
    #expect(try again.call("chores.add", ["title": "soap"]) == 3)
    #expect(
      daemon.events.map(\.type) == ["added", "added", "done", "added"].map { "chores.\($0)" })
  }

  @Test
  func `it describes itself`() throws {
    let client = try Self.chores().connect()
    let described = JSONValue.object(try client.request("describe", ["path": "chores"])).text.text
    for part in [
      #""doc":"Things to do.""#, #""*":{"doc":"What is to be done.","kind":"state""#,
      #""events":["chores.added","chores.done"]"#, #""writes":["chores.added"]"#,
    ] { #expect(described.contains(part), "\(part): \(described)") }
  }

  @Test
  func `a commit that fails and a command that fails leave nothing`() throws {
    let daemon = try Self.chores()
    let client = daemon.connect()
    daemon.failNextCommit()
    let full = #expect(throws: CallError.self) {
      try client.call("chores.add", ["title": "milk"])
    }
    #expect(full?.name == "read_only")
    #expect(throws: CallError.self) {
      try client.request(
        "atomic",
        [
          "calls": [
            ["method": "chores.add", "params": ["a"]], ["method": "chores.finish", "params": [9]],
          ]
        ])
    }
    #expect(try client.call("chores.add", ["title": "b"]) == 1)
    #expect(daemon.events.count == 1)
  }
}
