package import API
package import EventSourcing

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
package func bindCluster(_ catalog: Catalog, to state: Sampled<ClusterState>) {
  catalog.offerSource(
    "daemon/cluster", "The role of this daemon among those that share the journal.", state)
}
