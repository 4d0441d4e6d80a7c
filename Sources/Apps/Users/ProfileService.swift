internal import Binder
package import Signals

/// The profile and the friends of one logged-in user.
package final class ProfileService {
  package let name: String
  private let users: UsersService
  private let host: Host
  private let presence: PresenceService
  private let loginCheck: LoginCheck

  init(
    of name: String, _ users: UsersService, _ presence: PresenceService, _ host: Host,
    _ loginCheck: LoginCheck
  ) {
    (self.name, self.users, self.host, self.loginCheck) = (name, users, host, loginCheck)
    self.presence = presence
  }

  // MARK: Content

  /// The durable state of the user; `nil` if not registered.
  package var user: User? { users.ledger.committed[name] }

  /// The user, now and after each change.
  package var profile: Signal<User, Never> { profile(of: name) }

  /// Emits a user, now and after each change.
  package func profile(of name: String) -> Signal<User, Never> {
    Signal { [users] observer in
      if let user = users.ledger.committed[name] { observer.receive(user) }
      return users.events(of: name).observeNext { [users] _ in
        if let user = users.ledger.committed[name] { observer.receive(user) }
      }
    }
    .removeDuplicates()
  }

  /// The friends; emits `loading` until the user's registration is durable.
  package var friends: LoadingSignal<[User], UsersError> {
    LoadingSignal { [users, name] observer in
      func tell() {
        let users = users.ledger.committed
        guard let user = users[name] else { return observer.receive(.loading) }
        observer.receive(.loaded(user.friends.compactMap { users[$0] }))
      }
      tell()
      return users.friendEvents(of: name) { users.events(of: $0).map { _ in () } }
        .observeNext(with: tell)
    }
    .removeDuplicates()
  }

  /// A friend and their presence, as a row of a list.
  package struct Friend: Encodable {
    package let user: User
    package let isHere: Bool

    private enum CodingKeys: String, CodingKey {
      case id
      case fullName = "full_name"
      case isHere = "here"
    }

    package func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(user.name, forKey: .id)
      try members.encode(user.fullName, forKey: .fullName)
      try members.encode(isHere, forKey: .isHere)
    }
  }

  /// The friends and their presence; for views.
  package var friendsHere: Computed<[Friend]> {
    Computed(
      Identity(users, "friends", name),
      changes: users.friendEvents(of: name) { [users, presence] friend in
        users.events(of: friend).map { _ in () }.merge(with: presence.comings(of: friend))
      }
    ) { [users, presence, name] in
      let users = users.ledger.committed
      return (users[name]?.friends ?? []).compactMap { users[$0] }
        .map { Friend(user: $0, isHere: presence.isHere($0.name)) }
    }
  }

  // MARK: Actions

  /// Adds a friend when observed; emits `loading` until this is durable, then the friend's name.
  package func addFriend(_ friend: String) -> LoadingSignal<String, UsersError> {
    keeping { [users, name] () throws(UsersError) -> Decided<String> in
      _ = try users.befriend(friend, of: name)
      return (friend, { $0[name]?.friends.contains(friend) == true })
    }
  }

  /// Issues a token when observed.
  ///
  /// Emits `loading` until its hash is durable, then the token; see
  /// ``UsersService/issueToken(to:wake:)``.
  package var token: LoadingSignal<String, UsersError> {
    keeping { [users, name] () throws(UsersError) -> Decided<String> in
      let token = try users.issueToken(to: name)
      let id = users.ledger.pending.lastToken
      let issued = users.ledger.pending.tokens[id]
      // Compares the hash too: after a roll-back, another token gets the same number.
      return (token, { $0.tokens[id] == issued })
    }
  }

  /// A value that was decided, and whether the state holds what was recorded for it.
  private typealias Decided<Value> = (value: Value, isKept: (Users) -> Bool)

  /// Runs a decision when observed, within a command; emits the result when it is durable.
  private func keeping<Value>(
    _ decide: @escaping () throws(UsersError) -> Decided<Value>
  ) -> LoadingSignal<Value, UsersError> {
    LoadingSignal { [users, host, loginCheck] observer in
      let decided: Decided<Value>
      do throws(UsersError) {
        try loginCheck.check()
        decided = try decide()
      } catch {
        observer.receive(lastElement: .failed(error))
        return NonDisposable.instance
      }
      observer.receive(.loading)
      return host.settled.observeNext {
        // The decision may have been rolled back, and its position reused by another event.
        let isThere = decided.isKept(users.ledger.committed)
        observer.receive(lastElement: isThere ? .loaded(decided.value) : .failed(.lost))
      }
    }
  }

  /// Removes a friend; returns whether they were a friend.
  package func removeFriend(_ friend: String) throws(UsersError) -> Bool {
    try loginCheck.check()
    return try users.unfriend(friend, of: name)
  }

  /// Checks that a user exists.
  package func check(_ friend: String) throws(UsersError) {
    _ = try users.user(friend)
  }

  /// Changes the profile; `nil` leaves a field unchanged.
  package func edit(fullName: String?, about: String?) throws(UsersError) {
    try loginCheck.check()
    _ = try users.edit(name, fullName: fullName, about: about)
  }

  /// Revokes all tokens and returns their number.
  package func revokeTokens() throws(UsersError) -> Int {
    try loginCheck.check()
    return try users.revokeTokens(of: name)
  }
}
