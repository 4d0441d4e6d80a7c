package import Signals

/// What makes secrets and knows them again.
///
/// Both may take milliseconds of computing, so an implementation does it away from the loop and
/// emits the result once.
package protocol Secrets {
  /// Makes a secret of 128 bits at least; `nil` when there is none to be had.
  func make() -> SafeSignal<NewSecret?>

  /// Whether a text has the form of a secret; nothing else is compared with a hash.
  func isSecret(_ text: String) -> Bool

  /// Whether a hash was made of a secret.
  func matches(_ secret: String, hash: String) -> SafeSignal<Bool>
}

/// A secret that was made.
package struct NewSecret: Equatable, Sendable {
  package let secret: String

  /// What may be kept of it.
  package let hash: String

  package init(_ secret: String, hash: String) {
    (self.secret, self.hash) = (secret, hash)
  }
}
