@testable import binder_web
import TestSupport
import Testing

/// The decisions about requests of browsers.
struct GateTests {
  private static let host = "127.0.0.1:7420"
  private let directory: TemporaryDirectory
  private let sessions: Sessions
  private let gate: Gate

  init() throws {
    directory = try TemporaryDirectory()
    sessions = Sessions(file: directory.path + "/sessions", port: 7420) { 1000 }
    gate = Gate(hosts: [Self.host, "Box.example:443"], .token(sessions))
  }

  private func request(_ change: (inout WebRequest) -> Void = { _ in }) -> WebRequest {
    var request = WebRequest()
    request.host = .value(Self.host)
    change(&request)
    return request
  }

  private func admitted() throws -> Session {
    let token = sessions.makeToken()
    guard case .welcome(let session) = gate.decide(request { $0.token = .value(token) }, from: nil)
    else {
      throw Failure()
    }
    return session
  }

  private struct Failure: Error {}

  private func socket(
    _ session: Session, _ change: (inout WebRequest) -> Void = { _ in }
  ) -> WebRequest {
    request {
      $0.path = "/socket"
      $0.isSocket = true
      $0.origin = .value("http://" + Self.host)
      $0.cookie = .value("a=b; binder_7420=\(session.id)")
      $0.protocols = .value("binder, key.\(session.key)")
      change(&$0)
    }
  }

  @Test
  func `a token becomes a session, once`() throws {
    let token = sessions.makeToken()
    let first = request { $0.token = .value(token) }
    guard case .welcome(let session) = gate.decide(first, from: nil) else {
      Issue.record("no welcome")
      return
    }
    #expect(gate.decide(first, from: nil) == .refused(.usedToken))
    let page = request { $0.cookie = .value("binder_7420=\(session.id)") }
    #expect(gate.decide(page, from: nil) == .allowed(user: nil))
    #expect(gate.decide(socket(session), from: nil) == .allowed(user: nil))
    #expect(session.id != session.key && session.id.utf8.count == 32)
  }

  @Test
  func `a request without a session gets only the files of the refusals`() throws {
    #expect(gate.decide(request(), from: nil) == .refused(.noSession))
    for path in ["/refused.css", "/icon.svg"] {
      #expect(gate.decide(request { $0.path = path }, from: nil) == .allowed(user: nil))
    }
    for cookie in ["binder_7420=", "binder_7420=\(String(repeating: "0", count: 32))", "x"] {
      let guess = request { $0.cookie = .value(cookie) }
      #expect(gate.decide(guess, from: nil) == .refused(.noSession), "\(cookie)")
    }
    let other = try admitted()
    let port = request { $0.cookie = .value("binder_7421=\(other.id)") }
    #expect(gate.decide(port, from: nil) == .refused(.noSession))
  }

  @Test
  func `HEAD does not use a token`() {
    let token = sessions.makeToken()
    let head = request {
      $0.method = .head
      $0.token = .value(token)
    }
    #expect(gate.decide(head, from: nil) == .refused(.noSession))
    guard case .welcome = gate.decide(request { $0.token = .value(token) }, from: nil) else {
      Issue.record("the token was used")
      return
    }
  }

  @Test
  func `the cookie alone opens no socket`() throws {
    let session = try admitted()
    for protocols in [
      WebRequest.Header.absent, .value("binder"), .value("binder, key."),
      .value("binder, key.\(session.id)"), .value(session.key),
    ] {
      let stolen = socket(session) { $0.protocols = protocols }
      #expect(gate.decide(stolen, from: nil) == .refused(.wrongKey), "\(protocols)")
    }
    let keyOnly = socket(session) { $0.cookie = .absent }
    #expect(gate.decide(keyOnly, from: nil) == .refused(.noSession))
  }

  @Test(arguments: [
    "evil.example", "127.0.0.1", "127.0.0.1:80", "localhost:7420", "127.0.0.1:7420.evil.example",
    "", "box.example",
  ])
  func `another host name is refused before anything else`(host: String) throws {
    let session = try admitted()
    let rebound = socket(session) {
      $0.host = .value(host)
      $0.origin = .value("http://" + host)
    }
    #expect(gate.decide(rebound, from: nil) == .refused(.foreignHost))
    let token = sessions.makeToken()
    let page = request {
      $0.host = .value(host)
      $0.token = .value(token)
    }
    #expect(gate.decide(page, from: nil) == .refused(.foreignHost))
    #expect(gate.decide(request { $0.host = .absent }, from: nil) == .refused(.foreignHost))
  }

