/// Offers the measurements of the daemon to clients.
package func bindDaemon(_ interface: Interface, to daemon: DaemonService) {
  interface.offer("daemon", "This daemon, measured every second while somebody watches.")
  interface.offerSource(
    "daemon/stats", "Connections, commits, queues and memory.", daemon.stats)
  interface.offerSource("daemon/connections", "The connected clients.", daemon.connections)
}
