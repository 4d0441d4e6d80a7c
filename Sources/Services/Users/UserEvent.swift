/// What can happen to a user; the stream is `users/NAME`.
package enum UserEvent: ServiceEvent, Codable, Equatable {
  /// The name belongs to a user of this machine from now on.
  case registered(uid: UInt32)
  case edited(fullName: String, about: String)
  case befriended(name: String)
  case unfriended(name: String)

  /// There is a token with a number, of which the hash is kept.
  case tokenIssued(id: Int, hash: String)

  /// None of the tokens is good any more.
  case tokensRevoked

  package static var kinds: Set<String> {
    ["registered", "edited", "befriended", "unfriended", "tokenIssued", "tokensRevoked"]
  }
}