  @Test
  func `a host name that was named is accepted in any case`() throws {
    let session = try admitted()
    let tunnel = socket(session) {
      $0.host = .value("BOX.example:443")
      $0.origin = .value("https://BOX.example:443")
    }
    #expect(gate.decide(tunnel, from: nil) == .allowed(user: nil))
  }

  @Test(arguments: [
    "http://evil.example", "http://127.0.0.1:7421", "http://localhost:7420", "null", "",
    "http://127.0.0.1:7420.evil.example", "ftp://127.0.0.1:7420",
  ])
  func `a page of another origin reaches nothing`(origin: String) throws {
    let session = try admitted()
    for method in [WebRequest.Method.get, .head] {
      let foreign = request {
        $0.method = method
        $0.origin = .value(origin)
        $0.cookie = .value("binder_7420=\(session.id)")
      }
      #expect(gate.decide(foreign, from: nil) == .refused(.foreignOrigin))
    }
    let open = socket(session) { $0.origin = .value(origin) }
    #expect(gate.decide(open, from: nil) == .refused(.foreignOrigin))
  }

  @Test
  func `a socket needs an origin, and a file of the page the same site`() throws {
    let session = try admitted()
    #expect(
      gate.decide(socket(session) { $0.origin = .absent }, from: nil) == .refused(.foreignOrigin))
    for (site, path, isAllowed) in [
      ("cross-site", "/", true), ("same-site", "/index.html", true), ("none", "/app.js", true),
      ("same-origin", "/app.js", true), ("cross-site", "/app.js", false),
      ("same-site", "/app.js", false), ("cross-site", "/refused.css", false),
    ] {
      let file = request {
        $0.site = .value(site)
        $0.path = path
        $0.cookie = .value("binder_7420=\(session.id)")
      }
      let expected: Gate.Decision = isAllowed ? .allowed(user: nil) : .refused(.foreignOrigin)
      #expect(gate.decide(file, from: nil) == expected, "\(site) \(path)")
    }
  }

  @Test
  func `other methods, other sockets and unusable headers are refused`() throws {
    let session = try admitted()
    let post = request {
      $0.method = .other
      $0.cookie = .value("binder_7420=\(session.id)")
    }
    #expect(gate.decide(post, from: nil) == .refused(.otherMethod))
    for path in ["/", "/socket/", "/socket2"] {
      let other = socket(session) { $0.path = path }
      #expect(gate.decide(other, from: nil) == .refused(.noSuchSocket))
    }
    for header in [\WebRequest.host, \.origin, \.site, \.protocols, \.user, \.token] {
      let twice = socket(session) { $0[keyPath: header] = .unusable }
      #expect(gate.decide(twice, from: nil) == .refused(.unusableHeader))
    }
  }

  @Test
  func `unusable cookies are refused, but not the style of the page that says so`() throws {
    let session = try admitted()
    let page = request { $0.cookie = .unusable }
    #expect(gate.decide(page, from: nil) == .refused(.unusableCookies))
    #expect(
      gate.decide(socket(session) { $0.cookie = .unusable }, from: nil)
        == .refused(.unusableCookies))
    let style = request {
      $0.path = "/refused.css"
      $0.cookie = .unusable
    }
    #expect(gate.decide(style, from: nil) == .allowed(user: nil))
  }

  @Test
  func `a proxy names the user, and only a trusted process is one`() {
    let gate = Gate(hosts: ["board.example"], .proxy(users: [33]))
    func ask(_ peer: UInt32?, _ user: WebRequest.Header) -> Gate.Decision {
      let request = request {
        $0.host = .value("board.example")
        $0.user = user
      }
      return gate.decide(request, from: peer)
    }
    #expect(ask(33, .value("kim@example.org")) == .allowed(user: "kim@example.org"))
    for peer in [nil, 0, 1000] as [UInt32?] {
      #expect(ask(peer, .value("kim")) == .refused(.foreignPeer))
    }
    #expect(ask(33, .absent) == .refused(.noUser))
    for user in ["", "a b", "a\u{1}", String(repeating: "x", count: 129)] {
      #expect(ask(33, .value(user)) == .refused(.unusableHeader), "\(user)")
    }
    #expect(ask(33, .unusable) == .refused(.unusableHeader))
  }

  @Test(arguments: Refusal.allCases)
  func `each refusal has a page with its reason`(refusal: Refusal) {
    #expect(refusal.page.contains(refusal.text.title))
    #expect(refusal.page.hasPrefix("<!doctype html>"))
    #expect(!refusal.text.reason.isEmpty && !refusal.text.hint.isEmpty)
    #expect((400..<600).contains(refusal.status))
  }
}
