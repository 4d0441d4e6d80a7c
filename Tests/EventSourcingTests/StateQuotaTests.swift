import Apps
import Binder
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

/// The limits on stored bytes, for all users and for each user.
@Suite(.leavesNothing)
struct StateQuotaTests {
  /// A host with all services that clients can fill.
  private final class House {
    let store: MemoryStore
    let host: ServiceHost
    let cells: CellsService
    let lists: ListsService
    let maps: MapsService
    let threads: ThreadsService
    let chat: ChatService
    let people: PeopleService

    init(_ store: MemoryStore = MemoryStore()) throws {
      self.store = store
      host = ServiceHost(store: store)
      cells = CellsService(in: host)
      lists = ListsService(in: host)
      maps = MapsService(in: host)
      threads = ThreadsService(in: host.library)
      chat = ChatService(in: host.library)
      people = PeopleService(in: host.library)
      try host.start()
    }

    func run(by uid: UInt32 = 7, _ body: () throws -> Void) throws(Refusal) {
      _ = try host.perform(Command(method: "m", caller: Peer(uid: uid, pid: 1))) {
        try body()
        return nil
      }
    }

    /// Sets a value of a number of bytes; returns the exceeded quota, or `nil`.
    func refusal(by uid: UInt32 = 7, _ cell: String, _ bytes: Int) throws -> StateQuota.Scope? {
      do throws(Refusal) {
        try run(by: uid) { _ = try cells.set(cell, to: text(bytes)) }
        return nil
      } catch {
        guard case .full(let scope, _) = error else { throw error }
        return scope
      }
    }
  }

  @Test
  func `a write over the quota is refused and rolled back`() throws {
    let house = try House()
    house.host.quota = StateQuota(total: 10_000, ofUser: 10_000)
    #expect(try house.refusal("a", 8_000) == nil)
    let usage = house.host.stateBytes
    #expect(try house.refusal("b", 3_000) == .total)
    #expect(house.host.stateBytes == usage)
    #expect(house.cells.ledger.pendingValue(of: "cells/b") == nil)
    // Shorter values, removals and replacements are allowed, also beyond the quota.
    house.host.quota = StateQuota(total: 5_000, ofUser: 5_000)
    #expect(try house.refusal("a", 7_000) == nil)
    #expect(try house.refusal("a", 7_001) == .total)
    try house.run { _ = try house.cells.remove("a") }
    #expect(try house.refusal("b", 3_000) == nil)
  }

  @Test
  func `one user fills at most a share, and administrators have no share`() throws {
    let house = try House()
    house.host.quota = StateQuota(total: 30_000, ofUser: 10_000)
    house.host.owners = [0]
    #expect(try house.refusal(by: 7, "a", 9_000) == nil)
    #expect(try house.refusal(by: 7, "b", 1_000) == .ofUser)
    #expect(try house.refusal(by: 8, "b", 1_000) == nil)
    #expect(try house.refusal(by: 0, "c", 15_000) == nil)
    #expect(try house.refusal(by: 8, "d", 8_000) == .total)
    // The user who enlarges a value is charged for all of it: 8 would take over the bytes of 7.
    #expect(try house.refusal(by: 8, "a", 9_100) == .ofUser)
    // A user who shrinks a value is not charged, and never refused.
    #expect(try house.refusal(by: 8, "a", 100) == nil)
    #expect(house.host.stateBytes(of: 7) > 300)
    #expect(try house.refusal(by: 8, "a", 101) == nil)
    #expect(house.host.stateBytes(of: 7) == 0)
    #expect(try house.refusal(by: 7, "e", 4_000) == nil)
  }

