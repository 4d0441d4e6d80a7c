internal import EventSourcing

/// The events of a user; the stream is `users/NAME`.
package enum UserEvent: ServiceEvent, Codable, Equatable {
  /// The name was claimed by a uid.
  case registered(uid: UInt32)
  case edited(fullName: String, about: String)
  case befriended(name: String)
  case unfriended(name: String)

  /// A token with a number was issued; only its hash is stored.
  case tokenIssued(id: Int, hash: String)

  /// All tokens of the user were revoked.
  case tokensRevoked

  package static var kinds: Set<String> {
    ["registered", "edited", "befriended", "unfriended", "tokenIssued", "tokensRevoked"]
  }
}
