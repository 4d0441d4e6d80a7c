import Binders
import Connections
import EventLoop
import JournalSQLite
import Machine
import Services

/// Measures the daemon for whoever asks how it is.
final class DaemonMeasures {
  private let hub: Hub
  private let host: ServiceHost
  private let store: SQLiteStore
  private let loop: Loop
  private let started: UInt64
  private var measured: UInt64

  init(hub: Hub, host: ServiceHost, store: SQLiteStore, loop: Loop) {
    (self.hub, self.host, self.store, self.loop) = (hub, host, store, loop)
    started = loop.milliseconds
    measured = started
  }

  var server: ServerInfo {
    ServerInfo(
      version: Daemon.version, now: { Process.now },
      uptime: { [loop, started] in loop.milliseconds - started })
  }

  var now: DaemonStats {
    var stats = DaemonStats()
    let times = store.takeCommitTimes()
    let seconds = Double(max(1, loop.milliseconds - measured)) / 1000
    measured = loop.milliseconds
    stats.connections = hub.connections.count
    stats.subscriptions = hub.subscriptionCount
    stats.requests = hub.requests
    stats.first = host.first
    stats.last = host.durable
    stats.commitsPerSecond = (Double(times.commits) / seconds).rounded()
    stats.eventsPerSecond = (Double(times.events) / seconds).rounded()
    stats.commitMeanMilliseconds = times.meanMilliseconds
    stats.commitMaxMilliseconds = times.maxMilliseconds
    stats.waitingEvents = host.last - host.durable
    stats.outputBytes = hub.outputBytes
    stats.residentBytes = LinuxProbe().residentBytes
    stats.uptimeSeconds = (Double(loop.milliseconds - started) / 1000).rounded()
    return stats
  }

  var connections: [ConnectionInfo] {
    hub.connections.values.sorted { $0.id < $1.id }.map { connection in
      ConnectionInfo(
        id: connection.id, uid: connection.peer.uid, pid: connection.peer.pid,
        client: connection.clientName, subscriptions: connection.subscriptions.count,
        outputBytes: connection.outputBytes)
    }
  }
}
