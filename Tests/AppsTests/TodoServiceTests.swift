import Apps
import Binder
import BinderTesting
import EventSourcing
import JSON
import Journal
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct TodoServiceTests {
  private final class Made {
    var services: (host: Host, todo: TodoService)?
  }

  private let made = Made()
  private let daemon: TestDaemon
  private let client: TestClient

  init() throws {
    daemon = try TestDaemon { [made] host, catalog in
      let todo = TodoService(in: host)
      made.services = (host, todo)
      bindTodo(catalog, to: todo)
    }
    client = daemon.connect()
  }

  /// Runs methods of the service as one command.
  @discardableResult
  private func run<Value>(_ body: (TodoService) throws -> Value) throws -> Value {
    let (host, todo) = try #require(made.services)
    defer { daemon.advance(.zero) }
    return try host.perform("todo.test") { try body(todo) }
  }

  private var badTitle: Rejection {
    .invalid(
      "title", "a title has 1 to 200 characters and no control characters, 800 bytes at most")
  }

  private func unknown(_ id: Int) -> Rejection {
    .notFound("todo", id).saying("there is nothing to do with the number \(id)")
  }

  @Test
  func `something is added, renamed, finished, opened again and removed`() throws {
    daemon.holdCommits()
    let added = client.begin("todo.add", ["title": "milk"])
    #expect(throws: CallError.notFound) { try daemon.connect().get("todo/1") }
    daemon.releaseCommits()
    #expect(try added.result()["value"] == ["id": 1, "title": "milk", "done": false])
    try client.call("todo.rename", ["id": 1, "title": "soy \"milk\""])
    try client.call("todo.finish", ["id": 1])
    #expect(try client.get("todo/1") == ["id": 1, "title": "soy \"milk\"", "done": true])
    let toggled = try [run { try $0.toggle(1) }, run { try $0.toggle(1) }]
    #expect(toggled.map(\.done) == [false, true])
    try client.call("todo.reopen", ["id": 1])
    #expect(
      try client.call("todo.remove", ["id": 1])
        == ["id": 1, "title": "soy \"milk\"", "done": false])
    #expect(throws: CallError.notFound) { try client.get("todo/1") }
    #expect(try client.call("todo.list") == [])
    #expect(
      try client.call("todo.add", ["title": "bread"]) == [
        "id": 2, "title": "bread", "done": false,
      ],
      "a number is not given again")
    let kinds = [
      "added", "renamed", "finished", "reopened", "finished", "reopened", "removed", "added",
    ]
    #expect(daemon.events.map(\.type) == kinds.map { "todo." + $0 })
    #expect(daemon.events.map(\.stream) == kinds.dropLast().map { _ in "todo/1" } + ["todo/2"])
    #expect(daemon.events.first?.data == ["title": "milk"])
    #expect(daemon.events[2].data == [:])
    try daemon.checkReplay()
  }

  @Test
  func `what is done is removed at once, and the rest stays`() throws {
    try run { for title in ["milk", "bread", "tea"] { _ = try $0.add(title) } }
    try run { for id in [3, 1] { _ = try $0.finish(id) } }
    #expect(try client.call("todo.clear_done") == 2)
    #expect(try client.call("todo.list") == [["id": 2, "title": "bread", "done": false]])
    #expect(daemon.events.suffix(2).map(\.stream) == ["todo/1", "todo/3"])
    #expect(try client.call("todo.clear_done") == 0)
    #expect(daemon.events.count == 7)
  }

  @Test
  func `one command removes a limited number of things that are done, oldest first`() throws {
    let count = TodoService.maxCleared + 2
    try run { for i in 1...count { _ = try $0.finish(try $0.add("\(i)").id) } }
    #expect(try client.call("todo.clear_done") == 1000)
    #expect(try run { $0.ledger.pending.items.keys.sorted() } == [count - 1, count])
    #expect(try client.call("todo.clear_done") == 2)
  }

  @Test
  func `a command without effect records nothing, and an invalid one is refused with the reason`()
    throws
  {
    try run { _ = try $0.add("milk") }
    try run { _ = try $0.rename(1, to: "milk") }
    try run { _ = try $0.reopen(1) }
    try run { _ = try $0.finish(1) }
    try run { _ = try $0.finish(1) }
    #expect(daemon.events.count == 2)
    let marked = "a" + String(repeating: "\u{301}", count: 400)  // one character, 801 bytes
    for title in ["", "a\nb", String(repeating: "x", count: 201), marked] {
      #expect(throws: badTitle) { try run { try $0.add(title) } }
      #expect(throws: badTitle) { try run { try $0.rename(1, to: title) } }
    }
    #expect(throws: unknown(2)) { try run { try $0.toggle(2) } }
    #expect(throws: unknown(0)) { try run { try $0.remove(0) } }
    #expect(daemon.events.count == 2)
  }

  @Test
  func `there is a limit, and a removed one makes room`() throws {
    try run { for i in 1...TodoService.maxCount { _ = try $0.add("\(i)") } }
    #expect(throws: CallError.rejected("too_many")) {
      try client.call("todo.add", ["title": "one more"])
    }
    try client.call("todo.remove", ["id": 1])
    let added = try run { try $0.add("one more") }
    #expect(added.id == TodoService.maxCount + 1)
  }

  @Test
  func `a change that is rolled back leaves everything as it was`() throws {
    try run { _ = try $0.add("milk") }
    let before = try run { try $0.finish(1) }
    #expect(throws: badTitle) {
      try run {
        _ = try $0.rename(1, to: "tea")
        _ = try $0.reopen(1)
        throw badTitle
      }
    }
    #expect(try run { try $0.item(1) } == before)
    #expect(throws: badTitle) {
      try run {
        _ = try $0.remove(1)
        _ = try $0.add("tea")
        throw badTitle
      }
    }
    #expect(try run { try $0.item(1) } == before)
    #expect(try run { try $0.add("tea") }.id == 2)
  }

  @Test
  func `what is to be done survives a restart`() throws {
    try client.call("todo.add", ["title": "milk"])
    try client.call("todo.finish", ["id": 1])
    try daemon.restart()
    let again = daemon.connect()
    #expect(try again.call("todo.list") == [["id": 1, "title": "milk", "done": true]])
  }

  @Test
  func `a snapshot of the first form is read`() throws {
    let store = MemoryStore()
    store.save(
      Snapshot(
        service: "todo", seq: 0, schema: 1,
        data: #"{"items":{"2":{"id":2,"title":"milk","done":true}},"lastID":3}"#))
    let host = ServiceHost(store: store)
    let todo = TodoService(in: Host(host, on: ManualTime()))
    try host.start()
    #expect(todo.ledger.committed.items[2]?.title == "milk")
    #expect(try host.run { try todo.add("bread") }.id == 4)
  }
}
