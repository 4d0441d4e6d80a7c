import BinderClient
import Console
import JSON
import Model
import Wire

/// Interactive views in a terminal.
final class ViewTerminal {
  private let link: ViewLink
  private let terminal: Terminal
  private let style: Style
  private var session = ViewSession()
  private var isOpen = false

  /// The pending `close` requests, by request ID.
  private var closes: [Int: Handle] = [:]

  /// The file whose saved versions are shown; `nil` for none.
  private let followed: FollowedFile?

  init(_ link: ViewLink, _ terminal: Terminal, _ style: Style, following file: FollowedFile?) {
    (self.link, self.terminal, self.style) = (link, terminal, style)
    followed = file
  }

  func run() throws -> ExitCode {
    while true {
      show()
      let time = FollowedFile.pollTime(link.pollTime, followed)
      switch terminal.wait(for: link.descriptor, milliseconds: time) {
      case .keys(let keys):
        for key in keys {
          if key == .control("l") { terminal.redraw() }
          if key == .control("z") { terminal.suspend() }
          guard let action = session.press(key) else { continue }
          guard perform(action) else { return .done }
        }
      case .socket, .timeOver:
        switch followed?.change {
        case .text(let text)?: link.replace(by: text)
        case .fault(let fault)?: session.message = fault
        case nil: break
        }
        for one in try link.receive() {
          try show(one)
          while let action = session.next() { _ = perform(action) }
        }
      case .resized: terminal.redraw()
      case .gone: return .done
      }
      // Wait until the user has read the notice, so that typed keys go nowhere else.
      if isOpen, session.stack.isEmpty, session.notice == nil { return end() }
    }
  }

  private func end() -> ExitCode {
    terminal.close()
    if let ending = session.ending { note(ending.harmless()) }
    return .done
  }

  private func show() {
    let size = terminal.size
    let screen = ViewScreen(style, width: size.width, height: size.height)
    screen.limitScroll(&session)
    terminal.show(screen.lines(session))
  }

  /// - Returns: `false` to quit.
  private func perform(_ action: ViewSession.Action) -> Bool {
    switch action {
    case .quit: return false
    case .ask(let view, let intent, let arguments):
      let request = link.send(
        "intent",
        ["view": view.text.value, "name": .string(intent), "args": .object(arguments)])
      session.send(action, as: request)
    case .sync: session.send(action, as: link.send("sync", [:]))
    case .close(let view): closes[link.send("close", ["view": view.text.value])] = view
    }
    return true
  }

  /// - Throws: ``ClientError/notUnderstood(_:)`` for a change that does not fit the shown view.
  private func show(_ news: ViewLink.News) throws {
    switch news {
    case .open(let answer):
      isOpen = true
      if let action = session.open(answer) { _ = perform(action) }
    case .notification(let method, let params): try apply(method, params)
    case .answer(let id, .success(let result)):
      session.answer(
        id, fault: nil, opened: result["opened"].flatMap(Handle.init), value: result["value"])
      if let view = closes.removeValue(forKey: id) {
        try apply("closed", ["view": view.text.value])
      }
    case .answer(let id, .failure(let error)): session.answer(id, fault: error.description)
    case .changed:
      closes = [:]
      session.lose("")
    case .refused(let error): session.message = error.description
    case .lost(let reason):
      closes = [:]
      session.lose(
        "the connection is lost" + (reason.map { " (\($0))" } ?? "") + "; waiting for the daemon")
    }
  }

  private func apply(_ method: String, _ params: JSONObject) throws(ClientError) {
    do throws(CollectionChange.Fault) {
      try session.receive(method, params)
    } catch {
      throw .notUnderstood(error.description)
    }
  }
}
