import Binder
import BinderTesting
import JSON
import Signals
import TestSupport
import Testing

/// Timers of a service's host.
@Suite(.leavesNothing)
struct HostTimerTests {
  /// A state that counts the calls of a timer.
  struct Ticks: State {
    enum Event: Codable { case ticked }
    var count = Single(0)
    static let sources = [Source.single(\Ticks.count, "ticks", "The calls.")]
    mutating func apply(_ event: Event, at context: EventContext) { count.value += 1 }
  }

  private static func build(_ host: Host, _ catalog: Catalog) {
    let ledger = Ledger<Ticks>("ticks", in: host)
    catalog.offer("Counts.", ledger)
    let tick = { _ = try? host.perform("ticks.tick") { ledger.record(.ticked) } }
    host.every(10, tick)
    host.schedule(after: 5, tick).dispose()
  }

  @Test
  func `a timer runs each interval, and ends with the daemon`() throws {
    let daemon = try TestDaemon { host, catalog in Self.build(host, catalog) }
    daemon.advance(.seconds(31))
    #expect(try daemon.connect().get("ticks") == 3)
    try daemon.restart()
    // The timer of the daemon before would record too.
    daemon.advance(.seconds(11))
    #expect(try daemon.connect().get("ticks") == 4)
    #expect(daemon.events.count == 4)
  }

  @Test
  func `a full journal has a reason, and equals other ones`() throws {
    let daemon = try TestDaemon { host, catalog in Self.build(host, catalog) }
    daemon.failNextCommit()
    #expect(throws: CallError.readOnly) { try daemon.connect().set("cells/a", 1) }
  }
}
