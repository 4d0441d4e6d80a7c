package import Signals

/// The session manager: makes the session of each client, of the services that all of them share.
package final class Sessions {
  package let users: UsersService
  package let presence: PresenceService
  package let chat: ChatService
  let host: ServiceHost

  /// What the users have read.
  package let marks: ReadMarks

  package init(
    in host: ServiceHost, users: UsersService, presence: PresenceService, chat: ChatService,
    on scheduler: any Scheduler
  ) {
    (self.host, self.users, self.presence, self.chat) = (host, users, presence, chat)
    marks = ReadMarks(of: chat, in: host, on: scheduler)
  }

  /// A session for a client that has come.
  package func session(of caller: Caller) -> Session {
    Session(caller: caller, host: host, in: self)
  }
}
