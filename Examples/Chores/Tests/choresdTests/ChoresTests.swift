import BinderTesting
import Testing

@testable import choresd

@Test func `chores are added, shown, finished, and are there after a restart`() throws {
  let daemon = try TestDaemon { host, catalog in bindChores(catalog, to: ChoreService(in: host)) }
  let client = daemon.connect()
  let view = try client.open("chores")
  #expect(try client.call("chores.add", ["title": "milk"]) == 1)
  #expect(view["chores"] == [["id": 1, "title": "milk"]])
  try daemon.restart()
  #expect(try daemon.connect().get("chores/1") == "milk")
  #expect(throws: CallError.notFound) { try daemon.connect().call("chores.finish", ["id": 7]) }
  try daemon.checkReplay()
}
