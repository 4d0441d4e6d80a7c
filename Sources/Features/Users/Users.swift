package import EventSourcing
package import JSON

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
  package func fault(of event: UserEvent, at place: Place) -> String? {
    guard case .tokenIssued(let id, _) = event else { return nil }
    return Self.fault(ofNumber: id, after: lastToken)
  }

  package mutating func apply(_ event: UserEvent, at place: Place) {
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

  package static func sources(changedBy event: UserEvent, at place: Place) -> [String] {
    switch event {
    case .registered, .edited, .friendAdded, .friendRemoved: [place.stream]
    case .tokenIssued, .tokensRevoked: []
    }
  }

  private static func name(of stream: String) -> String {
    String(stream.dropFirst("users/".count))
  }
}
