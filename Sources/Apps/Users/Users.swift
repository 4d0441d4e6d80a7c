package import EventSourcing
package import JSON

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

/// The events of a user; the stream is `users/NAME`.
package enum UserEvent: ServiceEvent, Codable, Equatable {
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
  private enum CodingKeys: String, CodingKey, CaseIterable {
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

  package static var kinds: Set<String> { Set(CodingKeys.allCases.map(\.rawValue)) }
}

/// The state of all users and their tokens.
package struct Users: ServiceState, Codable {
  private var users: [String: User] = [:]
  private(set) var tokens: [Int: Token] = [:]
  private(set) var lastToken = 0

  /// The names claimed by each uid, sorted.
  private var namesByUID: [UInt32: [String]] = [:]

  private enum CodingKeys: String, CodingKey {
    case users, tokens, lastToken
  }

  package init() {}

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    users = try container.decode([String: User].self, forKey: .users)
    tokens = try container.decode([Int: Token].self, forKey: .tokens)
    lastToken = try container.decode(Int.self, forKey: .lastToken)
    for user in users.values { namesByUID[user.uid, default: []].append(user.name) }
    namesByUID = namesByUID.mapValues { $0.sorted() }
  }

  package subscript(name: String) -> User? { users[name] }

  /// The names of all users, sorted.
  package var names: [String] { users.keys.sorted() }

  /// Returns the names claimed by a uid, sorted.
  package func names(of uid: UInt32) -> [String] {
    namesByUID[uid] ?? []
  }

  /// Checks that token numbers ascend.
  package func fault(of event: UserEvent, at place: EventContext) -> String? {
    guard case .tokenIssued(let id, _) = event else { return nil }
    return Self.fault(ofNumber: id, after: lastToken)
  }

  package mutating func apply(_ event: UserEvent, at place: EventContext) {
    guard fault(of: event, at: place) == nil else { return }
    let name = Self.name(of: place.stream)
    switch event {
    case .registered(let uid): register(name, by: uid)
    case .edited(let fullName, let about):
      users[name]?.fullName = fullName
      users[name]?.about = about
    case .friendAdded(let friend): users[name]?.friends.append(friend)
    case .friendRemoved(let friend): users[name]?.friends.removeAll { $0 == friend }
    case .tokenIssued(let id, let hash):
      tokens[id] = Token(user: name, hash: hash)
      lastToken = id
    case .tokensRevoked: tokens = tokens.filter { $0.value.user != name }
    }
  }

  private mutating func register(_ name: String, by uid: UInt32) {
    if let before = users[name]?.uid { namesByUID[before]?.removeAll { $0 == name } }
    users[name] = User(name: name, uid: uid)
    let names = namesByUID[uid] ?? []
    namesByUID[uid, default: []].insert(name, at: names.firstIndex { $0 > name } ?? names.count)
  }

  package func value(of source: String) -> JSONText? {
    users[Self.name(of: source)].map { user in
      JSONValue.object([
        "name": .string(user.name), "full_name": .string(user.fullName),
        "about": .string(user.about), "friends": .array(user.friends.map { .string($0) }),
      ]).text
    }
  }

  package func has(_ source: String) -> Bool { users[Self.name(of: source)] != nil }

  package var sources: some Sequence<String> { users.keys.lazy.map { "users/" + $0 } }

  package static func sources(changedBy event: UserEvent, at place: EventContext) -> [String] {
    switch event {
    case .registered, .edited, .friendAdded, .friendRemoved: [place.stream]
    case .tokenIssued, .tokensRevoked: []
    }
  }

  private static func name(of stream: String) -> String {
    String(stream.dropFirst("users/".count))
  }
}
