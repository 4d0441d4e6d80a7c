import Glibc

/// The access of one browser: the cookie proves that it was admitted, and the key that the page
/// itself asks.
///
/// A cookie is sent to every port of its host, so another program of this machine may see it. The
/// key is only in the page's own storage.
struct Session: Equatable {
  /// The value of the cookie.
  let id: String

  let key: String

  /// When it ends, in seconds since 1970.
  let end: Int64
}

/// The one-time tokens that were printed, and the sessions that they became.
///
/// Sessions are in a file, so that browsers stay admitted if the program is killed and starts again.
final class Sessions {
  /// The life of a session in seconds.
  static let lifetime: Int64 = 30 * 24 * 3600

  /// The life of a token in seconds.
  static let tokenLifetime: Int64 = 3600

  /// The most sessions and tokens; the oldest make room.
  private static let maxSessions = 64
  private static let maxTokens = 16

  /// The name of the cookie.
  ///
  /// It has the port, because a browser shares cookies between the ports of a host.
  let cookieName: String

  private let file: String
  private let now: () -> Int64
  private var tokens: [(text: String, end: Int64)] = []
  private var sessions: [Session] = []

  /// Reads the file; a missing or damaged one has no sessions.
  ///
  /// - Parameters:
  ///   - file: Only this user may read it, so its directory must be safe.
  ///   - now: Returns the seconds since 1970.
  init(file: String, port: UInt16, now: @escaping () -> Int64) {
    (self.file, self.now) = (file, now)
    cookieName = "binder_\(port)"
    for line in read(file).split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 3, let end = Int64(words[2]), end > now() else { continue }
      sessions.append(Session(id: words[0], key: words[1], end: end))
    }
  }

  /// Returns a new token, which can be redeemed once.
  func makeToken() -> String {
    tokens.removeAll { $0.end <= now() }
    if tokens.count == Self.maxTokens { tokens.removeFirst() }
    let token = secret()
    tokens.append((token, now() + Self.tokenLifetime))
    return token
  }

  /// Returns a new session for a token; `nil` if the token is unknown, old or was used.
  func redeem(_ token: String) -> Session? {
    guard let i = tokens.firstIndex(where: { isEqual($0.text, token) }) else { return nil }
    let end = tokens.remove(at: i).end
    guard end > now() else { return nil }
    let session = Session(id: secret(), key: secret(), end: now() + Self.lifetime)
    sessions.removeAll { $0.end <= now() }
    if sessions.count == Self.maxSessions { sessions.removeFirst() }
    sessions.append(session)
    let text = sessions.map { "\($0.id) \($0.key) \($0.end)\n" }.joined()
    // Without the file, the session ends with this program.
    _ = replace(file, with: text)
    return session
  }

  func session(_ id: String) -> Session? {
    sessions.first { isEqual($0.id, id) && $0.end > now() }
  }
}

/// Returns 128 random bits as hexadecimal digits.
private func secret() -> String {
  var generator = SystemRandomNumberGenerator()
  return (0..<4).map { _ in
    let word = String(generator.next() as UInt32, radix: 16)
    return String(repeating: "0", count: 8 - word.count) + word
  }.joined()
}

private func read(_ path: String) -> String {
  let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
  guard file >= 0 else { return "" }
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: 64 << 10)
  let count = Glibc.read(file, &bytes, bytes.count)
  return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
}

/// Replaces a file, for this user only, and returns whether it succeeded.
private func replace(_ path: String, with text: String) -> Bool {
  let new = path + ".new"
  unlink(new)
  let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard file >= 0 else { return false }
  let isWritten = write(file, text, text.utf8.count) == text.utf8.count
  close(file)
  guard isWritten, rename(new, path) == 0 else {
    unlink(new)
    return false
  }
  return true
}
