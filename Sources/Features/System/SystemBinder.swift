package import API
package import Connections
package import EventSourcing
internal import Signals

/// Offers the measurements of the machine to clients.
package func bindSystem(_ catalog: Catalog, to system: SystemService) {
  catalog.offer("system", "This machine, measured every second while somebody watches.")
  catalog.offerView(
    "system", of: "system", "The state of this machine.",
    reads: ["load", "memory", "cpu", "uptime", "disk"].map { "system/" + $0 }, isOfMachine: true
  ) { view, _ in
    bindSystem(view, to: system)
  }
  catalog.offerSource(
    "system/load", "Averages of the run queue over 1, 5 and 15 minutes.", system.load)
  catalog.offerSource("system/memory", "Memory and swap, in bytes.", system.memory)
  catalog.offerSource(
    "system/cpu", "How busy the processors are, 0 to 1, since the last measurement.",
    system.processor)
  catalog.offerSource("system/uptime", "Seconds since the machine was started.", system.uptime)
  catalog.offerSource(
    "system/disk", "File systems that hold data, in bytes, every ten seconds.", system.disks)
}

extension Feature {
  /// - Parameter close: Ends the thread that measures.
  package static func system(_ system: SystemService, close: @escaping () -> Void) -> Feature {
    Feature(close: close) { bindSystem($0, to: system) }
  }
}

/// Shows the measurements of the machine.
package func bindSystem(_ view: View, to system: SystemService) {
  system.uptime.computed.bind(to: view["uptime"].hint(.seconds))
  system.processor.map { $0?.cores }.bind(to: view["cores"])
  system.processor.map { $0?.busy }.bind(to: view["busy"].hint(.share))
  system.load.computed.bind(to: view["load"])
  system.memory.map(ShownMemory.init).bind(to: view["memory"].hint(.bytes))
  system.disks.computed.bind(to: view["disks"].hint(.bytes))
}

/// Memory as the view shows it: a machine without swap has no row of it.
private struct ShownMemory: Encodable, Equatable {
  private let total: UInt64
  private let available: UInt64
  private let swapTotal: UInt64?
  private let swapFree: UInt64?

  init?(_ memory: Memory?) {
    guard let memory else { return nil }
    (total, available) = (memory.total, memory.available)
    let hasSwap = memory.swapTotal > 0
    (swapTotal, swapFree) = hasSwap ? (memory.swapTotal, memory.swapFree) : (nil, nil)
  }

  private enum CodingKeys: String, CodingKey {
    case total, available
    case swapTotal = "swap_total"
    case swapFree = "swap_free"
  }
}

/// Offers the measurements of the daemon to clients.
package func bindDaemon(_ catalog: Catalog, to daemon: DaemonService) {
  catalog.offer("daemon", "This daemon, measured every second while somebody watches.")
  catalog.offerSource(
    "daemon/stats", "Connections, commits, queues and memory.", daemon.stats)
  catalog.offerSource("daemon/connections", "The connected clients.", daemon.connections)
  catalog.offerSource(
    "daemon/users", "What each user uses of the limits of one user.", daemon.users)
  catalog.offerSource(
    "daemon/streams", "The streams that are written most, while somebody watches.",
    daemon.streams)
  catalog.offerSource(
    "daemon/slow", "The last requests that took longer than the limit in the configuration.",
    daemon.slow)
}

/// Offers the part of this daemon among those that share a journal; call it if several may.
package func bindCluster(_ catalog: Catalog, to state: PolledValue<ClusterState>) {
  catalog.offerSource(
    "daemon/cluster", "The role of this daemon among those that share the journal.", state)
}
