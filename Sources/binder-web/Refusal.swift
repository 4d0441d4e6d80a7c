import EventLoop

/// The reason why a request is refused, as a page tells it.
enum Refusal: CaseIterable {
  case foreignHost
  case foreignOrigin
  case foreignPeer
  case unusableHeader
  case unusableCookies
  case otherMethod
  case noSuchSocket
  case usedToken
  case noSession
  case wrongKey
  case noUser
  case crowded

  /// The HTTP status.
  var status: UInt32 {
    switch self {
    case .foreignHost: 421
    case .unusableHeader, .unusableCookies: 400
    case .otherMethod: 405
    case .noSuchSocket: 404
    case .crowded: 503
    case .noUser, .noSession, .usedToken: 403
    case .foreignOrigin, .foreignPeer, .wrongKey: 403
    }
  }

  /// The title of the page, the reason, and what to do next.
  var text: (title: String, reason: String, hint: String) {
    switch self {
    case .foreignHost:
      (
        "Unknown host name", "binder-web does not answer for the host name in this address.",
        "Open the address that ‘bindctl web’ prints, or start it with --name and this host name."
      )
    case .foreignOrigin:
      (
        "Another site asked", "A page of another site has made this request.",
        "Only the page of binder-web itself may do so. Open its address directly."
      )
    case .foreignPeer:
      (
        "Not the proxy", "This program may not name a user.",
        "Connect through the reverse proxy; --proxy-user says which user runs it."
      )
    case .unusableHeader:
      (
        "Unusable request",
        "A header of the request is repeated or too long, or has forbidden characters.",
        "Check the reverse proxy, if there is one."
      )
    case .unusableCookies:
      (
        "Too many cookies", "The cookies of this host are too long, or have forbidden characters.",
        "Delete them in the browser. All programs at the same host name share them."
      )
    case .otherMethod:
      ("Method not allowed", "binder-web answers GET and HEAD only.", "Open the start page.")
    case .noSuchSocket:
      ("No such socket", "There is no WebSocket at this address.", "Open the start page.")
    case .usedToken:
      (
        "This address was used",
        "The token in the address is unknown, older than an hour, or was used by a browser.",
        "Run ‘bindctl web’ again: it prints another address."
      )
    case .noSession:
      (
        "Not admitted", "This browser was not admitted, or was admitted more than 30 days ago.",
        "Run ‘bindctl web’ and open the address that it prints."
      )
    case .wrongKey:
      (
        "Not admitted", "The page has not sent the key of its session.",
        "Run ‘bindctl web’ and open the address that it prints."
      )
    case .noUser:
      (
        "No user", "The reverse proxy has not named a user.",
        "Log in at the proxy; --user-header says which header it sets."
      )
    case .crowded:
      (
        "Too many browsers", "binder-web has no room for another browser now.",
        "Close one, or try again later."
      )
    }
  }

  var page: String {
    let (title, reason, hint) = text
    return document(title: title, "<p>\(reason.asHTML)</p><p>\(hint.asHTML)</p>")
  }
}

/// Returns the page that hands a browser the key of its session, and goes to the start.
///
/// The start is a new request, because a browser does not send the new cookie with a redirection
/// that another site has caused.
func welcomePage(_ session: Session) -> String {
  let address = "/#key=\(session.key)"
  return document(
    title: "Welcome", #"<p><a href="\#(address)">To the start</a></p>"#,
    head: #"<meta http-equiv="refresh" content="0;url=\#(address)">"#)
}

private func document(title: String, _ body: String, head: String = "") -> String {
  """
  <!doctype html><html lang="en"><head><meta charset="utf-8"><title>\(title.asHTML)</title>
  <meta name="viewport" content="width=device-width">\(head)
  <link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/refused.css"></head>
  <body><main><h1>\(title.asHTML)</h1>\(body)</main></body></html>
  """
}

extension String {
  /// The text with the characters escaped that mean something in HTML.
  fileprivate var asHTML: String {
    var text = ""
    for character in self {
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      default: text.append(character)
      }
    }
    return text
  }
}

/// Logs refused requests: the first of a kind at once, and then how many followed in ten seconds.
final class RefusalLines {
  private static let interval: UInt64 = 10_000

  private let log: Log
  private var again: [Refusal: Int] = [:]
  private var timer: EventLoop.Timer?

  init(_ log: Log, on loop: Loop) throws(SystemError) {
    self.log = log
    timer = try Timer(on: loop) { [unowned self] in tell() }
  }

  func count(_ refusal: Refusal) {
    if let count = again[refusal] {
      again[refusal] = count + 1
      return
    }
    log.write(.warning, "refused a request: \(refusal.text.reason)")
    if again.isEmpty { timer?.start(afterMilliseconds: Self.interval) }
    again[refusal] = 0
  }

  private func tell() {
    for (refusal, count) in again where count > 0 {
      log.write(.warning, "refused \(count) more: \(refusal.text.reason)")
    }
    again = again.filter { $0.value > 0 }.mapValues { _ in 0 }
    if !again.isEmpty { timer?.start(afterMilliseconds: Self.interval) }
  }
}
