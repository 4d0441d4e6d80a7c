/// The session manager: makes the session of each client, of the services that all of them share.
package final class Sessions {
  package let users: UsersService
  package let presence: PresenceService
  package let chat: ChatService
  let host: ServiceHost

  package init(
    in host: ServiceHost, users: UsersService, presence: PresenceService, chat: ChatService
  ) {
    (self.host, self.users, self.presence, self.chat) = (host, users, presence, chat)
  }

  /// A session for a client that has come.
  package func session(of caller: Caller) -> Session {
    Session(caller: caller, host: host, in: self)
  }
}
