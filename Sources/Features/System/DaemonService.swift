package import EventSourcing
package import Model
package import Signals

/// The daemon's statistics; measured only while observed, never journaled.
package final class DaemonService {
  package let stats: PolledValue<DaemonStats>
  package let connections: PolledValue<[ConnectionInfo]>
  package let streams: PolledValue<StreamRates>
  package let slow: PolledValue<SlowRequests>
  package let users: PolledValue<[UserInfo]>

  /// - Parameters:
  ///   - interval: Seconds between measurements.
  ///   - stats: Takes a measurement.
  ///   - connections: Returns the open connections.
  ///   - streams: Counts the events of each stream.
  ///   - slow: Returns the slow log.
  ///   - users: Returns what each user uses.
  package init(
    on scheduler: any Scheduler, every interval: Double = 1,
    stats: @escaping () -> DaemonStats, connections: @escaping () -> [ConnectionInfo],
    streams: StreamMeter, slow: @escaping () -> SlowRequests = { SlowRequests() },
    users: @escaping () -> [UserInfo] = { [] }
  ) {
    self.users = PolledValue(every: interval, on: scheduler, users)
    self.stats = PolledValue(every: interval, on: scheduler, stats)
    self.connections = PolledValue(every: interval, on: scheduler, connections)
    self.streams = PolledValue(
      every: interval, on: scheduler, whileObserved: streams.count, streams.beginInterval)
    self.slow = PolledValue(every: interval, on: scheduler, slow)
  }
}

/// Statistics of the daemon.
package struct DaemonStats: Codable, Equatable {
  package var connections = 0
  package var subscriptions = 0

  /// The number of requests since the start.
  package var requests: UInt64 = 0

  /// The first and the last position in the journal.
  package var first: UInt64 = 0
  package var last: UInt64 = 0

  /// Rates per second, over the last second or since the last measurement if that is longer ago.
  package var commitsPerSecond = 0.0
  package var eventsPerSecond = 0.0

  /// The duration of commits in milliseconds, over the same interval.
  package var commitMeanMilliseconds = 0.0
  package var commitMaxMilliseconds = 0.0

  /// The number of recorded events that are not durable yet.
  package var waitingEvents: UInt64 = 0

  /// Bytes of pending output, over all connections.
  package var outputBytes = 0

  /// Bytes of service state, as counted for quotas.
  package var stateBytes = 0

  /// The resident memory in bytes.
  package var residentBytes: UInt64 = 0

  /// The free bytes on the disk of the journal, and those of them that only administrators may
  /// use; `nil` if the journal is in a database.
  package var diskFreeBytes: UInt64?
  package var diskReservedBytes: UInt64?

  /// The number of files and sockets that the daemon may have open.
  package var openFilesLimit = 0

  /// The way in which small outputs of several clients in a turn are sent: `io_uring`, or `send` for
  /// each.
  package var sending = "send"

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
    case diskFreeBytes = "disk_free_bytes"
    case diskReservedBytes = "disk_reserved_bytes"
    case openFilesLimit = "open_files_limit"
    case sending
    case uptimeSeconds = "uptime_s"
  }
}

/// The use of one user, as counted for the limits of one user.
package struct UserInfo: Codable, Equatable {
  package let uid: UInt32

  /// The name of the user; `nil` if the system does not know it.
  package let user: String?
  package let connections: Int

  /// Bytes of values that are charged to the user.
  package let stateBytes: Int

  /// Estimated bytes of subscriptions, views, bindings and waiting calls.
  package let memoryBytes: Int

  /// Bytes of input and output that wait.
  package let bufferedBytes: Int

  /// Bytes of the events that the user has caused since the start.
  package let journalBytes: UInt64

  /// The limits that the role of the user sets; `nil` if it sets none.
  package let limits: [String: Int]?

  package init(
    uid: UInt32, user: String?, connections: Int, stateBytes: Int, memoryBytes: Int,
    bufferedBytes: Int, journalBytes: UInt64, limits: [String: Int]? = nil
  ) {
    self.limits = limits
    (self.uid, self.user, self.connections) = (uid, user, connections)
    (self.stateBytes, self.memoryBytes) = (stateBytes, memoryBytes)
    (self.bufferedBytes, self.journalBytes) = (bufferedBytes, journalBytes)
  }

  private enum CodingKeys: String, CodingKey {
    case uid, user, connections, limits
    case stateBytes = "state_bytes"
    case memoryBytes = "memory_bytes"
    case bufferedBytes = "buffered_bytes"
    case journalBytes = "journal_bytes"
  }
}

/// A client connection.
package struct ConnectionInfo: Codable, Equatable {
  package let id: UInt64
  package let uid: UInt32
  package let pid: Int32

  /// The client's name from `hello`; `nil` if it gave none.
  package let client: String?

  /// The name of its program as the kernel has it, at most 15 bytes; `nil` if it is not known.
  package let program: String?

  /// The time of connecting: RFC 3339, UTC.
  package let since: String
  package let subscriptions: Int

  /// The number of requests since then.
  package let requests: UInt64
  package let outputBytes: Int

  package init(
    id: UInt64, uid: UInt32, pid: Int32, client: String?, program: String?, since: String,
    subscriptions: Int,
    requests: UInt64, outputBytes: Int
  ) {
    self.id = id
    self.uid = uid
    self.pid = pid
    self.client = client
    self.program = program
    self.since = since
    self.subscriptions = subscriptions
    self.requests = requests
    self.outputBytes = outputBytes
  }

  private enum CodingKeys: String, CodingKey {
    case id, uid, pid, client, program, since, subscriptions, requests
    case outputBytes = "output_bytes"
  }
}
