import BinderClient
import Console
import Glibc
import JSON
import Wire

let openSyntax = Syntax(
  "open", "Shows a view, live: what it has, and what one can do there.",
  operands: [Operand("VIEW"), Operand("ARG", .any)],
  options: [],
  details: """
    ARG is name=text or name:=json; 'bindctl views' says which there are. In a terminal an intent has
    the key that stands before its name, arrows choose a row, enter asks what fits the row, escape
    goes back, q ends. With -j, and where stdout or stdin is no terminal, both ways are lines of
    JSON: out come the view, then {"next":…}, {"opened":…}, {"closed":…} and {"answer":…}; in go
    {"intent":NAME,"args":{…},"view":HANDLE} and {"close":HANDLE}, where VIEW is the first view when it
    is left out. After the end of stdin it waits for the answers and ends.
    """,
  examples: [
    "bindctl open system", "bindctl open cell name=lamp",
    #"echo '{"intent":"toggle"}' | bindctl open cell name=lamp"#,
  ])

var openCommand: Command {
  Command(openSyntax) { context in
    var params: JSONObject = ["binder": .string(context.operand(0))]
    var arguments = JSONObject()
    for word in context.invocation.operands.dropFirst() {
      try arguments.add(word: word, command: "open")
    }
    if !arguments.members.isEmpty { params["args"] = .object(arguments) }
    let link = try ViewLink(context.client)
    let request = link.send("open", params)
    if context.output.form == .human, let terminal = Terminal() {
      return try ViewTerminal(link, request, terminal, context.output.style).run()
    }
    return try ViewPipe(link, request, context.output).run()
  }
}

/// Views in a terminal: keys in, screens out.
private final class ViewTerminal {
  private let link: ViewLink
  private let request: Int
  private let terminal: Terminal
  private let style: Style
  private var session = ViewSession()
  private var closes: [Int: Handle] = [:]

  init(_ link: ViewLink, _ request: Int, _ terminal: Terminal, _ style: Style) {
    (self.link, self.request, self.terminal, self.style) = (link, request, terminal, style)
  }

  func run() throws -> ExitCode {
    while true {
      let size = terminal.size
      terminal.show(
        ViewScreen(style, width: size.width, height: size.height).lines(session))
      switch terminal.wait(for: link.descriptor) {
      case .keys(let keys):
        for key in keys {
          if key == .control("l") { terminal.redraw() }
          guard let action = session.press(key) else { continue }
          guard take(action) else { return .done }
        }
      case .socket:
        guard let news = link.receive() else { throw ClientError.lost(reason: link.closingReason) }
        for one in news { try take(one) }
        if session.stack.isEmpty, isOpened { return .done }
      case .resized: terminal.redraw()
      case .gone: return .done
      }
    }
  }

  private var isOpened = false

  private func take(_ action: ViewSession.Action) -> Bool {
    switch action {
    case .quit: return false
    case .ask(let view, let intent, let arguments):
      link.send(
        "intent",
        ["view": view.text.value, "name": .string(intent), "args": .object(arguments)])
    case .close(let view): closes[link.send("close", ["view": view.text.value])] = view
    }
    return true
  }

  private func take(_ news: ViewLink.News) throws {
    switch news {
    case .notification(let method, let params): session.take(method, params)
    case .answer(request, .success(let answer)):
      isOpened = true
      session.open(answer)
    case .answer(request, .failure(let error)): throw ClientError.refused(error)
    case .answer(let id, .success):
      session.message = ""
      if let view = closes.removeValue(forKey: id) {
        session.take("closed", ["view": view.text.value])
      }
    case .answer(_, .failure(let error)): session.message = error.message
    }
  }
}

/// Views as lines of JSON, both ways.
private final class ViewPipe {
  private let link: ViewLink
  private let request: Int
  private let output: Output
  private var input = LineSplitter(limit: 1 << 20)
  private var first: JSONValue = .null

  /// The intents that wait for their answers, by number.
  private var waiting: [Int: JSONObject] = [:]
  private var isInputOpen = true
  private var isOpened = false

  /// The request that is answered when everything before it is; `nil` before the end of the input.
  private var last: Int?

  init(_ link: ViewLink, _ request: Int, _ output: Output) {
    (self.link, self.request, self.output) = (link, request, output)
  }

  func run() throws -> ExitCode {
    while true {
      var ends = [
        pollfd(fd: link.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(
          fd: isInputOpen && isOpened ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: output.isPipe ? STDOUT_FILENO : -1, events: 0, revents: 0),
      ]
      guard poll(&ends, nfds_t(ends.count), -1) > 0 else { continue }
      if ends[2].revents & Int16(POLLERR) != 0 { return .readerGone }
      if ends[1].revents != 0 { try readInput() }
      guard ends[0].revents != 0 else { continue }
      guard let news = link.receive() else { throw ClientError.lost(reason: link.closingReason) }
      for one in news where try take(one) { return .done }
    }
  }

  /// - Returns: Whether that was all.
  private func take(_ news: ViewLink.News) throws -> Bool {
    switch news {
    case .notification(let method, let params):
      output.line(JSONValue.object([method: .object(params)]).text.text)
      return method == "closed" && params["view"] == first
        || method == "fail" && params["view"] == first
    case .answer(request, .success(let answer)):
      isOpened = true
      first = answer["view"] ?? .null
      output.line(JSONValue.object(answer).text.text)
    case .answer(request, .failure(let error)): throw ClientError.refused(error)
    case .answer(let id, let result):
      guard var answer = waiting.removeValue(forKey: id) else { return id == last }
      switch result {
      case .success(let object): for member in object.members { answer[member.name] = member.value }
      case .failure(let error):
        var text = ByteBuffer()
        error.write(to: &text)
        answer["error"] = try JSONValue(parsing: text.string)
      }
      output.line(JSONValue.object(["answer": .object(answer)]).text.text)
    }
    return false
  }

  private func readInput() throws {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(STDIN_FILENO, &chunk, chunk.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    var lines: [JSONText?] = []
    let take: LineSplitter.Taker = { line in
      guard let line else {
        lines.append(nil)
        return .done
      }
      if !line.isEmpty { lines.append(try? JSONText(parsing: line)) }
      return .done
    }
    if count > 0 {
      chunk.withUnsafeBufferPointer { input.feed($0.extracting(..<count).span, take) }
    } else {
      isInputOpen = false
      input.finish(take)
    }
    for line in lines { try ask(line) }
    // What the intents have changed comes before the answer to it.
    if !isInputOpen { last = link.send("sync", [:]) }
  }

  private func ask(_ line: JSONText?) throws {
    guard case .object(let asked)? = line?.value else {
      throw UsageError("a line of stdin is no JSON object", command: "open")
    }
    if let view = asked["close"] {
      waiting[link.send("close", ["view": view])] = ["close": view]
      return
    }
    guard let intent = asked["intent"] else {
      throw UsageError(#"a line of stdin has neither "intent" nor "close""#, command: "open")
    }
    var params: JSONObject = ["view": asked["view"] ?? first, "name": intent]
    params["args"] = asked["args"]
    params["_meta"] = asked["_meta"]
    waiting[link.send("intent", params)] = ["intent": intent]
  }
}
