import EventSourcing
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing

@testable import Features

/// The first version of a service: a snapshot with temperatures in Celsius.
private struct OldRooms: ServiceState, Codable {
  enum Event: ServiceEvent, Codable {
    case measured(celsius: Int)

    static let kinds: Set = ["measured"]
  }

  var celsius: [String: Int] = [:]

  mutating func apply(_ event: Event, at place: EventContext) {
    if case .measured(let celsius) = event { self.celsius[place.stream] = celsius }
  }

  func value(of source: String) -> JSONText? { celsius[source].map { JSONText($0) } }
  var sources: [String] { Array(celsius.keys) }
  static func sources(changedBy event: Event, at place: EventContext) -> [String] { [place.stream] }
}

/// The service two versions later: Kelvin, another name, and a new event.
private struct Rooms: ServiceState, Codable {
  enum Event: ServiceEvent, Codable {
    case measured(celsius: Int)
    case closed

    static let kinds: Set = ["measured", "closed"]
  }

  var values: [String: Int] = [:]

  static let upcasters: [Upcaster] = [
    { kept in JSONText(members: ["kelvin": kept.members?["celsius"] ?? .null]) },
    { kept in
      var values: [String: JSONText] = [:]
      for (room, celsius) in kept.members?["kelvin"]?.members ?? [:] {
        values[room] = JSONText((celsius.number?.int64 ?? 0) + 273)
      }
      return JSONText(members: ["values": JSONText(members: values)])
    },
  ]

  mutating func apply(_ event: Event, at place: EventContext) {
    switch event {
    case .measured(let celsius): values[place.stream] = celsius + 273
    case .closed: values[place.stream] = nil
    }
  }

  func value(of source: String) -> JSONText? { values[source].map { JSONText($0) } }
  var sources: [String] { Array(values.keys) }
  static func sources(changedBy event: Event, at place: EventContext) -> [String] { [place.stream] }
}

/// A state that cannot read its own snapshots.
private struct ForgetfulRooms: ServiceState, Codable {
  typealias Event = OldRooms.Event

  var count = 0

  mutating func apply(_ event: Event, at place: EventContext) {}
  func value(of source: String) -> JSONText? { nil }
  var sources: [String] { [] }
  static func sources(changedBy event: Event, at place: EventContext) -> [String] { [] }
  func encodeSnapshot(by coder: EventCoder, _ names: NameList) -> JSONText { JSONText(5) }
}

/// A host with one version of the service, and journal compaction.
private final class House<State: ServiceState> {
  let host: ServiceHost
  let rooms: Ledger<State>
  let journal: JournalService
  private let store: MemoryStore
  private let scheduler = ManualScheduler()

  init(_ store: MemoryStore, _ type: State.Type, snapshotEvery: UInt64 = 100_000) throws {
    self.store = store
    host = ServiceHost(store: store, snapshotEvery: snapshotEvery)
    rooms = Ledger<State>("rooms", in: host)
    journal = JournalService(
      in: host, on: scheduler,
      { AgeClock.Reading(wall: 0, milliseconds: 0, boot: "", isSynchronized: false) })
    try host.start()
  }

  func record(_ event: State.Event, in stream: String) throws {
    _ = try host.perform(Command(method: "rooms.measure", caller: Peer(uid: 1, pid: 2))) {
      rooms.record(event, in: stream)
      return nil
    }
    store.commit()
  }

  func compact(before seq: UInt64) throws -> JournalService.Compacted {
    var result: Result<JournalService.Compacted, JournalError>?
    let observation = journal.compact(before: seq, isForced: false).observe { event in
      switch event {
      case .next(let compacted): result = .success(compacted)
      case .failed(let fault): result = .failure(fault)
      case .completed: break
      }
    }
    for _ in 0..<1000 where result == nil {
      store.read()
      store.remove()
      store.commit()
      scheduler.advance(1)
    }
    observation.dispose()
    return try #require(result).get()
  }
}

@Suite(.leavesNothing)
struct SnapshotFormTests {
  private let store = MemoryStore()

  private func schema(_ service: String) -> Int? { store.snapshot(of: service)?.schema }

  @Test
  func `a compacted journal with snapshots of an old form starts`() throws {
    let old = try House(store, OldRooms.self)
    try old.record(.measured(celsius: 20), in: "rooms/hall")
    try old.record(.measured(celsius: 10), in: "rooms/attic")
    #expect(try old.compact(before: 2).removed == 1)
    #expect(schema("rooms") == 1)

    let new = try House(store, Rooms.self)
    #expect(new.rooms.value(of: "rooms/hall")?.text == "293")
    #expect(new.rooms.value(of: "rooms/attic")?.text == "283")
    #expect(new.host.startWarnings.isEmpty)
    new.host.saveSnapshots()
    #expect(schema("rooms") == 3)
  }

  @Test
  func
    `24: a newer snapshot is named if events are missing, and replaced by a replay if not`()
    throws
  {
    let new = try House(store, Rooms.self)
    try new.record(.measured(celsius: 20), in: "rooms/hall")
    try new.record(.measured(celsius: 10), in: "rooms/hall")
    new.host.saveSnapshots()
    let back = try House(store, OldRooms.self)
    #expect(back.rooms.value(of: "rooms/hall")?.text == "10")
    #expect(
      back.host.startWarnings == [
        "rooms has a snapshot of form 3, this program reads 1; the start replays the events after 0"
      ])

