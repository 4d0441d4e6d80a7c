package import API

/// Offers the names of the online users to clients.
package func bindPresence(_ catalog: Catalog, to presence: PresenceService) {
  catalog.offer("presence", "Who is online: users logged in on a connection.")
  catalog.offerSource(
    "presence/online", "The names of the users online, sorted.", presence.online)
}
