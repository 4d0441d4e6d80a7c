package import Signals

/// The profile and the friends of one user, who is logged in.
package final class UserService {
  package let name: String
  private let users: UsersService
  private let host: ServiceHost
  private let presence: PresenceService
  private let standing: Standing

  init(
    of name: String, _ users: UsersService, _ presence: PresenceService, _ host: ServiceHost,
    _ standing: Standing
  ) {
    (self.name, self.users, self.host, self.standing) = (name, users, host, standing)
    self.presence = presence
  }

  // MARK: What there is to see

  /// The user as they are known now.
  package var user: User? { users.ledger.shown[name] }

  /// The user, now and after each change.
  package var profile: Signal<User, Never> { profile(of: name) }

  /// Somebody, now and after each change.
  package func profile(of name: String) -> Signal<User, Never> {
    Signal { [users] observer in
      if let user = users.ledger.shown[name] { observer.receive(user) }
      return users.events(of: name).observeNext { [users] _ in
        if let user = users.ledger.shown[name] { observer.receive(user) }
      }
    }
    .removeDuplicates()
  }

  /// The friends: loading until the user is there.
  package var friends: LoadingSignal<[User], UsersError> {
    LoadingSignal { [users, name] observer in
      func tell() {
        let users = users.ledger.shown
        guard let user = users[name] else { return observer.receive(.loading) }
        observer.receive(.loaded(user.friends.compactMap { users[$0] }))
      }
      tell()
      return users.friendEvents(of: name) { users.events(of: $0).map { _ in () } }
        .observeNext(with: tell)
    }
    .removeDuplicates()
  }

  /// A friend, and whether they are here.
  package struct Friend {
    package let user: User
    package let isHere: Bool
  }

  /// The friends and who of them is here: for views.
  package var friendsHere: Computed<[Friend]> {
    Computed(
      Identity(users, "friends", name),
      changes: users.friendEvents(of: name) { [users, presence] friend in
        users.events(of: friend).map { _ in () }.merge(with: presence.comings(of: friend))
      }
    ) { [users, presence, name] in
      let users = users.ledger.shown
      return (users[name]?.friends ?? []).compactMap { users[$0] }
        .map { Friend(user: $0, isHere: presence.isHere($0.name)) }
    }
  }

  // MARK: What can be done

  /// Makes somebody a friend when it is observed: loading until the disk has it, then the friend.
  package func addFriend(_ friend: String) -> LoadingSignal<String, UsersError> {
    keeping { [users, name] () throws(UsersError) in
      _ = try users.befriend(friend, of: name)
      return friend
    } isKept: { [name] friend, users in
      users[name]?.friends.contains(friend) == true
    }
  }

  /// Makes a token when it is observed: loading until the disk has its hash, then the token; see
  /// ``UsersService/issueToken(to:)``.
  package var token: LoadingSignal<String, UsersError> {
    keeping { [users, name] () throws(UsersError) in
      try users.issueToken(to: name)
    } isKept: { token, users in
      users.tokens.keys.contains { token.hasPrefix("\($0).") }
    }
  }

  /// Decides something when it is observed, within a command, and tells of it when it is durable.
  private func keeping<Value>(
    _ decide: @escaping () throws(UsersError) -> Value,
    isKept: @escaping (Value, Users) -> Bool
  ) -> LoadingSignal<Value, UsersError> {
    LoadingSignal { [users, host, standing] observer in
      let value: Value
      do throws(UsersError) {
        try standing.check()
        value = try decide()
      } catch {
        observer.receive(lastElement: .failed(error))
        return NonDisposable.instance
      }
      observer.receive(.loading)
      return host.durability(of: host.last).observe { event in
        if case .completed = event { return }
        // What was decided may have been taken back, and another event have its place.
        let isThere = isKept(value, users.ledger.shown)
        observer.receive(lastElement: isThere ? .loaded(value) : .failed(.lost))
      }
    }
  }

  /// Ends that somebody is a friend.
  package func removeFriend(_ friend: String) throws(UsersError) -> Bool {
    try standing.check()
    return try users.unfriend(friend, of: name)
  }

  /// Somebody as they are known now.
  package func check(_ friend: String) throws(UsersError) {
    _ = try users.user(friend)
  }

  /// Changes the profile; what is not given stays.
  package func edit(fullName: String?, about: String?) throws(UsersError) {
    try standing.check()
    _ = try users.edit(name, fullName: fullName, about: about)
  }

  /// Takes all tokens away.
  package func revokeTokens() throws(UsersError) -> Int {
    try standing.check()
    return try users.revokeTokens(of: name)
  }
}
