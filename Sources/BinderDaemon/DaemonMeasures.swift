internal import API
import Adapters
import Connections
internal import EventLoop
import EventSourcing
import Features
internal import Glibc
import Journal
import Model
import Wire

/// The statistics of the daemon.
final class DaemonMeasures {
  private let table: ConnectionTable
  private let host: ServiceHost
  private let store: any DaemonStore
  private let loop: Loop

  /// Watches the disk of the journal; `nil` if it is a database.
  var disk: DiskWatch?
  private let started: UInt64

  /// The wall time of the start, in microseconds since 1970.
  private let startTime: Int64

  /// The last rates.
  ///
  /// They are shared by all clients that ask within a second.
  private var rates = Rates()
  private var measured: UInt64

  private struct Rates {
    var commitsPerSecond = 0.0
    var eventsPerSecond = 0.0
    var commitMeanMilliseconds = 0.0
    var commitMaxMilliseconds = 0.0
  }

  /// Milliseconds between measurements of the rates.
  ///
  /// A little less than the interval of one second at which watching clients get new values.
  private static let interval: UInt64 = 900

  private let name: String

  init(
    of program: Program, table: ConnectionTable, host: ServiceHost, store: any DaemonStore,
    loop: Loop
  ) {
    name = program.name
    (self.table, self.host, self.store, self.loop) = (table, host, store, loop)
    started = loop.milliseconds
    startTime = Process.now
    measured = started
  }

  var server: ServerInfo {
    ServerInfo(
      name: name, version: Release.version, host: Process.hostName, now: { Process.now },
      uptime: { [loop, started] in loop.milliseconds - started },
      userName: Process.name(ofUser:))
  }

  var now: DaemonStats {
    var stats = DaemonStats()
    measureRates()
    stats.connections = table.connections.count
    stats.subscriptions = table.context.counts.subscriptions
    stats.requests = table.context.traffic.requests
    stats.first = host.first
    stats.last = host.durable
    stats.commitsPerSecond = rates.commitsPerSecond
    stats.eventsPerSecond = rates.eventsPerSecond
    stats.commitMeanMilliseconds = rates.commitMeanMilliseconds
    stats.commitMaxMilliseconds = rates.commitMaxMilliseconds
    stats.waitingEvents = host.last - host.durable
    stats.outputBytes = table.outputBytes
    stats.stateBytes = host.stateBytes
    stats.openFilesLimit = Process.descriptorLimit
    if table.context.batch?.usesRing == true { stats.sending = "io_uring" }
    stats.residentBytes = LinuxProbe.residentBytes
    if let disk, let room = disk.room {
      (stats.diskFreeBytes, stats.diskReservedBytes) = (room.available, disk.reserve(on: room))
    }
    stats.uptimeSeconds = (Double(loop.milliseconds - started) / 1000).rounded()
    return stats
  }

  private func measureRates() {
    let elapsed = loop.milliseconds - measured
    guard elapsed >= Self.interval else { return }
    measured = loop.milliseconds
    let times = store.resetCommitTimes()
    let seconds = Double(elapsed) / 1000
    rates = Rates(
      commitsPerSecond: (Double(times.commits) / seconds).rounded(),
      eventsPerSecond: (Double(times.events) / seconds).rounded(),
      commitMeanMilliseconds: times.meanMilliseconds,
      commitMaxMilliseconds: times.maxMilliseconds)
  }

  /// The use of each user, by uid.
  var users: [UserInfo] {
    let clients = Dictionary(
      table.usages.map { ($0.uid, $0) }, uniquingKeysWith: { first, _ in first })
    let stateful = host.stateUsers.map(\.user)
    let all = Set(clients.keys).union(stateful).union(host.shares.users)
    return all.sorted().map { uid in
      let limits = host.roleLimits.limits(of: uid).map { ($0.key.rawValue, $0.value) }
      return UserInfo(
        uid: uid, user: Process.name(ofUser: uid), connections: clients[uid]?.connections ?? 0,
        stateBytes: host.stateBytes(of: uid), memoryBytes: clients[uid]?.itemBytes ?? 0,
        bufferedBytes: clients[uid]?.bufferedBytes ?? 0,
        journalBytes: host.shares.written(by: uid),
        limits: limits.isEmpty ? nil : Dictionary(uniqueKeysWithValues: limits))
    }
  }

  var connections: [ConnectionInfo] {
    table.connections.values.sorted { $0.id < $1.id }.map { connection in
      ConnectionInfo(
        id: connection.id, uid: connection.peer.uid, pid: connection.peer.pid,
        client: connection.clientName, program: connection.peer.program,
        since: Timestamp(
          // A client may have connected to an earlier daemon.
          microseconds: startTime + (Int64(connection.connectedAt) - Int64(started)) * 1000
        ).text,
        subscriptions: connection.subscriptions.count, requests: connection.requests,
        outputBytes: connection.outputBytes)
    }
  }
}

/// Logs slow requests, at most one line a second; the slow log has the others too.
func logSlowRequests(of table: ConnectionTable, _ log: Log, now: @escaping () -> UInt64) {
  var last: UInt64?
  table.slowLog.onSlow = { request in
    let time = now()
    guard last.map({ time - $0 >= 1_000 }) ?? true else { return }
    last = time
    log.write(
      .warning, request.line, .slowRequest,
      fields: [
        ("BINDER_METHOD", request.method), ("BINDER_UID", "\(request.uid)"),
        ("BINDER_PID", "\(request.pid)"), ("BINDER_TOTAL_MS", "\(request.total)"),
      ])
  }
}

extension SlowRequest {
  fileprivate var line: String {
    "slow request: \(method) by uid \(uid) pid \(pid) took \(total) ms: wait \(wait), parse \(parse), "
      + "dispatch \(dispatch), decide \(decide)" + (commit.map { ", commit \($0)" } ?? "")
  }
}

extension MachineTime {
  /// Returns a clock with the time zones of this machine.
  static func local(_ clock: DaemonClock) -> MachineTime {
    MachineTime(
      now: { clock.now },
      offset: { seconds in
        // Only this reads the time zone of the machine again.
        tzset()
        var time = time_t(seconds)
        var fields = tm()
        localtime_r(&time, &fields)
        return Int64(fields.tm_gmtoff)
      }, zone: { ZoneFiles().offset(of: $0) })
  }
}
