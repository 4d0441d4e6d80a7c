import Apps
import EventSourcing
import JSON
import Journal
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct TodoServiceTests {
  let store = MemoryStore()
  let host: ServiceHost
  let todo: TodoService

  init() throws {
    host = ServiceHost(store: store)
    todo = TodoService(in: host)
    try host.start()
  }

  private func value(_ source: String) -> String? { todo.ledger.value(of: source)?.text }

  @Test
  func `something is added, renamed, finished, opened again and removed`() throws {
    #expect(try host.run { try todo.add("milk") }.id == 1)
    #expect(value("todo/1") == nil, "nothing is durable yet")
    store.commit()
    #expect(value("todo/1") == #"{"id":1,"title":"milk","done":false}"#)
    try host.run { _ = try todo.rename(1, to: "soy \"milk\"") }
    #expect(try host.run { try todo.finish(1) }.done)
    store.commit()
    #expect(value("todo/1") == #"{"id":1,"title":"soy \"milk\"","done":true}"#)
    #expect(try host.run { try todo.toggle(1) }.done == false)
    #expect(try host.run { try todo.toggle(1) }.done)
    #expect(try host.run { try todo.reopen(1) }.done == false)
    #expect(try host.run { try todo.remove(1) }.title == "soy \"milk\"")
    store.commit()
    #expect(value("todo/1") == nil)
    #expect(todo.all.isEmpty)
    #expect(try host.run { try todo.add("bread") }.id == 2, "a number is not given again")
    store.commit()
    let kinds = [
      "added", "renamed", "finished", "reopened", "finished", "reopened", "removed", "added",
    ]
    #expect(store.records.map(\.type) == kinds.map { "todo." + $0 })
  }

  @Test
  func `what is done is removed at once, and the rest stays`() throws {
    for title in ["milk", "bread", "tea"] { try host.run { _ = try todo.add(title) } }
    for id in [3, 1] { try host.run { _ = try todo.finish(id) } }
    #expect(try host.run { todo.clearDone() } == 2)
    store.commit()
    #expect(todo.all.map(\.title) == ["bread"])
    #expect(store.records.suffix(2).map(\.stream) == ["todo/1", "todo/3"])
    #expect(try host.run { todo.clearDone() } == 0)
    #expect(host.last == 7)
  }

  @Test
  func `one command removes a limited number of things that are done, oldest first`() throws {
    let count = TodoService.maxCleared + 2
    try host.run {
      for i in 1...count { _ = try todo.finish(try todo.add("\(i)").id) }
    }
    #expect(try host.run { todo.clearDone() } == TodoService.maxCleared)
    store.commit()
    #expect(todo.all.map(\.id) == [count - 1, count])
    #expect(try host.run { todo.clearDone() } == 2)
    store.commit()
  }

  @Test
  func `a command without effect records nothing, and an invalid one is refused with the reason`()
    throws
  {
    try host.run { _ = try todo.add("milk") }
    try host.run { _ = try todo.rename(1, to: "milk") }
    try host.run { _ = try todo.reopen(1) }
    try host.run { _ = try todo.finish(1) }
    try host.run { _ = try todo.finish(1) }
    #expect(host.last == 2)
    let marked = "a" + String(repeating: "\u{301}", count: 400)  // one character, 801 bytes
    for title in ["", "a\nb", String(repeating: "x", count: 201), marked] {
      #expect(throws: TodoError.badTitle) { try host.run { _ = try todo.add(title) } }
      #expect(throws: TodoError.badTitle) { try host.run { _ = try todo.rename(1, to: title) } }
    }
    #expect(throws: TodoError.unknown(id: 2)) { try host.run { _ = try todo.toggle(2) } }
    #expect(throws: TodoError.unknown(id: 0)) { try host.run { _ = try todo.remove(0) } }
    #expect(host.last == 2)
  }

  @Test
  func `there is a limit, and a removed one makes room`() throws {
    try host.run { for i in 1...TodoService.maxCount { _ = try todo.add("\(i)") } }
    #expect(throws: TodoError.tooMany(max: TodoService.maxCount)) {
      try host.run { _ = try todo.add("one more") }
    }
    try host.run { _ = try todo.remove(1) }
    #expect(try host.run { try todo.add("one more") }.id == TodoService.maxCount + 1)
  }

  @Test
  func `a change that is rolled back leaves everything as it was`() throws {
    try host.run { _ = try todo.add("milk") }
    try host.run { _ = try todo.finish(1) }
    let before = try todo.item(1)
    #expect(throws: TodoError.badTitle) {
      try host.run {
        _ = try todo.rename(1, to: "tea")
        _ = try todo.reopen(1)
        throw TodoError.badTitle
      }
    }
    #expect(try todo.item(1) == before)
    #expect(throws: TodoError.badTitle) {
      try host.run {
        _ = try todo.remove(1)
        _ = try todo.add("tea")
        throw TodoError.badTitle
      }
    }
    #expect(try todo.item(1) == before)
    #expect(try host.run { try todo.add("tea") }.id == 2)
  }

  @Test
  func `what is to be done survives a restart`() throws {
    try host.run { _ = try todo.add("milk") }
    try host.run { _ = try todo.finish(1) }
    store.commit()
    let again = ServiceHost(store: store)
    let reborn = TodoService(in: again)
    try again.start()
    #expect(reborn.all == todo.all)
    #expect(reborn.all.first?.done == true)
  }

  @Test
  func `only numbers name something to do`() {
    #expect(Todos.id("todo/12") == 12)
    for source in ["todo", "todo/", "todo/0", "todo/01", "todo/x", "todo/1/title", "people/1"] {
      #expect(Todos.id(source) == nil, "\(source)")
    }
  }

  @Test
  func `a snapshot of the first form is read`() throws {
    let store = MemoryStore()
    store.save(
      Snapshot(
        service: "todo", seq: 0, schema: 1,
        data: #"{"items":{"2":{"id":2,"title":"milk","done":true}},"lastID":3}"#))
    let host = ServiceHost(store: store)
    let todo = TodoService(in: host)
    try host.start()
    #expect(todo.all.map(\.title) == ["milk"])
    #expect(try host.run { try todo.add("bread") }.id == 4)
  }
}
