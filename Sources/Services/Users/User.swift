/// Somebody who uses the services, under a name that is theirs alone.
package struct User: Codable, Equatable, Sendable {
  package let name: String

  /// The user of this machine who has claimed the name.
  package let uid: UInt32

  /// As others are to call them; empty when they have not said.
  package var fullName = ""
  package var about = ""

  /// The names of their friends, in the order in which they became that.
  package var friends: [String] = []

  init(name: String, uid: UInt32) {
    (self.name, self.uid) = (name, uid)
  }
}

/// What is kept of a token: enough to know it again, and not to make it.
struct Token: Codable, Equatable, Sendable {
  let user: String
  let hash: String
}
