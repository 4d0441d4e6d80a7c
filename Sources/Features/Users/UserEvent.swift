internal import EventSourcing

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
