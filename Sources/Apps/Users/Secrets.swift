package import Signals

/// A generator and verifier of secrets.
///
/// Both operations may take milliseconds of computation. Implementations run off the loop and
/// emit the result once.
package protocol Secrets {
  /// Makes a secret of at least 128 bits; emits `nil` if none is available.
  func make() -> SafeSignal<NewSecret?>

  /// Returns whether a text has the form of a secret; other texts are not compared.
  func isSecret(_ text: String) -> Bool

  /// Emits whether a hash was made from a secret.
  func matches(_ secret: String, hash: String) -> SafeSignal<Bool>
}

/// A new secret.
package struct NewSecret: Equatable, Sendable {
  package let secret: String

  /// The hash, which is safe to store.
  package let hash: String

  package init(_ secret: String, hash: String) {
    (self.secret, self.hash) = (secret, hash)
  }
}
