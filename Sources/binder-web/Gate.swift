/// The rules for requests of browsers: who may have the page and a connection to the daemon.
///
/// It decides and does nothing else. A refused request never reaches the daemon.
struct Gate {
  /// The way in which browsers prove whose they are.
  enum Admission {
    /// A one-time token in the address becomes a cookie and a key.
    case token(Sessions)
    /// A reverse proxy names the user; these users may run one.
    case proxy(users: Set<UInt32>)
  }

  /// The result of a request.
  enum Decision: Equatable {
    /// The file, or the connection to the daemon; for a user if a proxy named one.
    case allowed(user: String?)
    /// A page that hands over a new session.
    case welcome(Session)
    case refused(Refusal)
  }

  /// The path of the WebSocket.
  static let socketPath = "/socket"

  /// The name of the WebSocket protocol.
  static let socketProtocol = "binder"

  /// The beginning of the name under which a browser sends its key as another protocol.
  static let keyPrefix = "key."

  /// The files that the refusals need.
  ///
  /// They hold nothing secret.
  private static let openFiles: Set = ["/refused.css", "/icon.svg"]

  /// The paths that a link on another site may lead to.
  private static let documents: Set = ["/", "/index.html"]

  /// The most bytes of a user's name.
  private static let maxUserBytes = 128

  /// The accepted values of `Host`, in lowercase.
  let hosts: Set<String>

  let admission: Admission

  init(hosts: some Sequence<String>, _ admission: Admission) {
    self.hosts = Set(hosts.map { $0.lowercased() })
    self.admission = admission
  }

  /// Decides about a request.
  ///
  /// - Parameter peer: The user of the process that connected; `nil` if the socket does not tell.
  func decide(_ request: WebRequest, from peer: UInt32?) -> Decision {
    if case .proxy(let users) = admission {
      guard let peer, users.contains(peer) else { return .refused(.foreignPeer) }
    }
    guard !request.hasUnusableHeader else { return .refused(.unusableHeader) }
    guard case .value(let host) = request.host, hosts.contains(host.lowercased()) else {
      return .refused(.foreignHost)
    }
    guard request.method != .other else { return .refused(.otherMethod) }
    if let refusal = checkSite(request, host: host) { return .refused(refusal) }
    switch admission {
    case .token(let sessions): return decide(request, by: sessions)
    case .proxy: return decideByUser(request)
    }
  }

  /// Checks that the request comes from the page itself.
  private func checkSite(_ request: WebRequest, host: String) -> Refusal? {
    switch request.origin {
    case .value(let origin):
      guard ["http://" + host, "https://" + host].contains(origin) else { return .foreignOrigin }
    case .absent: if request.isSocket { return .foreignOrigin }
    case .unusable: return .unusableHeader
    }
    if request.isSocket { return request.path == Self.socketPath ? nil : .noSuchSocket }
    if case .value(let site) = request.site, ["cross-site", "same-site"].contains(site),
      !Self.documents.contains(request.path)
    {
      return .foreignOrigin
    }
    return nil
  }

  private func decide(_ request: WebRequest, by sessions: Sessions) -> Decision {
    if request.method == .get, !request.isSocket, case .value(let token) = request.token {
      guard let session = sessions.redeem(token) else { return .refused(.usedToken) }
      return .welcome(session)
    }
    if !request.isSocket, Self.openFiles.contains(request.path) { return .allowed(user: nil) }
    guard request.cookie != .unusable else { return .refused(.unusableCookies) }
    let id = request.cookie.text.flatMap { Cookies($0)[sessions.cookieName] }
    guard let session = id.flatMap(sessions.session) else { return .refused(.noSession) }
    if request.isSocket {
      let names = request.protocols.text?.split(separator: ",").map { $0.drop { $0 == " " } } ?? []
      let key = names.first { $0.hasPrefix(Self.keyPrefix) }?.dropFirst(Self.keyPrefix.count)
      guard let key, isEqual(String(key), session.key) else { return .refused(.wrongKey) }
    }
    return .allowed(user: nil)
  }

  private func decideByUser(_ request: WebRequest) -> Decision {
    guard case .value(let user) = request.user else { return .refused(.noUser) }
    let isName = user.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    guard isName, 1...Self.maxUserBytes ~= user.utf8.count else { return .refused(.unusableHeader) }
    return .allowed(user: user)
  }
}

/// A request of a browser, as far as it decides about access.
struct WebRequest: Equatable {
  enum Method: Equatable {
    case get, head, other
  }

  /// A header of a request.
  enum Header: Equatable {
    case absent
    case value(String)
    /// It occurs several times, is too long, or is not UTF-8.
    ///
    /// Of `Sec-Fetch-Site` and the proxy's own header the library hands out only the first.
    case unusable

    var text: String? { if case .value(let text) = self { text } else { nil } }
  }

  var method = Method.get
  var path = "/"
  var host = Header.absent
  var origin = Header.absent

  /// `Sec-Fetch-Site`: which site caused the request, as the browser says.
  var site = Header.absent
  var cookie = Header.absent

  /// `Sec-WebSocket-Protocol`.
  var protocols = Header.absent

  /// The user that a proxy names.
  var user = Header.absent

  /// The argument `token` of the address.
  var token = Header.absent
  var isSocket = false

  init() {}

  /// Whether a header is unusable that every decision needs.
  ///
  /// Cookies are checked later: other programs on the same host set them, too.
  fileprivate var hasUnusableHeader: Bool {
    [host, origin, site, protocols, user, token].contains(.unusable)
  }
}

/// The cookies of a request by name; the first of a name counts.
struct Cookies {
  private let text: String

  init(_ text: String) { self.text = text }

  subscript(name: String) -> String? {
    for part in text.split(separator: ";") {
      let cookie = part.drop { $0 == " " }
      if cookie.hasPrefix(name + "=") { return String(cookie.dropFirst(name.count + 1)) }
    }
    return nil
  }
}

/// Compares two secrets in a time that does not depend on where they differ.
func isEqual(_ a: String, _ b: String) -> Bool {
  let (a, b) = (Array(a.utf8), Array(b.utf8))
  guard a.count == b.count else { return false }
  return zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
}
