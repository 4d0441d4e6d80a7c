import Glibc
import JSON
import Testing

/// The statistics of the daemon.
struct StatsTests {
  let daemon: DaemonProcess
  let client: TestSocket

  init() throws {
    daemon = try DaemonProcess()
    client = try TestSocket(daemon.socket)
  }

  private func stats() throws -> JSONObject {
    guard
      case .object(let stats)? = try client.result(#"{"id":1,"method":"stats"}"#)["stats"]
    else { return [:] }
    return stats
  }

  private func rate(_ stats: JSONObject) -> Double {
    guard case .number(let rate)? = stats["events_per_second"] else { return -1 }
    return rate.double
  }

  @Test
  func `all clients see the same measurement`() throws {
    let watcher = try TestSocket(daemon.socket)
    _ = try watcher.call(#"{"id":1,"method":"subscribe","params":["daemon/stats"]}"#)
    // A new measurement may come at any time, but not between each two calls.
    var measured = 0.0
    let isSame = try holds {
      for i in 0..<50 {
        _ = try client.call(#"{"id":1,"method":"cells.set","params":["a",\#(i)]}"#)
      }
      measured = try rate(stats())
      guard measured > 0 else { return false }
      return try (0..<5).allSatisfy { _ in try rate(stats()) == measured }
    }
    #expect(isSame, "\(measured)")
    // Subscribers also receive it while others call `stats`.
    let isShown = try holds {
      _ = try stats()
      guard let line = try watcher.line(),
        case .object(let frame) = try JSONValue(parsing: line),
        case .object(let params)? = frame["params"], case .object(let value)? = params["value"]
      else { return false }
      return rate(value) > 0
    }
    #expect(isShown)
  }

  @Test(arguments: ["daemon/stats", "daemon/connections", "system/memory"])
  func `members are in snake case`(source: String) throws {
    let answer = try client.call(#"{"id":1,"method":"get","params":["\#(source)"]}"#)
    #expect(answer.contains("_"))
    let names = answer.matches(of: /"([^"]*)":/).map { String($0.1) }
    #expect(names.contains { $0.contains("_") })
    #expect(names.allSatisfy { $0 == $0.lowercased() })
  }
}
