package import Connections
internal import EventSourcing
package import JSON
package import Wire

/// Offers `open`, `close` and `intent`, the methods for views.
package func bindViews(_ catalog: Catalog) {
  restoreViews(catalog)
  catalog.query(
    "open", "Opens a view and sends its properties.", Open.self,
    .members(
      .init("view", .handle), .init("binder", .string), .init("seq", .natural),
      .init("props", .map(.property)), .init("intents", .map(.intent)), .optional("more", .bool)
    ),
    site: .depends(on: "binder") { name, context in
      name?.string.flatMap(context.rights.view(named:))?.isOfMachine != true
    }, errors: ["bad_view"]
  ) {
    context, call, open throws(WireError) in
    try context.open(open, call)
  }
  catalog.query(
    "check_view", "Checks the text of a view, and tells all its faults.", CheckView.self,
    .members(.init("faults", .array(ViewFault.shape)), .init("warnings", .array(ViewFault.shape)))
  ) { context, call, check in
    let others = try BroughtView(check.text, with: check.with).others()
    var (_, faults, warnings) = context.check(view: check.text, with: others)
    if let name = check.name, let other = context.rights.catalog.views[name],
      context.rights.view(named: name) != nil
    {
      let message =
        "service '\(other.service)' has a view '\(name)', so a reload refuses a file of this name"
      warnings.insert(ViewFault(.init(line: 1, column: 1), message), at: 0)
    }
    call.answer { buffer in
      buffer.object {
        $0.member("faults", JSONValue.array(faults.map(\.shown)).text)
        $0.member("warnings", JSONValue.array(warnings.map(\.shown)).text)
      }
    }
  }
  catalog.query(
    "close", "Closes a view, its children first.", Close.self,
    .members(
      .init("view", .handle), .init("closed", .array(.handle))
    ), site: .ofView
  ) {
    _, call, close in
    let closed = call.connection.views[close.view].map(call.connection.views.close) ?? []
    call.answer { buffer in
      buffer.object {
        $0.member("view", close.view)
        $0.member("closed", JSONText(elements: closed.map(\.text)))
      }
    }
  }
  catalog.offer(
    "intent", "Performs an intent of a view.", .command, ViewRequest.self,
    .object([.optional("value", .any)] + ResultShape.recorded + [.optional("opened", .handle)]),
    nil, [], site: .ofView
  ) { context, call, request, line in
    do throws(WireError) {
      return try context.ask(call, request, line)
    } catch {
      // The refusal may depend on events that are not durable yet.
      call.refuse(error, after: context.host.last)
      return nil
    }
  }
}

/// Opens the views again that clients know from an earlier daemon.
private func restoreViews(_ catalog: Catalog) {
  catalog.restore(.view) { context, items, _ throws(CannotRestore) in
    var views: [(Handle, HandoverView)] = []
    for item in items {
      guard let handle = Handle(encoded: item.key),
        let view: HandoverView = try? context.catalog.decoder.decode(from: item.text)
      else { throw CannotRestore(unreadable: item) }
      views.append((handle, view))
    }
    context.connection.views.restore(views) { view, handle throws(WireError) in
      _ = try context.openView(
        view.binder, handle, view.arguments ?? .emptyObject, view.text.flatMap(BroughtView.init))
    }
  }
}

private struct Open: DocumentedParameters {
  let binder: String?
  let text: String?
  let with: [String: String]?
  let view: Handle?
  let args: JSONText?

  static let docs = [
    "binder": "The name of the view; `describe` lists them. With text, the name to show.",
    "text": "The text of a view of one's own, instead of an installed one.",
    "with": "With text, the texts of views to which it leads, by name; 64 KiB at most.",
    "view": "The handle: 1 to 64 of [A-Za-z0-9_.:-]; left out, the daemon gives a number.",
    "args": "The view's arguments, by name.",
  ]
}

private struct CheckView: DocumentedParameters {
  let text: String
  let with: [String: String]?
  let name: String?

  static let docs = [
    "text": "The text of the view, 64 KiB at most.",
    "with": "The texts of views to which it leads, by name; 64 KiB at most.",
    "name": "The name under which it is to be installed.",
  ]
}

private struct Close: DocumentedParameters {
  let view: Handle

  static let docs = ["view": "The handle of the view."]
}

private struct ViewRequest: DocumentedParameters {
  let view: Handle
  let name: String
  let args: JSONText?

  static let docs = [
    "view": "The handle of the view.",
    "name": "The name of the intent.",
    "args": "The intent's arguments, by name.",
  ]
}

extension CallContext {
  /// Opens a view and fills it with its binder.
  ///
  /// - Parameter brought: A view that the client has brought; `nil` opens one by its name.
  package func openView(
    _ name: String, _ wish: Handle?, _ arguments: JSONText, _ brought: BroughtView? = nil
  ) throws(WireError) -> View {
    let binder =
      if let brought { try view(brought, named: name) } else { try view(named: name) }
    return try connection.views.open(
      name, as: wish, with: arguments, text: brought?.kept,
      weighing: binder.weight
    ) { view throws(WireError) in
      try binder.bind(view, self, arguments)
    }
  }

  private func view(named name: String) throws(WireError) -> ViewBinder {
    if let binder = rights.view(named: name) { return binder }
    throw .notFound("view", name, didYouMean: nearest(to: name, among: rights.viewNames))
  }

