import CWebSockets
import EventLoop
import JSON

/// One connection of a browser: its requests, then maybe its connection to the daemon.
///
/// libwebsockets retains it until the connection is gone.
final class Browser {
  private unowned let server: WebServer

  /// The user of the process that connected; `nil` if the socket does not tell.
  private let peer: UInt32?

  /// The user that a proxy has named.
  private var user: String?
  private var relay: Relay?

  init(of server: WebServer, peer: UInt32?) {
    (self.server, self.peer) = (server, peer)
  }

  /// Decides about a request and answers it, unless it is allowed.
  func ask(_ browser: OpaquePointer, _ request: WebRequest) -> cweb_verdict {
    switch server.isCrowded ? .refused(.crowded) : server.gate.decide(request, from: peer) {
    case .allowed(let user):
      self.user = user
      return cweb_serve
    case .welcome(let session):
      answer(browser, 200, welcomePage(session), cookie: server.gate.cookie(of: session))
    case .refused(let refusal):
      server.report(refusal)
      answer(browser, refusal.status, refusal.page)
    }
    return cweb_answered
  }

  private func answer(
    _ browser: OpaquePointer, _ status: UInt32, _ page: String, cookie: String? = nil
  ) {
    var text = page
    text.withUTF8 { bytes in
      func send(_ cookie: UnsafePointer<CChar>?) {
        var page = cweb_answer_page(
          status: status, cookie: cookie, body: bytes.baseAddress, count: bytes.count)
        cweb_answer(browser, &page)
      }
      if let cookie { cookie.withCString(send) } else { send(nil) }
    }
  }

  /// Connects the browser to the daemon.
  ///
  /// If there is none, the WebSocket is closed with the reason, because a page cannot read why a
  /// handshake failed.
  func open(_ browser: OpaquePointer) {
    do throws(SystemError) {
      relay = Relay(browser, try server.connect(), for: user, server.scratch)
    } catch {
      closeSocket(browser, .away, "binderd does not answer (\(error))")
    }
  }

  func text(_ bytes: UnsafeBufferPointer<UInt8>, isEnd: Bool) {
    relay?.text(bytes, isEnd: isEnd)
  }

  func room() { relay?.room() }

  func close() {
    relay?.close()
    relay = nil
  }

  func gone() {
    close()
    server.count -= 1
  }
}

extension Gate {
  fileprivate func cookie(of session: Session) -> String? {
    guard case .token(let sessions) = admission else { return nil }
    return "\(sessions.cookieName)=\(session.id); Path=/; HttpOnly; SameSite=Strict;"
      + " Max-Age=\(Sessions.lifetime)"
  }
}
