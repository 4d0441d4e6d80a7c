/// What makes secrets and knows them again.
package protocol Secrets {
  /// A secret of 128 bits at least, and what may be kept of it; `nil` when there is none to be had.
  func make() -> (secret: String, hash: String)?

  /// Whether a hash was made of a secret.
  func matches(_ secret: String, hash: String) -> Bool
}
