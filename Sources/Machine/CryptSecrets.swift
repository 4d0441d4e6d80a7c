internal import Glibc
internal import Services

/// Makes secrets of the kernel's randomness and keeps crypt(3) hashes of them.
///
/// The hash is salted SHA-256 with the fewest rounds that crypt(3) has: rounds make a guess dear, and
/// nobody guesses 128 random bits.
package struct CryptSecrets: Secrets {
  private static let setting = "$5$rounds=1000$"

  package init() {}

  package func make() -> (secret: String, hash: String)? {
    let secret = Self.random(words: 2)
    let setting = Self.setting + Self.random(words: 1) + "$"
    return Self.hash(secret, setting).map { (secret, $0) }
  }

  package func matches(_ secret: String, hash: String) -> Bool {
    guard hash.hasPrefix(Self.setting), let made = Self.hash(secret, hash) else { return false }
    // As long for those that differ early as for those that differ late.
    return made.utf8.count == hash.utf8.count
      && zip(made.utf8, hash.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Hexadecimal digits of the kernel's randomness, 16 a word: the generator is getrandom(2).
  private static func random(words: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<words).map { _ in
      let digits = String(generator.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    .joined()
  }

  private static func hash(_ secret: String, _ setting: String) -> String? {
    // Of this thread alone, as everything that services call.
    guard let text = crypt(secret, setting) else { return nil }
    let hash = String(cString: text)
    return hash.hasPrefix(Self.setting) ? hash : nil
  }
}
