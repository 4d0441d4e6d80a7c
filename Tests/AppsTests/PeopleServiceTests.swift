import Apps
import Binder
import EventSourcing
import JSON
import Journal
import JournalMemory
import ServiceTestSupport
import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct PeopleServiceTests {
  let store = MemoryStore()
  let host: ServiceHost
  let people: PeopleService

  init() throws {
    host = ServiceHost(store: store)
    people = PeopleService(in: host.library)
    try host.start()
  }

  private func value(_ source: String) -> String? { people.ledger.value(of: source)?.text }

  @Test
  func `a person is created, renamed, coloured, reversed and removed`() throws {
    let kim = try host.run { try people.create(name: "Kim") }
    #expect((kim.id, kim.name, kim.color) == (1, "Kim", PeopleService.defaultColor))
    #expect(value("people/1") == nil, "nothing is durable yet")
    store.commit()
    #expect(value("people/1") == ##"{"id":1,"name":"Kim","color":"#808080"}"##)
    try host.run { _ = try people.rename(1, to: "Kim Ö") }
    try host.run { _ = try people.color(1, Color(red: 1, green: 2, blue: 255)) }
    #expect(try host.run { try people.reverseName(1) } == "Ö miK")
    store.commit()
    #expect(value("people/1/name") == #""Ö miK""#)
    #expect(value("people/1/color") == ##""#0102ff""##)
    #expect(people.all.map(\.id) == [1])
    #expect(try host.run { try people.remove(1) }.name == "Ö miK")
    store.commit()
    #expect(value("people/1") == nil)
    #expect(people.all.isEmpty)
    #expect(try host.run { try people.create(name: "Lee") }.id == 2, "a number is not given again")
    store.commit()
    #expect(
      store.records.map(\.type)
        == ["created", "renamed", "colored", "renamed", "removed", "created"]
        .map { "people." + $0 })
  }

  @Test
  func `a command without effect records nothing, and an invalid one is refused with the reason`()
    throws
  {
    try host.run { _ = try people.create(name: "Otto", color: "#FFF") }
    try host.run { _ = try people.rename(1, to: "Otto") }
    try host.run { _ = try people.color(1, Color(red: 255, green: 255, blue: 255)) }
    #expect(host.last == 1)
    let marked = "a" + String(repeating: "\u{301}", count: 200)  // one character, 401 bytes
    for name in ["", "a\nb", String(repeating: "x", count: 101), marked] {
      #expect(throws: PeopleError.badName) { try host.run { _ = try people.rename(1, to: name) } }
    }
    for code in ["", "#", "#12", "#1234", "123456", "#12345g", "#1234567"] {
      #expect(throws: PeopleError.badColor(code)) {
        try host.run { _ = try people.create(name: "x", color: code) }
      }
    }
    #expect(throws: PeopleError.unknown(id: 2)) { try host.run { _ = try people.reverseName(2) } }
    #expect(host.last == 1)
  }

  @Test
  func `people survive a restart`() throws {
    try host.run { _ = try people.create(name: "Kim", color: "#1e90ff") }
    store.commit()
    let again = ServiceHost(store: store)
    let reborn = PeopleService(in: again.library)
    try again.start()
    #expect(reborn.all == people.all)
    #expect(reborn.all.first?.color.hex == "#1e90ff")
  }

  @Test
  func `a snapshot of the first form is read`() throws {
    let store = MemoryStore()
    store.save(
      Snapshot(
        service: "people", seq: 0, schema: 1,
        data: ##"{"people":{"2":{"id":2,"name":"Kim","color":"#808080"}},"lastID":3}"##))
    let host = ServiceHost(store: store)
    let people = PeopleService(in: host.library)
    try host.start()
    #expect(people.all.map(\.name) == ["Kim"])
    #expect(people.ledger.value(of: "people/2/name")?.text == #""Kim""#)
    #expect(try host.run { try people.create(name: "Lee") }.id == 4)
  }

  @Test
  func `only persons and their properties are sources`() {
    let tables = people.ledger.engine.committed.tables
    for source in ["people/1", "people/12/name", "people/3/color"] {
      #expect(tables.table(of: source) != nil, "\(source)")
    }
    for source in ["people", "people/", "people/01", "people/x", "people/1/", "people/1/id"] {
      #expect(tables.table(of: source) == nil, "\(source)")
    }
  }

  @Test
  func `former names of a person are read from the journal`() throws {
    try host.run { _ = try people.create(name: "Kim") }
    try host.run { _ = try people.create(name: "Else") }
    for name in ["Lee", "Max"] { try host.run { _ = try people.rename(1, to: name) } }
    store.commit()
    var names: [[String]] = []
    let run = people.formerNames(of: 1).observe {
      if case .next(let read) = $0 { names.append(read) }
    }
    store.read()
    #expect(names == [["Lee", "Kim"]])
    run.dispose()
  }

  @Test
  func `a model emits durable values, and applies writes immediately`() throws {
    try host.run { _ = try people.create(name: "Kim") }
    store.commit()
    final class Label { let text = Property("") }
    let (model, label) = (try people.model(of: 1), Label())
    let binding = try ObjectBinding("name <> text")
    try binding.bind(left: model, right: label)
    #expect(label.text.value == "Kim")
    try host.run { label.text.value = "Lee" }
    #expect(people.ledger.pending.people[1]?.name == "Lee")
    #expect(value("people/1/name") == #""Kim""#)
    store.commit()
    try host.run { _ = try people.rename(1, to: "Max") }
    #expect(label.text.value == "Lee")
    store.commit()
    #expect(label.text.value == "Max")
    var refusals: [String] = []
    binding.failed { refusals.append("\($0)") }
    try host.run { label.text.value = "" }
    #expect(refusals.count == 1)
    #expect(people.ledger.pending.people[1]?.name == "Max")
    binding.unbind()
  }

  @Test
  func `a value is emitted when all events recorded before it are durable`() throws {
    let text = Property("a")
    var shown: [String] = []
    let bag = DisposeBag()
    host.whenDurable(text.toSignal()).observeNext { shown.append($0) }.dispose(in: bag)
    #expect(shown == ["a"])
    try host.run { _ = try people.create(name: "Kim") }
    text.value = "b"
    text.value = "c"
    try host.run { _ = try people.rename(1, to: "Lee") }
    text.value = "d"
    #expect(shown == ["a"])
    store.commit(1)
    #expect(shown == ["a", "c"])
    #expect(throws: PeopleError.unknown(id: 9)) {
      try host.run {
        _ = try people.rename(1, to: "Max")
        text.value = "lost"
        _ = try people.remove(9)
      }
    }
    text.value = "e"
    store.commit()
    #expect(shown == ["a", "c", "e"])
    text.value = "f"
    #expect(shown.last == "f")
    bag.dispose()
  }
}
