/// Whether somebody who was logged in still is: nobody else has logged in on their connection since,
/// and the token that they have used is good.
struct Standing {
  let isGood: () -> Bool

  /// - Throws: That nobody is logged in, when they are not any more.
  func check() throws(UsersError) {
    guard isGood() else { throw .notLoggedIn }
  }

  /// - Throws: The same, in a room.
  func checkInRoom() throws(ChatError) {
    guard isGood() else { throw .user(.notLoggedIn) }
  }
}
