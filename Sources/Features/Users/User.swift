/// A user of the services, with a unique name.
package struct User: Codable, Equatable, Sendable {
  package let name: String

  /// The uid of the user who claimed the name.
  package let uid: UInt32

  /// The display name; empty if not set.
  package var fullName = ""
  package var about = ""

  /// The names of the user's friends, in the order in which they were added.
  package var friends: [String] = []

  private enum CodingKeys: String, CodingKey {
    case name, uid
    case fullName = "full_name"
    case about, friends
  }

  init(name: String, uid: UInt32) {
    (self.name, self.uid) = (name, uid)
  }
}

/// A stored token; the hash verifies a token but cannot reproduce it.
struct Token: Codable, Equatable, Sendable {
  let user: String
  let hash: String
}
