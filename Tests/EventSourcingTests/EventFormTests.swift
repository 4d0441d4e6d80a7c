import EventSourcing
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing

/// The first version of a service: rooms with a temperature in Celsius.
private struct OldRooms: ServiceState, Codable {
  enum Event: ServiceEvent, Codable {
    case measured(celsius: Double)
    case closed

    static let kinds: Set = ["measured", "closed"]
  }

  var values: [String: Double] = [:]

  mutating func apply(_ event: Event, at place: EventContext) {
    switch event {
    case .measured(let celsius): values[place.stream] = celsius
    case .closed: values[place.stream] = nil
    }
  }

  func value(of source: String) -> JSONText? {
    values[source].map { JSONText(trusted: "\($0)") }
  }

  var sources: [String] { Array(values.keys) }
  static func sources(changedBy event: Event, at place: EventContext) -> [String] { [place.stream] }
}

/// The service two versions later: Kelvin, and the person who measured.
private struct Rooms: ServiceState, Codable {
  enum Event: ServiceEvent, Codable {
    case measured(kelvin: Double, by: String)

    static let kinds: Set = ["measured"]

    static let upcasters: [String: [Upcaster]] = [
      "measured": [
        { data in
          let celsius = data.members?["celsius"]?.number?.double ?? 0
          return JSONText(members: ["kelvin": JSONText(trusted: "\(celsius + 273.15)")])
        },
        { data in
          var members = data.members ?? [:]
          members["by"] = JSONText(string: "unknown")
          return JSONText(members: members)
        },
      ]
    ]
  }

  var values: [String: String] = [:]

  mutating func apply(_ event: Event, at place: EventContext) {
    if case .measured(let kelvin, let by) = event {
      values[place.stream] = "\(kelvin) by \(by)"
    }
  }

  func value(of source: String) -> JSONText? { values[source].map { JSONText(string: $0) } }
  var sources: [String] { Array(values.keys) }
  static func sources(changedBy event: Event, at place: EventContext) -> [String] { [place.stream] }
}

/// A service that refuses to skip unknown events.
private struct StrictRooms: ServiceState, Codable {
  enum Event: ServiceEvent, Codable {
    case measured(celsius: Double)

    static let kinds: Set = ["measured"]
  }

  mutating func apply(_ event: Event, at place: EventContext) {}
  func value(of source: String) -> JSONText? { nil }
  var sources: [String] { [] }
  static func sources(changedBy event: Event, at place: EventContext) -> [String] { [] }
  static var unknownEvents: UnknownEvents { .refused }
}

@Suite(.leavesNothing)
struct EventFormTests {
  let store = MemoryStore()

  private func host<State: ServiceState>(
    _ type: State.Type
  ) throws -> (ServiceHost, Ledger<State>) {
    let host = ServiceHost(store: store)
    let ledger = Ledger<State>("rooms", in: host)
    try host.start()
    return (host, ledger)
  }

  private func record<State>(
    _ event: State.Event, _ host: ServiceHost, _ ledger: Ledger<State>
  ) throws {
    _ = try host.perform(Command(method: "rooms.measure", caller: Peer(uid: 1, pid: 2))) {
      ledger.record(event, in: "rooms/hall")
      return nil
    }
    store.commit()
  }

  private func kept() -> [Record] {
    var records: [Record] = []
    store.replay(after: 0) { records += $0.records }
    return records
  }

  private func awaited<Element>(_ signal: Signal<Element, JournalError>) throws -> Element {
    var result: Result<Element, JournalError>?
    let observation = signal.observe { event in
      switch event {
      case .next(let element): result = .success(element)
      case .failed(let fault): result = .failure(fault)
      case .completed: break
      }
    }
    store.read()
    observation.dispose()
    return try #require(result).get()
  }

  @Test
  func `an old event is upgraded when it is read, and unchanged in the journal`()
    throws
  {
    let (old, before) = try host(OldRooms.self)
    try record(.measured(celsius: 20), old, before)
    let (host, ledger) = try host(Rooms.self)
    #expect(ledger.value(of: "rooms/hall")?.text == "\"293.15 by unknown\"")
    try record(.measured(kelvin: 300, by: "kim"), host, ledger)
    #expect(kept().map(\.type) == ["rooms.measured", "rooms.measured@3"])
    #expect(kept()[0].data == #"{"celsius":20}"#)

    let page = try awaited(host.readEvents(after: 0, limit: 10, EventFilter()) { $0 })
    #expect(page.entries.map(\.type) == ["rooms.measured", "rooms.measured"])
    #expect(page.entries[0].data.members?["kelvin"]?.text == "293.15")
    #expect(page.entries[0].data.members?["by"]?.text == "\"unknown\"")
    let past = try awaited(host.value(of: "rooms/hall", at: 1))
    #expect(past.value?.text == "\"293.15 by unknown\"")
    let some = EventFilter(types: [try #require(Pattern("rooms.measured", separator: "."))])
    #expect(try awaited(host.readEvents(after: 0, limit: 10, some) { $0 }).entries.count == 2)
    #expect(try awaited(host.readEvents(before: nil, limit: 1, some)).entries.map(\.seq) == [2])
  }

  @Test
  func `24: a start fails on an event of a newer form`() throws {
    let (new, ledger) = try host(Rooms.self)
    try record(.measured(kelvin: 300, by: "kim"), new, ledger)
    #expect(
      throws: JournalError.notUnderstood(
        seq: 1,
        detail: "it is rooms.measured@3, and this program knows rooms.measured up to version 1")
    ) { try self.host(OldRooms.self) }
  }

  @Test
  func `24: an unknown event is skipped and shown, or refused if the service requires it`()
    throws
  {
    let (old, before) = try host(OldRooms.self)
    try record(.measured(celsius: 20), old, before)
    try record(.closed, old, before)
    let (host, ledger) = try host(Rooms.self)
    #expect(ledger.value(of: "rooms/hall")?.text == "\"293.15 by unknown\"")
    let page = try awaited(host.readEvents(after: 1, limit: 10, EventFilter()) { $0 })
    #expect(page.entries.map(\.type) == ["rooms.closed"])
    #expect(page.entries[0].data.text == "{}")
    #expect(
      throws: JournalError.notUnderstood(
        seq: 2, detail: "this program does not know rooms.closed, which rooms needs")
    ) { try self.host(StrictRooms.self) }
  }
}
