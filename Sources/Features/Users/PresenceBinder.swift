/// Offers the names of the online users to clients.
package func bindPresence(_ interface: Interface, to presence: PresenceService) {
  interface.offer("presence", "Who is online: users logged in on a connection.")
  interface.offerSource(
    "presence/online", "The names of the users online, sorted.", presence.online)
}