    _ = try new.compact(before: 2)
    #expect(
      throws: JournalError.notUnderstood(
        seq: 1,
        detail: "it was removed, and rooms has a snapshot of form 3, this program reads 1")
    ) { try House(self.store, OldRooms.self) }
  }

  @Test
  func `an older snapshot is used if the newest is unreadable`() throws {
    let house = try House(store, OldRooms.self)
    try house.record(.measured(celsius: 20), in: "rooms/hall")
    house.host.saveSnapshots()
    try house.record(.measured(celsius: 10), in: "rooms/attic")
    store.save(Snapshot(service: "rooms", seq: 2, schema: 1, data: "5"))
    let reborn = try House(store, OldRooms.self)
    #expect(reborn.rooms.value(of: "rooms/hall")?.text == "20")
    #expect(reborn.rooms.value(of: "rooms/attic")?.text == "10")
    #expect(
      reborn.host.startWarnings == [
        "the snapshot of rooms at 2 cannot be read; the start replays the events after 1"
      ])
  }

  @Test
  func `a compaction removes nothing if the snapshot is unreadable`() throws {
    let house = try House(store, ForgetfulRooms.self)
    for celsius in 1...3 { try house.record(.measured(celsius: celsius), in: "rooms/hall") }
    #expect(throws: JournalError.unavailable(detail: "a snapshot at 2 cannot be read")) {
      try house.compact(before: 3)
    }
    #expect(store.first == 1)
  }

  // MARK: Unknown events

  @Test
  func `24: a service with unknown events gets no snapshot and loses no events`()
    throws
  {
    let new = try House(store, Rooms.self)
    try new.record(.measured(celsius: 20), in: "rooms/hall")
    try new.record(.closed, in: "rooms/hall")
    // After a downgrade, the old version does not know the event that closes a room.
    let back = try House(store, OldRooms.self, snapshotEvery: 3)
    #expect(
      back.host.startWarnings == [
        "rooms ignores 1 events of the type rooms.closed, which this program does not know: "
          + "from event 2 on, it keeps no snapshots and removes no events"
      ])
    #expect(back.rooms.value(of: "rooms/hall")?.text == "20")
    for celsius in 1...3 { try back.record(.measured(celsius: celsius), in: "rooms/attic") }
    store.read()
    #expect(store.snapshot(of: "daemon")?.seq == 3, "the others keep theirs")
    back.host.saveSnapshots()
    #expect(try back.compact(before: 5).removed == 0)
    #expect(store.snapshot(of: "daemon")?.seq == 5)
    #expect(store.snapshot(of: "rooms") == nil)
    // After an upgrade, the room is closed.
    let forward = try House(store, Rooms.self)
    #expect(forward.rooms.value(of: "rooms/hall") == nil)
    #expect(forward.rooms.value(of: "rooms/attic")?.text == "276")
    #expect(forward.host.startWarnings.isEmpty)
  }

  // MARK: Old forms

  /// Snapshots of the host in each of its forms.
  @Test(arguments: [
    (
      1,
      #"{"entries":{"c":{"seq":1,"version":1,"time":5,"call":"CALL","value":100}},"order":["x","c"],"oldest":1}"#
    ),
    (
      2,
      #"{"entries":{"c":{"seq":1,"version":1,"time":5,"call":"CALL","value":100,"isInJournal":false}},"order":["c"],"oldest":0}"#
    ),
    (
      3,
      #"{"entries":{"1 c":{"seq":1,"version":1,"time":5,"call":"CALL","value":100,"isInJournal":false}},"order":["1 c","1 gone","1 c"],"oldest":0}"#
    ),
    (4, #"{"1":[["c",1,1,5,"CALL",100]]}"#),
  ])
  func `commands in a snapshot of an old form do not run again`(
    form: Int, window: String
  ) throws {
    // The fingerprint of `test.run` without parameters: FNV-1a of "test.run ".
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in "test.run ".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let call = String(hash, radix: 16)
    let bench = try Bench(store)
    try bench.set("a", "1")
    store.commit()
    store.save(
      Snapshot(
        service: "journal", seq: 1, schema: form,
        data: #"{"heads":{"cells/a":[1,1]},"window":\#(window.replacing("CALL", with: call))}"#))
    let reborn = try Bench(store)
    let again = try reborn.run("c") {
      Issue.record("it was run"); return nil
    }
    #expect(again.isReplayed)
    #expect(again.value?.text == "100")
    #expect(again.seq == 1)
    #expect(reborn.host.version(of: "cells/a") == 1)
    // Before form 3, all users shared one set of keys.
    #expect(try reborn.run("c", by: 7) { nil }.isReplayed == (form < 3))
  }

  @Test(arguments: [(1, #"{"values":{"cells/a":[1]}}"#), (2, #"{"cells/a":[1]}"#)])
  func `snapshots of cells are read in each form`(form: Int, data: String) throws {
    let bench = try Bench(store)
    for _ in 0..<2 { try bench.set("b", "1") }
    store.commit()
    store.save(Snapshot(service: "cells", seq: 2, schema: form, data: data))
    #expect(try Bench(store).value("cells/a") == "[1]")
  }

  @Test(arguments: ["5", "{}", #"{"heads":{}}"#, #"{"heads":{},"window":{"entries":{}}}"#])
  func `a snapshot that does not match its form is ignored`(data: String) throws {
    let bench = try Bench(store)
    try bench.set("a", "1")
    store.commit()
    for form in -1...5 {
      store.save(Snapshot(service: "journal", seq: 1, schema: form, data: data))
      let reborn = try Bench(store)
      #expect(reborn.host.version(of: "cells/a") == 1)
      #expect(reborn.host.startWarnings.count == 1)
    }
  }
}
