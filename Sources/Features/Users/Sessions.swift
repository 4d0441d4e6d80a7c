package import EventSourcing
package import Facts
package import Signals

/// The factory of client sessions; it holds the services that all sessions share.
package final class Sessions {
  package let users: UsersService
  package let presence: PresenceService
  package let chat: ChatService
  let host: ServiceHost

  /// The read marks of all users.
  package let marks: ReadMarks

  package init(
    in host: ServiceHost, users: UsersService, presence: PresenceService, chat: ChatService,
    on scheduler: any Scheduler
  ) {
    (self.host, self.users, self.presence, self.chat) = (host, users, presence, chat)
    marks = ReadMarks(of: chat, in: host, on: scheduler)
  }

  /// Creates the session of a new client.
  package func session(of caller: Peer) -> Session {
    Session(caller: caller, host: host, in: self)
  }
}
