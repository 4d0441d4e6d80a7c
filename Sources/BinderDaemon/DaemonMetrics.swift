import API
import Adapters
import Connections
import EventLoop
import EventSourcing
import Features
import Glibc
import Journal
import Model
import Wire

/// The metrics of the daemon, for a monitoring system.
final class DaemonMetrics {
  private let table: ConnectionTable
  private let host: ServiceHost
  private let store: any DaemonStore
  private let log: Log

  /// The time of the start in microseconds since 1970.
  private let started = Process.now

  private let forwarding: Forwarding?

  /// Returns what each user uses.
  var users: () -> [UserInfo] = { [] }

  /// Returns what each durable reader has before it.
  var readers: () -> [ReaderFigures] = { [] }

  init(
    _ table: ConnectionTable, _ host: ServiceHost, _ store: any DaemonStore, _ log: Log,
    _ forwarding: Forwarding?
  ) {
    (self.table, self.host, self.store, self.log) = (table, host, store, log)
    self.forwarding = forwarding
  }

  /// Returns all metrics.
  func now(callsOf catalog: Catalog) -> [Metric] {
    process + clients + perUser + perReader + requests(catalog) + journal + cluster
  }

  private var process: [Metric] {
    [
      Metric(
        "binderd_build_info", .gauge, "Always 1; the version is in the label.", by: "version",
        [(Release.version, 1)]),
      Metric(
        "binderd_start_time", .gauge, unit: "seconds", "Time of the start, in seconds since 1970.",
        Double(started / 1000) / 1000),
      Metric(
        "binderd_cpu", .counter, unit: "seconds", "Processor time of the daemon.",
        Double(Process.cpuNanoseconds / 1000) / 1e6),
      Metric(
        "binderd_resident_memory", .gauge, unit: "bytes", "Resident memory of the daemon.",
        LinuxProbe.residentBytes),
      Metric(
        "binderd_state", .gauge, unit: "bytes", "Size of all values, as counted for the quota.",
        host.stateBytes),
      Metric(
        "binderd_state_limit", .gauge, unit: "bytes", "Quota of the size of all values.",
        table.context.limits.state),
      Metric(
        "binderd_log_lines_dropped", .counter, "Lines that the log did not take in time.",
        log.allDropped),
    ]
  }

  private var clients: [Metric] {
    let traffic = table.context.traffic
    return [
      Metric("binderd_connections", .gauge, "Connected clients.", table.connections.count),
      Metric(
        "binderd_connections_accepted", .counter, "Clients that were accepted.",
        traffic.connections),
      Metric(
        "binderd_connections_refused", .counter, "Clients that were not accepted, by reason.",
        by: "reason",
        [Closing.permissionDenied, .tooManyConnections].map {
          ($0.rawValue, traffic.turnedAway[$0] ?? 0)
        }),
      Metric(
        "binderd_disconnects", .counter, "Closed connections, by reason; client: by the client.",
        by: "reason",
        ([nil] + Closing.allCases).map {
          ($0?.rawValue ?? "client", traffic.disconnects[$0] ?? 0)
        }),
      Metric(
        "binderd_subscriptions", .gauge, "Subscriptions of all clients.",
        table.context.counts.subscriptions),
      Metric(
        "binderd_received", .counter, unit: "bytes", "Bytes received from clients.",
        traffic.receivedBytes),
      Metric("binderd_sent", .counter, unit: "bytes", "Bytes sent to clients.", traffic.sentBytes),
      Metric(
        "binderd_output", .gauge, unit: "bytes", "Bytes that clients have not taken yet.",
        table.outputBytes),
    ]
  }

  private var perUser: [Metric] {
    let users = users()
    func metric(
      _ name: String, _ kind: Metric.Kind, _ help: String, _ value: (UserInfo) -> UInt64
    ) -> Metric {
      Metric(
        name, kind, unit: "bytes", help, by: "uid", users.map { ("\($0.uid)", value($0)) })
    }
    return [
      Metric(
        "binderd_user_connections", .gauge, "Connected clients, by user.", by: "uid",
        users.map { ("\($0.uid)", UInt64($0.connections)) }),
      metric("binderd_user_state", .gauge, "Size of values, by the user charged for them.") {
        UInt64(max(0, $0.stateBytes))
      },
      metric(
        "binderd_user_memory", .gauge,
        "Estimated size of subscriptions, views, bindings and waiting calls, by user."
      ) { UInt64(max(0, $0.memoryBytes)) },
      metric("binderd_user_journal", .counter, "Bytes of events since the start, by user.") {
        $0.journalBytes
      },
    ]
  }

