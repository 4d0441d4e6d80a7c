import Apps
import Binder
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing

/// A daemon that follows reaches the same state, and the same charges, with every kind of service.
@Suite(.leavesNothing)
struct FollowingFeaturesTests {
  /// A daemon with some services.
  private final class House {
    let store: MemoryStore
    let host: ServiceHost
    let cells: CellsService
    let lists: ListsService
    let maps: MapsService
    let chat: ChatService
    let people: PeopleService

    init(_ store: MemoryStore) throws {
      self.store = store
      host = ServiceHost(store: store)
      (cells, lists, maps) = (CellsService(in: host), ListsService(in: host), MapsService(in: host))
      (chat, people) = (ChatService(in: host.library), PeopleService(in: host.library))
      try host.start()
    }
  }

  @Test
  func `state and charges of a follower are those of the active daemon`() throws {
    let leader = try House(MemoryStore())
    let follower = try House(MemoryStore())
    follower.store.follow(leader.store)
    try leader.host.run {
      for i in 0..<50 {
        let text = JSONText(string: String(repeating: "x", count: i))
        _ = try leader.cells.set("c\(i % 7)", to: text)
        _ = try leader.lists.append(JSONText(i), to: "l")
        _ = try leader.maps.put(JSONText(i), for: "k\(i % 9)", in: "m")
      }
      _ = try leader.lists.remove(at: 3, from: "l")
      _ = try leader.maps.remove("k1", from: "m")
      _ = try leader.people.create(name: "kim")
    }
    let room = try leader.host.run { try leader.chat.create("hall", topic: "talk", by: "kim") }
    try leader.host.run {
      for i in 0..<20 { _ = try leader.chat.send("hello \(i)", to: RoomKey(room), by: "kim") }
    }
    leader.store.commit()
    compare(leader, follower)
    // Streams without state are charged to nobody.
    try leader.host.run {
      _ = try leader.chat.remove(RoomKey(room), by: "kim")
      _ = try leader.cells.remove("c1")
    }
    leader.store.commit()
    compare(leader, follower)
    // What a start would compute.
    let fresh = try House(follower.store)
    compare(leader, fresh)
  }

  private func compare(_ one: House, _ other: House) {
    #expect(one.store.usage.total == other.store.usage.total)
    #expect(one.store.usage[user: 1] == other.store.usage[user: 1])
    for name in ["cells/c1", "lists/l", "maps/m", "people", "chat", "chat/rooms/1/messages"] {
      let heads = [one, other].map { house in
        house.store.names.number(of: name).map(house.store.head(of:))
      }
      #expect(heads[0] == heads[1], "\(name)")
    }
    #expect(one.cells.ledger.value(of: "cells/c1") == other.cells.ledger.value(of: "cells/c1"))
    #expect(one.chat.ledger.value(of: "chat/rooms") == other.chat.ledger.value(of: "chat/rooms"))
  }
}
