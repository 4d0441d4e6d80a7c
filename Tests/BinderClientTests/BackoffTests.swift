import BinderClient
import JSON
import Testing
import Wire

struct BackoffTests {
  @Test
  func `pauses double from a tenth of a second to five seconds`() {
    var backoff = Backoff()
    let longest = (0..<8).map { _ in backoff.next(chance: 1) }
    #expect(longest == [100, 200, 400, 800, 1600, 3200, 5000, 5000])
  }

  @Test
  func `random jitter shortens a pause by up to half`() {
    var backoff = Backoff()
    #expect(backoff.next(chance: 0) == 50)
    #expect(backoff.next(chance: 0.5) == 150)
  }

  @Test
  func `a success resets the pauses`() {
    var backoff = Backoff()
    _ = (0..<5).map { _ in backoff.next(chance: 1) }
    backoff.reset()
    #expect(backoff.next(chance: 1) == 100)
  }

  @Test
  func `the longest pause can be shorter`() {
    var backoff = Backoff(longest: 300)
    #expect((0..<4).map { _ in backoff.next(chance: 1) } == [100, 200, 300, 300])
  }
}

struct ReconnectionTests {
  private func end(_ error: ClientError, _ milliseconds: UInt64? = nil) -> ConnectionEnd {
    ConnectionEnd(error, reconnectMilliseconds: milliseconds)
  }

  @Test
  func `the first pause is the one that the daemon asks for, and later ones grow as well`() {
    var reconnection = Reconnection()
    let pauses = (0..<4).map { _ in
      reconnection.pause(after: end(.lost(reason: "restart"), 0), chance: 1)
    }
    #expect(pauses == [0, 100, 200, 400])
    reconnection.succeed()
    #expect(reconnection.pause(after: end(.lost(reason: "restart"), 0), chance: 1) == 0)
  }

  @Test
  func `a pause is never shorter than the daemon asks for`() {
    var reconnection = Reconnection()
    let pauses = (0..<6).map { _ in
      reconnection.pause(after: end(.lost(reason: "too_many_connections"), 1000), chance: 1)
    }
    #expect(pauses == [1000, 1000, 1000, 1000, 1000, 1600])
  }

  @Test
  func `only some ends allow another attempt`() throws {
    var reconnection = Reconnection()
    func refused(_ name: ErrorName, retry: Bool, _ data: JSONObject = [:]) -> ClientError {
      .refused(WireError(name, "", data, retry: retry))
    }
    let passing: [ConnectionEnd] = [
      end(.noDaemon([])), end(.lost(reason: nil)), end(.lost(reason: "stalled")),
      end(.lost(reason: "shutdown"), 250), end(refused(.overloaded, retry: true)),
      end(refused(.limitReached, retry: true)),
    ]
    for one in passing { #expect(reconnection.pause(after: one) != nil, "\(one)") }
    let lasting: [ConnectionEnd] = [
      end(.lost(reason: "kicked")), end(.lost(reason: "permission_denied")),
      end(.lost(reason: "protocol_abuse")), end(.timedOut), end(.closed(reason: "stolen")),
      end(refused(.permissionDenied, retry: false)), end(.outcomeUnknown),
    ]
    for one in lasting { #expect(reconnection.pause(after: one) == nil, "\(one)") }
    reconnection.succeed()
    let stopping = refused(
      .shuttingDown, retry: true, ["reconnect_ms": .number(JSONNumber(250))])
    #expect(reconnection.pause(after: end(stopping)) == 250)
  }
}
