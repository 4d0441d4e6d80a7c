import EventSourcing
import Features
import JSON
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct StreamMeterTests {
  let store = MemoryStore(epoch: "e") { 0 }
  let host: ServiceHost
  let cells: CellsService

  init() throws {
    host = ServiceHost(store: store)
    cells = CellsService(in: host)
    try host.start()
  }

  private func set(_ name: String, _ value: String) throws {
    _ = try host.perform(Command(method: "cells.set", caller: Peer(uid: 1, pid: 2))) {
      _ = try cells.set(name, to: JSONText(string: value))
      return nil as JSONText?
    }
    store.commit()
  }

  @Test
  func `only events while observed are counted, and the busiest streams come first`() throws {
    var now: UInt64 = 0
    let meter = StreamMeter(host) { now }
    try set("before", "x")
    let counting = meter.count()
    for _ in 0..<4 { try set("often", "x") }
    try set("large", String(repeating: "x", count: 100))
    now += 2_000_000_000
    let rates = meter.beginInterval()
    #expect(rates.count == 2)
    #expect(rates.eventsPerSecond == 2.5)
    #expect(rates.streams.map(\.stream) == ["cells/often", "cells/large"])
    #expect(rates.streams.map(\.eventsPerSecond) == [2, 0.5])
    #expect(rates.streams[1].bytesPerSecond > rates.streams[0].bytesPerSecond)
    now += 1_000_000_000
    #expect(meter.beginInterval().streams.isEmpty)
    counting.dispose()
    try set("after", "x")
    #expect(meter.beginInterval().count == 0)
  }

  @Test
  func `a result has the streams with the most bytes too, and is limited`() throws {
    let meter = StreamMeter(host) { 0 }
    let counting = meter.count()
    for i in 0..<120 {
      try set("small\(i)", "x")
      try set("small\(i)", "y")
    }
    try set("large", String(repeating: "x", count: 1000))
    let rates = meter.beginInterval()
    #expect(rates.count == 121)
    #expect(rates.streams.contains { $0.stream == "cells/large" })
    #expect(rates.streams.count <= 100)
    counting.dispose()
  }
}
