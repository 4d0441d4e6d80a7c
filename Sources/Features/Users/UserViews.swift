internal import Connections
internal import Signals

/// Shows the friends of the logged-in user and which of them are online.
func bindFriends(_ view: View, _ session: UserSession) {
  session.users.friendsHere.bind(to: view["friends"], as: FriendRow.self)
  view.intent("show", FriendRow.ID.self).calls { try session.users.check($0.id) }
    .opens("user") { view, friend in bindUser(view, session, friend.id) }
    .main()
  let added = view["added"].hint(.quiet).loadedWhenAsked()
  view.intent("add", NewFriend.self).flatMapLatest { session.users.addFriend($0.name) }
    .consumeLoadingState(by: added).bind(to: added)
  view.intent("remove", FriendRow.ID.self).calls { try session.users.removeFriend($0.id) }
}

private struct FriendRow: Encodable, Rendering {
  let id: String
  let fullName: String
  let isHere: Bool

  private enum CodingKeys: String, CodingKey {
    case id
    case fullName = "full_name"
    case isHere = "here"
  }

  init(_ friend: UserService.Friend) {
    (id, fullName, isHere) = (friend.user.name, friend.user.fullName, friend.isHere)
  }

  struct ID: Decodable {
    let id: String
  }
}

private struct NewFriend: Decodable {
  let name: String
}
