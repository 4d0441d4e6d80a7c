import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct CollectionServiceTests {
  let store = MemoryStore()
  let host: ServiceHost
  let lists: ListsService
  let maps: MapsService

  init() throws {
    host = ServiceHost(store: store)
    lists = ListsService(in: host)
    maps = MapsService(in: host)
    try host.start()
  }

  private func run(_ body: () throws -> Void) throws(Refusal) {
    let command = Command(method: "test.run", caller: Peer(uid: 1, pid: 2))
    _ = try host.perform(command) {
      try body()
      return nil
    }
  }

  private func isRefused(_ body: () throws -> Void) -> Bool {
    do throws(Refusal) {
      try run(body)
      return false
    } catch {
      return true
    }
  }

  private func elements(_ name: String) -> [String] {
    guard case .list(let elements)? = lists.ledger.collection(of: name) else { return [] }
    return elements.map(\.text)
  }

  /// Random commands are applied to one array, and the sent steps to another.
  @Test
  func `thousands of sent steps give the same list`() throws {
    var random = SystemRandomNumberGenerator()
    var model: [String] = []
    var told: [String] = []
    let bag = DisposeBag()
    lists.ledger.changes(of: "lists/a").observeNext { change in
      if let step = change.step { told.apply(step) }
    }
    .dispose(in: bag)
    for i in 0..<5_000 {
      let count = model.count
      try run {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...4:
          let at = Int.random(in: 0...count, using: &random)
          model.insert("\(i)", at: at)
          _ = try lists.insert(JSONText(i), at: at, in: "a")
        case 5...6 where count > 0:
          let at = Int.random(in: 0..<count, using: &random)
          model[at] = "\(i)"
          _ = try lists.update(JSONText(i), at: at, in: "a")
        case 7...8 where count > 0:
          let at = Int.random(in: 0..<count, using: &random)
          model.remove(at: at)
          _ = try lists.remove(at: at, from: "a")
        case 9...10 where count > 0:
          let (from, to) = (Int.random(in: 0..<count), Int.random(in: 0..<count))
          model.insert(model.remove(at: from), at: to)
          _ = try lists.move(from: from, to: to, in: "a")
        case 11 where i % 10 == 0:
          model = ["1", "2"]
          _ = try lists.replace(with: [JSONText(1), JSONText(2)], in: "a")
        default: break
        }
      }
      if i % 7 == 0 { store.commit() }
    }
    store.commit()
    #expect(elements("lists/a") == model)
    #expect(told == model)

    let again = ServiceHost(store: store)
    let reborn = ListsService(in: again)
    _ = MapsService(in: again)
    try again.start()
    #expect(reborn.ledger.value(of: "lists/a")?.elements?.map(\.text) == model)
  }

  @Test
  func `an index out of bounds is refused with the valid range`() throws {
    try run { _ = try lists.append(JSONText(1), to: "a") }
    #expect(isRefused { _ = try lists.remove(at: 1, from: "a") })
    #expect(isRefused { _ = try lists.insert(JSONText(1), at: 2, in: "a") })
    #expect(isRefused { _ = try lists.move(from: 0, to: 1, in: "a") })
    #expect(isRefused { _ = try lists.update(JSONText(1), at: -1, in: "a") })
    #expect(isRefused { _ = try lists.append(JSONText(1), to: "a b") })
    #expect(host.last == 1)
  }

  @Test
  func `a key that is canonically equivalent to a known one is that key`() throws {
    // An é of one scalar and of two.
    let (one, two) = ("\u{E9}", "e\u{301}")
    var steps: [String] = []
    let observation = maps.ledger.changes(of: "maps/m").observeNext { change in
      steps.append(change.step?.text ?? "")
    }
    try run { _ = try maps.put(JSONText(1), for: one, in: "m") }
    try run { _ = try maps.put(JSONText(2), for: two, in: "m") }
    store.commit()
    #expect(maps.ledger.value(of: "maps/m")?.text.hasSameBytes(as: #"{"\#(one)":2}"#) == true)
    var isRemoved = false
    try run { isRemoved = try maps.remove(two, from: "m") }
    #expect(isRemoved)
    store.commit()
    observation.dispose()
    #expect(steps.count == 3)
    for step in steps { #expect(step.unicodeScalars.contains("\u{E9}"), "\(step)") }
    #expect(maps.ledger.value(of: "maps/m") == nil)
  }

  @Test
  func `a map stores keys, and a command without effect records no event`() throws {
    var isRemoved: [Bool] = []
    try run { _ = try maps.put(JSONText(1), for: "k", in: "m") }
    try run { isRemoved.append(try maps.remove("k", from: "m")) }
    try run { isRemoved.append(try maps.remove("k", from: "m")) }
    try run { _ = try maps.clear("m") }
    #expect(isRemoved == [true, false])
    store.commit()
    #expect(host.last == 2)
    #expect(maps.ledger.collection(of: "maps/m") == .map([:]))
    #expect(maps.ledger.value(of: "maps/m") == nil)
  }
}

extension [String] {
  fileprivate mutating func apply(_ step: CollectionChange) {
    switch step {
    case .insert(let at, let value): insert(value.text, at: at)
    case .update(let at, let value): self[at] = value.text
    case .remove(let at): remove(at: at)
    case .move(let from, let to): insert(remove(at: from), at: to)
    case .reset(let value): self = value.elements?.map(\.text) ?? []
    case .put, .delete, .merge: break
    }
  }
}
