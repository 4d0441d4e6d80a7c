package import API

/// Offers the measurements of the daemon to clients.
package func bindDaemon(_ catalog: Catalog, to daemon: DaemonService) {
  catalog.offer("daemon", "This daemon, measured every second while somebody watches.")
  catalog.offerSource(
    "daemon/stats", "Connections, commits, queues and memory.", daemon.stats)
  catalog.offerSource("daemon/connections", "The connected clients.", daemon.connections)
  catalog.offerSource(
    "daemon/streams", "The streams that are written most, while somebody watches.",
    daemon.streams)
  catalog.offerSource(
    "daemon/slow", "The last requests that took longer than the limit in the configuration.",
    daemon.slow)
}
