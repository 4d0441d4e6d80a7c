internal import Connections
internal import Services
internal import Signals

/// Shows the friends of who is logged in, and who of them is here.
func bindFriends(_ view: View, _ session: UserSession) {
  session.users.friends.value().combineLatest(with: session.presence.online, combine: rows)
    .bind(to: view["friends"])
  view.intent("add", NewFriend.self).flatMapLatest { session.users.addFriend($0.name) }
    .consumeLoadingState(by: view["added"].loadedWhenAsked()).bind(to: view["added"])
  view.intent("remove", FriendRow.ID.self).calls { try session.users.removeFriend($0.id) }
  view.intent("show", FriendRow.ID.self).calls { try session.users.check($0.id) }
    .opens("user") { view, friend in bindUser(view, session, friend.id) }
}

private func rows(_ friends: [User], _ online: [String]) -> [FriendRow] {
  friends.map {
    FriendRow(id: $0.name, fullName: $0.fullName, isHere: online.contains($0.name))
  }
}

private struct FriendRow: Encodable, Equatable {
  let id: String
  let fullName: String
  let isHere: Bool

  struct ID: Decodable {
    let id: String
  }
}

private struct NewFriend: Decodable {
  let name: String
}
