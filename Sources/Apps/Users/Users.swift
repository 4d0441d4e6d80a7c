package import Binder
internal import JSON
internal import Signals

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

/// A user as clients see them.
package struct Profile: Codable, ListRow, Sendable {
  let name: String
  let fullName: String
  let about: String
  let friends: [String]

  private enum CodingKeys: String, CodingKey {
    case name
    case fullName = "full_name"
    case about, friends
  }

  package init(_ name: String, _ user: User) {
    (self.name, fullName, about, friends) = (name, user.fullName, user.about, user.friends)
  }
}

/// A stored token; the hash verifies a token but cannot reproduce it.
package struct Token: Codable, Equatable, Sendable {
  package let user: String
  let hash: String
}

/// The users and their tokens; the events of a user are in the stream `users/NAME`.
package struct Users: State {
  package enum Event: Codable, Equatable, Sendable {
    /// The name was claimed by a uid.
    case registered(uid: UInt32)
    case edited(fullName: String, about: String)
    case friendAdded(name: String)
    case friendRemoved(name: String)

    /// A token with a number was issued; only its hash is stored.
    case tokenIssued(id: Int, hash: String)

    /// All tokens of the user were revoked.
    case tokensRevoked

    /// The words of the event types in the journal and on the wire.
    private enum CodingKeys: String, CodingKey {
      case registered, edited
      case friendAdded = "friend_added"
      case friendRemoved = "friend_removed"
      case tokenIssued = "token_issued"
      case tokensRevoked = "tokens_revoked"
    }

    private enum EditedCodingKeys: String, CodingKey {
      case fullName = "full_name"
      case about
    }
  }

  package private(set) var users = Table<String, User>()
  package private(set) var tokens = Table<Int, Token>()

  /// The names claimed by each uid, sorted.
  private var names = Table<Int, [String]>()

  package init() {}

  package static let sources = [
    Source.rows(
      \Users.users, "users/*", "The profile: name, full_name, about, friends.", as: Profile.self,
      keys: { UsersService.isName($0) }),
    .hidden(\.tokens), .hidden(\.names),
  ]

  /// Excepts all events: an undo takes no rights away, and gives none back.
  package static func obstacle(toUndoing event: Event) -> String? {
    "an undo takes no rights away, and gives none back"
  }

  package subscript(name: String) -> User? { users[name] }

  /// The number of the token that was issued last; 0 before the first one.
  package var lastToken: Int { tokens.nextID &- 1 }

  /// Returns the names claimed by a uid, sorted.
  package func names(of uid: UInt32) -> [String] { names[Int(uid)] ?? [] }

  /// Checks that token numbers ascend.
  package func fault(of event: Event, at context: EventContext) -> String? {
    guard case .tokenIssued(let id, _) = event, id <= lastToken else { return nil }
    return "number \(id) is not after \(lastToken)"
  }

  package mutating func apply(_ event: Event, at context: EventContext) {
    guard let name: String = context.key(), fault(of: event, at: context) == nil else { return }
    switch event {
    case .registered(let uid): register(name, by: uid)
    case .edited(let fullName, let about):
      guard var user = users[name] else { break }
      (user.fullName, user.about) = (fullName, about)
      users[name] = user
    case .friendAdded(let friend): users[name]?.friends.append(friend)
    case .friendRemoved(let friend): users[name]?.friends.removeAll { $0 == friend }
    case .tokenIssued(let id, let hash): tokens[id] = Token(user: name, hash: hash)
    case .tokensRevoked:
      for (id, token) in tokens where token.user == name { tokens[id] = nil }
    }
  }

  private mutating func register(_ name: String, by uid: UInt32) {
    if let before = users[name]?.uid { names[Int(before)]?.removeAll { $0 == name } }
    users[name] = User(name: name, uid: uid)
    names[Int(uid)] = (names(of: uid) + [name]).sorted()
  }

  /// 1: `{"users":{"kim":{…}},"tokens":{"1":{…}},"lastToken":1}`; 2: tables, and the names of each
  /// uid.
  package static let forms = [
    Upcaster.ofMembers { kept in
      func table(_ rows: JSONText?, _ others: [String: JSONText]) -> JSONText {
        JSONText(members: others.merging(["rows": rows ?? JSONText(members: [:])]) { $1 })
      }
      var names: [String: [String]] = [:]
      for (name, user) in kept["users"]?.members ?? [:] {
        if let uid = user.members?["uid"] { names[uid.text, default: []].append(name) }
      }
      kept = [
        "users": table(kept["users"], [:]),
        "tokens": table(kept["tokens"], ["lastID": kept["lastToken"] ?? JSONText(0)]),
        "names": table(
          JSONText(
            members: names.mapValues { names in
              JSONText(elements: names.sorted().map { JSONText(string: $0) })
            }), [:]),
      ]
    }
  ]
}
