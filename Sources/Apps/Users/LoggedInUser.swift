internal import Signals

/// A logged-in user and their services.
///
/// Some live as long as the login, others are created on demand for views.
package final class LoggedInUser {
  package let name: String

  /// The user's profile and friends.
  package let users: ProfileService

  /// The users online.
  package let presence: PresenceService

  /// The rooms for this user.
  package let rooms: RoomsService

  /// The messages services of the rooms that views show.
  private var shown: [Int: Shown] = [:]

  private struct Shown {
    weak var messages: MessagesService?
  }

  private let makeMessages: (Int) -> MessagesService
  private let leave: () -> Void
  private let prepare: () throws(UsersError) -> Void
  private let live = LiveNode("LoggedInUser")

  /// - Parameter loginCheck: Checks whether the login is still valid. The services do nothing
  ///   without it.
  init(
    _ name: String, _ session: ClientSession, _ sessions: SessionFactory, _ loginCheck: LoginCheck
  ) {
    self.name = name
    leave = { [weak session] in if loginCheck.isGood() { session?.logOut() } }
    prepare = { [weak session] () throws(UsersError) in try session?.prepareToken() }
    presence = sessions.presence
    users = ProfileService(of: name, sessions.users, sessions.presence, sessions.host, loginCheck)
    rooms = RoomsService(of: name, sessions.chat, loginCheck)
    makeMessages = { [weak session] room in
      MessagesService(
        of: room, name, sessions.chat, sessions.presence, sessions.host, sessions.marks, loginCheck
      ) { session?.caller }
    }
  }

  /// Returns the messages of a room.
  ///
  /// The service is created on the first call, shared while in use, and released with its last
  /// user.
  package func messages(in room: Int) -> MessagesService {
    if let messages = shown[room]?.messages { return messages }
    let messages = makeMessages(room)
    shown = shown.filter { $0.value.messages != nil }
    shown[room] = Shown(messages: messages)
    return messages
  }

  /// Ensures that ``ProfileService/token`` can be issued in the same command.
  package func prepareToken() throws(UsersError) { try prepare() }

  /// Logs out.
  package func logOut() { leave() }
}

/// A check of whether a login is still valid: the connection has no newer login, and the token
/// was not revoked.
struct LoginCheck {
  let isGood: () -> Bool

  /// Checks the login.
  ///
  /// - Throws: ``UsersError/notLoggedIn`` if it is no longer valid.
  func check() throws(UsersError) {
    guard isGood() else { throw .notLoggedIn }
  }

  /// Checks the login for a chat method.
  ///
  /// - Throws: ``ChatError/user(_:)`` if it is no longer valid.
  func checkInRoom() throws(ChatError) {
    guard isGood() else { throw .user(.notLoggedIn) }
  }
}
