/// A check of whether a login is still valid: the connection has no newer login, and the token
/// was not revoked.
struct Standing {
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
