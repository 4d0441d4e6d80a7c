package import API

/// Offers the measurements of the daemon to clients.
package func bindDaemon(_ catalog: Catalog, to daemon: DaemonService) {
  catalog.offer("daemon", "This daemon, measured every second while somebody watches.")
  catalog.offerSource(
    "daemon/stats", "Connections, commits, queues and memory.", daemon.stats)
  catalog.offerSource("daemon/connections", "The connected clients.", daemon.connections)
}
