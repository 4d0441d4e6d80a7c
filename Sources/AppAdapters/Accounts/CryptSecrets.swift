package import Apps
package import EventLoop
internal import Glibc
package import Signals

/// Creates random secrets with their crypt(3) hashes, and compares secrets with hashes.
///
/// The hash is salted SHA-256 with the fewest rounds that crypt(3) allows. Rounds slow down
/// guessing, but 128 random bits cannot be guessed. A hash still takes some milliseconds, so a
/// thread computes it. The thread starts with the first job.
package final class CryptSecrets: Secrets {
  private static let setting = "$5$rounds=1000$"

  /// Number of hexadecimal digits in a secret.
  private static let digits = 32

  private let thread: Background<Void>

  package init(on loop: Loop) {
    thread = Background(on: loop) {}
  }

  package func make() -> SafeSignal<NewSecret?> {
    thread.run({ _, _ in Self.newSecret() }, unavailable: { _ in .success(nil) })
  }

  /// Returns whether a text has the form of a secret.
  ///
  /// No other text is hashed: crypt(3) stops at a NUL, and takes longer for a longer text.
  package func isSecret(_ text: String) -> Bool {
    text.utf8.count == Self.digits
      && text.utf8.allSatisfy {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
      }
  }

  package func matches(_ secret: String, hash: String) -> SafeSignal<Bool> {
    guard isSecret(secret), hash.hasPrefix(Self.setting) else { return Signal(just: false) }
    return thread.run(
      { _, _ in Self.isMade(of: secret, hash) }, unavailable: { _ in .success(false) })
  }

  /// Ends the thread.
  ///
  /// Pending results are dropped.
  package func close() { thread.close() }

  // MARK: On the thread

  private static func newSecret() -> NewSecret? {
    let secret = random(words: digits / 16)
    return hash(secret, setting + random(words: 1) + "$").map { NewSecret(secret, hash: $0) }
  }

  private static func isMade(of secret: String, _ hash: String) -> Bool {
    guard let made = Self.hash(secret, hash) else { return false }
    // Compares in constant time: the time does not depend on the first difference.
    return made.utf8.count == hash.utf8.count
      && zip(made.utf8, hash.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Returns 16 random hexadecimal digits for each word, from the kernel by getrandom(2).
  private static func random(words: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<words).map { _ in
      let digits = String(generator.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    .joined()
  }

  private static func hash(_ secret: String, _ setting: String) -> String? {
    // crypt(3) returns a static buffer, so only this thread calls it.
    guard let text = crypt(secret, setting) else { return nil }
    let hash = String(cString: text)
    return hash.hasPrefix(Self.setting) ? hash : nil
  }
}