  private var perReader: [Metric] {
    let readers = readers()
    func metric(_ name: String, _ help: String, _ value: (ReaderFigures) -> UInt64?) -> Metric {
      Metric(
        name, .gauge, help, by: "reader",
        readers.compactMap { reader in value(reader).map { (reader.reader, $0) } })
    }
    func count(_ number: Int?) -> UInt64? { number.map { UInt64(max(0, $0)) } }
    return [
      metric(
        "binderd_reader_behind", "Positions after that of a durable reader, of all events.",
        \.behind),
      metric("binderd_reader_workers", "Workers of a shared reader.") { count($0.workers) },
      metric("binderd_reader_in_hand", "Events that a reader has and did not acknowledge.") {
        count($0.inHand)
      },
      metric("binderd_reader_waiting", "Events that were read and wait for a worker.") {
        count($0.waiting)
      },
      metric("binderd_reader_parked", "Events that were put aside.") { count($0.parked) },
    ]
  }

  private func requests(_ catalog: Catalog) -> [Metric] {
    let (context, calls) = (table.context, catalog.callCounts)
    let others =
      context.traffic.requests - min(context.traffic.requests, calls.reduce(0) { $0 + $1.count })
    let stages = context.stages
    return [
      Metric(
        "binderd_requests", .counter,
        "Requests by method; other: methods of programs, and unknown ones.",
        by: "method", calls.map { ($0.method, $0.count) } + [("other", others)]),
      Metric(
        "binderd_errors", .counter, "Errors sent to clients, by name.", by: "error",
        ErrorName.allCases.map { ($0.rawValue, context.traffic.refusals[$0] ?? 0) }),
      Metric(
        "binderd_slow_requests", .counter, "Requests in the slow log, since the start.",
        table.slowLog.shown.count),
      Metric("binderd_loop_turns", .counter, "Turns of the event loop.", context.traffic.turns),
      Metric(
        "binderd_stage",
        "Durations of the stages of requests. commit: all; deliver: one turn in 16; others: one"
          + " request in 64.",
        by: "stage",
        [
          ("parse", stages[.parse]), ("dispatch", stages[.dispatch]), ("decide", stages[.decide]),
          ("commit", store.commitTimes), ("deliver", stages[.deliver]),
        ]),
    ]
  }

  private var cluster: [Metric] {
    guard store.isShared else { return [] }
    let alive = store.nodes.filter(\.isAlive)
    let last = alive.map(\.position).max() ?? 0
    return [
      Metric(
        "binderd_cluster_active", .gauge,
        "1 if this daemon takes the writes of the shared journal, otherwise 0.",
        host.isActive ? 1 : 0),
      Metric(
        "binderd_cluster_connected", .gauge, "1 if the database of the journal can be reached.",
        store.isInterrupted ? 0 : 1),
      Metric(
        "binderd_cluster_nodes", .gauge, "Daemons that share the journal and are alive.",
        alive.count),
      Metric(
        "binderd_cluster_behind", .gauge,
        "Events that another daemon had applied and this one not, about a second ago.",
        last - min(last, host.durable)),
      Metric(
        "binderd_cluster_forwarded", .counter, "Commands that the active daemon was asked to run.",
        forwarding?.forwardedCount ?? 0),
      Metric(
        "binderd_cluster_foreign_clients", .gauge,
        "Clients of other daemons for which this one runs commands.", forwarding?.clientCount ?? 0),
    ]
  }

  private var journal: [Metric] {
    [
      Metric(
        "binderd_commits", .counter, "Transactions of the journal.", store.commitTimes.count),
      Metric("binderd_events", .counter, "Events that became durable.", store.committedEvents),
      Metric(
        "binderd_pending_events", .gauge, "Events that are not durable yet.",
        host.last - host.durable),
      Metric(
        "binderd_journal_first_position", .gauge, "First position in the journal.", host.first),
      Metric(
        "binderd_journal_last_position", .gauge, "Last durable position in the journal.",
        host.durable),
      Metric(
        "binderd_journal_writable", .gauge, "1 if the journal accepts writes, otherwise 0.",
        host.refusal == nil ? 1 : 0),
    ]
  }
}