  @Test
  func `any permitted user can remove elements of a list that others have filled`() throws {
    let house = try House()
    house.host.quota = StateQuota(total: 100_000, ofUser: 10_000)
    for _ in 0..<9 {
      try house.run(by: 7) { _ = try house.lists.append(text(900), to: "shared") }
    }
    #expect(try house.refusal(by: 8, "a", 9_000) == nil)
    try house.run(by: 8) { _ = try house.lists.remove(at: 0, from: "shared") }
    #expect(house.host.stateBytes(of: 8) < 10_000)
    #expect(throws: Refusal.self) {
      try house.run(by: 8) { _ = try house.lists.append(text(9), to: "shared") }
    }
  }

  @Test
  func `a name counts toward the quota while it has a value`() throws {
    let house = try House()
    house.host.quota = StateQuota(total: 100_000, ofUser: 100_000)
    for i in 0..<1_000 {
      try house.run { _ = try house.cells.set("n\(i)", to: JSONText(1)) }
      try house.run { _ = try house.cells.remove("n\(i)") }
    }
    #expect(house.host.stateBytes == 0)
    var count = 0
    #expect(throws: Refusal.self) {
      for i in 0..<10_000 {
        try house.run { _ = try house.cells.set("n\(i)", to: JSONText(1)) }
        count += 1
      }
    }
    #expect(300..<400 ~= count)
    #expect(house.host.stateBytes(of: 7) == house.host.stateBytes)
  }

  @Test
  func `a removal that is rolled back or lost keeps its charge`() throws {
    let house = try House()
    try house.run { _ = try house.cells.set("a", to: JSONText(1)) }
    house.store.commit()
    let usage = house.host.stateBytes
    #expect(throws: Refusal.self) {
      try house.run {
        _ = try house.cells.remove("a")
        throw Stop()
      }
    }
    #expect(house.host.stateBytes == usage)
    try house.run { _ = try house.cells.remove("a") }
    #expect(house.host.stateBytes == 0)
    house.store.reject(.unavailable(detail: "EIO"))
    #expect(house.host.stateBytes == usage)
    #expect(house.host.stateBytes(of: 7) == usage)
  }

  @Test
  func `each approach to a quota is reported once`() throws {
    let house = try House()
    house.host.quota = StateQuota(total: 20_000, ofUser: 10_000)
    house.host.owners = [0]
    var told: [StateFilling] = []
    let observation = house.host.filling.observeNext { told.append($0) }
    #expect(try house.refusal("a", 7_000) == nil)
    #expect(told.isEmpty)
    #expect(try house.refusal("b", 1_500) == nil)
    #expect(try house.refusal("c", 10) == nil)
    #expect(told.map(\.user) == [7])
    #expect(try house.refusal(by: 0, "d", 8_000) == nil)
    #expect(told.map(\.user) == [7, nil])
    #expect(house.host.fillings.map(\.user) == [nil, 7])
    observation.dispose()
  }

  /// After random commands, the charged bytes equal those after a restart; rolled-back commands
  /// are not charged.
  @Test(arguments: 0..<12)
  func `charged bytes equal the stored bytes`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let house = try House()
    for step in 0..<400 {
      let uid = UInt32.random(in: 1...3, using: &random)
      let fails = Int.random(in: 0..<5, using: &random) == 0
      let before = (house.host.stateBytes, house.host.stateBytes(of: uid), kept(house))
      let isDone: Bool
      do throws(Refusal) {
        try house.run(by: uid) {
          for _ in 0..<Int.random(in: 1...3, using: &random) {
            try? change(house, uid, step, &random)
          }
          if fails { throw Stop() }
        }
        isDone = true
      } catch {
        isDone = false
      }
      #expect(isDone == !fails)
      if fails {
        let after = (house.host.stateBytes, house.host.stateBytes(of: uid), kept(house))
        #expect(before == after)
      }
      if Int.random(in: 0..<3, using: &random) == 0 { house.store.commit() }
    }
    house.store.commit()
    if seed % 2 == 0 {
      house.host.saveSnapshots()
      house.store.commit()
    }
    let total = house.host.stateBytes
    let ofUsers = (1...3).map { house.host.stateBytes(of: UInt32($0)) }
    // The start measures only what the store contains from now on.
    let again = try House(house.store)
    #expect(again.host.stateBytes == total)
    // Without a snapshot, a name belongs to the user who wrote it last.
    if seed % 2 == 0 {
      #expect((1...3).map { again.host.stateBytes(of: UInt32($0)) } == ofUsers)
    }
    #expect(total > 1_000)
  }

  private struct Stop: ServiceError {
    var kind: ServiceErrorKind { .rejected(reason: "stop") }
    var description: String { "stop" }
  }

  /// Returns the newest values of all sources.
  private func kept(_ house: House) -> [String] {
    let (threads, chat) = (house.threads.ledger.engine, house.chat.ledger.engine)
    let discussions = (0..<12).flatMap { i in
      [
        threads.pendingValue(of: "threads/\(i)"), threads.pendingValue(of: "threads/\(i)/posts"),
        chat.pendingValue(of: "chat/rooms/\(i)"), chat.pendingValue(of: "chat/rooms/\(i)/messages"),
      ]
    }
    let unread = (0..<12).map { house.chat.ledger.pending.unread(by: "berta", in: $0) }
    return collections(house) + discussions.map { $0?.text ?? "-" } + unread.map { "\($0)" }
  }

  private func collections(_ house: House) -> [String] {
    let cells = house.cells.ledger
    let lists = house.lists.ledger.pending
    let maps = house.maps.ledger.pending
    return (0..<4).flatMap { i in
      [
        cells.pendingValue(of: "cells/c\(i)")?.text ?? "-",
        lists["lists/c\(i)"].map(\.text).joined(separator: ","),
        maps["maps/c\(i)"].sorted { $0.key < $1.key }.map { $0.key + $0.value.text }
          .joined(separator: ","),
      ]
    }
  }

  private func change(
    _ house: House, _ uid: UInt32, _ step: Int, _ random: inout SeededRandom
  ) throws {
    let name = "c\(Int.random(in: 0..<4, using: &random))"
    let value = text(Int.random(in: 3..<60, using: &random))
    let index = Int.random(in: 0..<4, using: &random)
    let words = String(repeating: "x", count: Int.random(in: 1..<40, using: &random))
    let room = RoomKey(index)
    switch Int.random(in: 0..<36, using: &random) {
    case 0...2: _ = try house.cells.set(name, to: value)
    case 3: _ = try house.cells.remove(name)
    case 4...6: _ = try house.lists.insert(value, at: 0, in: name)
    case 7: _ = try house.lists.update(value, at: index, in: name)
    case 8: _ = try house.lists.remove(at: index, from: name)
    case 9: _ = try house.lists.move(from: 0, to: index, in: name)
    case 10: _ = try house.lists.clear(name)
    case 11: _ = try house.lists.replace(with: [value, value], in: name)
    case 12, 13: _ = try house.maps.put(value, for: "k\(index)", in: name)
    case 14: _ = try house.maps.remove("k\(index)", from: name)
    case 15: _ = try house.maps.replace(with: ["a": value], in: name)
    case 16: _ = try house.maps.clear(name)
    case 17: _ = try house.threads.start(name: words, by: uid)
    case 18: _ = try house.threads.post(words, to: index, by: uid)
    case 19: _ = try house.threads.like(1, of: index, by: uid)
    case 20: _ = try house.threads.remove(index, isAnyAllowed: true)
    case 21: _ = try house.chat.create("room\(step)", topic: words, by: "anna")
    case 22: _ = try house.chat.send(words, to: RoomKey(index), by: "anna")
    case 24: _ = try house.chat.join(room, by: "berta")
    case 25: _ = try house.chat.leave(room, by: "berta")
    case 26: _ = try house.chat.edit(1, in: room, to: words, by: "anna")
    case 27: _ = try house.chat.removeMessage(1, in: room, by: "anna")
    case 28: _ = try house.chat.rename(room, to: "r\(step)", by: "anna")
    case 29: _ = try house.chat.setTopic(of: room, to: words, by: "anna")
    case 30: _ = try house.chat.read(room, upTo: 1, by: "berta")
    case 31: _ = try house.threads.edit(1, of: index, words, by: uid)
    case 32: _ = try house.threads.removePost(1, of: index, by: uid)
    case 33: _ = try house.threads.unlike(1, of: index, by: uid)
    case 34: _ = try house.threads.rename(index, to: words, by: uid)
    case 23: _ = try house.chat.remove(RoomKey(index), by: "anna", isAnyAllowed: true)
    default: _ = try house.people.create(name: words)
    }
  }
}

/// Returns a JSON string of a number of bytes.
private func text(_ bytes: Int) -> JSONText {
  JSONText(string: String(repeating: "v", count: max(0, bytes - 2)))
}
