internal import Signals

/// Somebody who is logged in, and the services that there are for them: what is there as long as they
/// are, and what is made when a view asks for it.
package final class UserSession {
  package let name: String

  /// Their profile and their friends.
  package let users: UserService

  /// Who is here.
  package let presence: PresenceService

  /// The rooms.
  package let rooms: RoomsService

  /// What is said in rooms: of those that some view shows.
  private var shown: [Int: Shown] = [:]

  private struct Shown {
    weak var messages: MessagesService?
  }

  private let makeMessages: (Int) -> MessagesService
  private let leave: () -> Void
  private let prepare: () throws(UsersError) -> Void
  private let live = LiveNode("UserSession")

  /// - Parameter standing: Whether they still are; without it they do nothing.
  init(_ name: String, _ session: Session, _ sessions: Sessions, _ standing: Standing) {
    self.name = name
    leave = { [weak session] in if standing.isGood() { session?.logOut() } }
    prepare = { [weak session] () throws(UsersError) in try session?.prepareToken() }
    presence = sessions.presence
    users = UserService(of: name, sessions.users, sessions.presence, sessions.host, standing)
    rooms = RoomsService(of: name, sessions.chat, standing)
    makeMessages = { [weak session] room in
      MessagesService(
        of: room, name, sessions.chat, sessions.presence, sessions.host, sessions.marks, standing
      ) {
        session.map {
          Command(method: "chat.read", caller: $0.caller, mayRecord: $0.mayRecord)
        }
      }
    }
  }

  /// What is said in a room: made for the first view that asks, the same for those that ask while it
  /// is there, and gone with the last of them.
  package func messages(in room: Int) -> MessagesService {
    if let messages = shown[room]?.messages { return messages }
    let messages = makeMessages(room)
    shown = shown.filter { $0.value.messages != nil }
    shown[room] = Shown(messages: messages)
    return messages
  }

  /// Makes sure that ``UserService/token`` can be made in the same command.
  package func prepareToken() throws(UsersError) { try prepare() }

  /// Logs out.
  package func logOut() { leave() }
}
