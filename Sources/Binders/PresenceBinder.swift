package import Services

/// Offers the names of the online users to clients.
package func bindPresence(_ interface: Interface, to presence: PresenceService) {
  interface.offer("presence", "Who is here: logged in on some connection. Known while it is so.")
  interface.offerSource(
    "presence/online", "The names of those who are here, sorted.", presence.online)
}