  fileprivate func open(_ open: Open, _ call: Call) throws(WireError) {
    guard let name = open.binder ?? open.text.map({ _ in "view" }) else {
      throw WireError(JSONDecodingError(path: "/binder", expected: "string", got: "nothing"))
    }
    if open.text == nil, open.with != nil {
      throw .unusable("with", "views to which a text leads", "no text")
    }
    let brought = open.text.map { BroughtView($0, with: open.with) }
    let view = try openView(name, open.view, open.args ?? .emptyObject, brought)
    var answer = ByteBuffer()
    view.writeAnswer(&answer, size: connection.lineOut - Self.answerBytes)
    guard answer.count + Self.answerBytes <= connection.lineOut else {
      _ = connection.views.close(view)
      throw .resultTooLarge(answer.count, max: connection.lineOut)
    }
    call.answer { $0.append(answer) }
  }

  /// Runs an intent of a view as a command, and answers once its events are durable.
  ///
  /// - Returns: `.work` if the intent must run again after work outside the event loop.
  fileprivate func ask(
    _ call: Call, _ request: Request, _ line: Span<UInt8>
  ) throws(WireError) -> Connection.Parking? {
    let (asked, options): (ViewRequest, _) = try decode(
      request, line, ["view", "name", "args"], .refused)
    var call = call
    var command = command("intent")
    call = try options?.applied(to: call) ?? call
    try add(options, to: &command, request, line, besides: "view")
    if command.id != nil, connection.views[asked.view]?.intent(named: asked.name)?.isKept == false {
      throw .unusable("_meta/cmd", "no cmd: the answer of this intent is not stored", "a cmd")
    }
    if let done = try repetition(of: command) {
      answer(call, done) { $0.write(to: &$2, room: $1) }
      return nil
    }
    guard let view = connection.views[asked.view] else {
      throw .notFound("view", asked.view.description)
    }
    guard let intent = view.intent(named: asked.name) else {
      throw .notFound(
        "intent", asked.name, didYouMean: nearest(to: asked.name, among: view.intentNames))
    }
    let run: () throws -> JSONText?
    do throws(JSONDecodingError) {
      run = try intent.ready(for: asked.args ?? .emptyObject)
    } catch {
      throw WireError(error.below("/args"))
    }
    if let request = intent.request {
      try options?.checkIsNoCommand(
        "no cmd, expect or lease: the method of this intent is no command")
      return try self.request(request, of: view, run, asked.args ?? .emptyObject, call)
    }
    let before = view.children
    let accepted: Accepted
    let timer = CallTimer(call, catalog.clock)
    var refusal: WireError?
    do throws(Refusal) {
      accepted = try host.perform(command) {
        do {
          return try connection.views.asking {
            let value = try run()
            try timer.check()
            return value
          }
        } catch let error as WireError {
          refusal = error
          throw error
        }
      }
    } catch .pending {
      return .work
    } catch {
      if let refusal { throw refusal }
      guard case .service(let fault) = error else { throw access.error(error) }
      throw WireError(fault).below("/args")
    }
    let opened = view.children.first { child in !before.contains { $0 === child } }
    if let seq = accepted.seq {
      connection.recordWrite(upTo: seq)
    }
    connection.views.tell(after: host.last)
    answer(call, with: accepted, opened: opened?.handle)
    return nil
  }

  /// Runs a request in place of an intent; its answer is that of the intent.
  ///
  /// The intent is observed, and may dismiss its view, only if the answer is a result.
  private func request(
    _ make: (JSONText) throws -> IntentRequest, of view: View,
    _ run: @escaping () throws -> JSONText?,
    _ arguments: JSONText, _ call: Call
  ) throws(WireError) -> Connection.Parking? {
    let request: IntentRequest
    do {
      request = try make(arguments)
    } catch {
      throw access.error(error)
    }
    var line = ByteBuffer()
    line.object {
      $0.member("id", 0)
      $0.member("method", request.method)
      $0.member("params", request.parameters)
    }
    let parsed: Request
    do throws(Request.Fault) {
      parsed = try Request(parsing: line.span, idBytes: 1)
    } catch {
      throw error.error
    }
    var call = call
    // Observers of the intent, for example one that closes the view.
    call.outcome = CallOutcome { [weak view] in
      if view?.isClosed == false { _ = try? run() }
    }
    return handle(call, parsed, line.span)
  }

  /// Returns the result of an intent that already ran with this `cmd`, even if its view has ended;
  /// `nil` if it did not run.
  private func repetition(of command: Command) throws(WireError) -> Accepted? {
    do throws(Refusal) {
      return try host.repetition(of: command)
    } catch {
      throw access.error(error)
    }
  }

  private func answer(_ call: Call, with accepted: Accepted, opened: Handle?) {
    let room = call.room - Self.answerBytes
    call.answer(after: host.last) { buffer in
      accepted.write(to: &buffer, room: room)
      guard let opened else { return }
      buffer.truncate(to: buffer.count - 1)  // removes the brace
      buffer.member("opened", opened)
      buffer.append(UInt8(ascii: "}"))
    }
  }
}

extension JSONText {
  fileprivate static var emptyObject: JSONText { JSONText(members: [:]) }
}
