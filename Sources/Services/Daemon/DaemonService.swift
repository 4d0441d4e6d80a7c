package import Signals

/// How the daemon itself is: measured while somebody watches, never journaled.
package final class DaemonService {
  package let stats: Sampled<DaemonStats>
  package let connections: Sampled<[ConnectionInfo]>

  /// - Parameters:
  ///   - interval: Seconds between measurements.
  ///   - stats: Measures; the host of the daemon knows how.
  package init(
    on scheduler: any Scheduler, every interval: Double = 1,
    stats: @escaping () -> DaemonStats, connections: @escaping () -> [ConnectionInfo]
  ) {
    self.stats = Sampled(every: interval, on: scheduler, stats)
    self.connections = Sampled(every: interval, on: scheduler, connections)
  }
}

/// What the daemon has and does.
package struct DaemonStats: Codable, Equatable {
  package var connections = 0
  package var subscriptions = 0

  /// Requests since the start.
  package var requests: UInt64 = 0

  /// The first and the last event of the journal.
  package var first: UInt64 = 0
  package var last: UInt64 = 0

  /// Per second, over the last second or, when nobody asked meanwhile, longer.
  package var commitsPerSecond = 0.0
  package var eventsPerSecond = 0.0

  /// Milliseconds that a commit takes, over the same time.
  package var commitMeanMilliseconds = 0.0
  package var commitMaxMilliseconds = 0.0

  /// Events that are recorded and not durable.
  package var waitingEvents: UInt64 = 0

  /// Bytes that wait for clients, of all connections together.
  package var outputBytes = 0

  /// Bytes that the services keep, as the quota counts them.
  package var stateBytes = 0

  /// Resident memory in bytes.
  package var residentBytes: UInt64 = 0

  /// Seconds since the start.
  package var uptimeSeconds = 0.0

  package init() {}

  private enum CodingKeys: String, CodingKey {
    case connections, subscriptions, requests, first, last
    case commitsPerSecond = "commits_per_second"
    case eventsPerSecond = "events_per_second"
    case commitMeanMilliseconds = "commit_mean_ms"
    case commitMaxMilliseconds = "commit_max_ms"
    case waitingEvents = "waiting_events"
    case outputBytes = "output_bytes"
    case stateBytes = "state_bytes"
    case residentBytes = "resident_bytes"
    case uptimeSeconds = "uptime_s"
  }
}

/// One client.
package struct ConnectionInfo: Codable, Equatable {
  package let id: UInt64
  package let uid: UInt32
  package let pid: Int32

  /// As the client has called itself in `hello`.
  package let client: String?
  package let subscriptions: Int
  package let outputBytes: Int

  package init(
    id: UInt64, uid: UInt32, pid: Int32, client: String?, subscriptions: Int, outputBytes: Int
  ) {
    self.id = id
    self.uid = uid
    self.pid = pid
    self.client = client
    self.subscriptions = subscriptions
    self.outputBytes = outputBytes
  }

  private enum CodingKeys: String, CodingKey {
    case id, uid, pid, client, subscriptions
    case outputBytes = "output_bytes"
  }
}
