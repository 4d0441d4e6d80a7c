package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Offers bindings, which keep sources in sync and are declared in one line.
package func bindBindings(
  _ catalog: Catalog, to service: BindingsService, _ live: LiveBindings
) {
  catalog.offer("Bindings between sources that the daemon keeps.", service.ledger)
  catalog.offerSources(
    of: service.ledger,
    [
      .init("bindings/*", "The expression of the binding.", .string),
      .init("bindings/*/state", "The state of its operators.", .any),
    ],
    exists: { SourceName.isSource($0, of: "bindings") })
  catalog.offerUndo(of: service.ledger.service, BindingsUndo(service, live))
  bindBindingList(catalog, service, live)
  bindBindingTrials(catalog, live)
  catalog.commandParts.effects = live.effects
  live.follow(service, catalog.host)
  catalog.restore(.binding) { context, items, _ throws(CannotRestore) in
    try context.restoreBindings(items, live)
  }

  offer(
    "bind", "Binds two sources, so that one follows the other.", catalog,
    .members(
      .init("binding", .handle), .init("left", .string),
      .init("op", .words(["~>", "<~", "<>", "!~>", "<~!", "<!>"])),
      .init("right", .string), .init("transform", .array(.string)),
      .init("scope", .words(["connection", "daemon"])), .init("seq", .natural),
      .optional("assigned", .object([.init("source", .string), .init("value", .any)])),
      .optional("no_value", .array(.string)), .optional("replayed", .bool))
  ) {
    (context, call, command, bind: Bind) throws(WireError) in
    switch bind.scope {
    case nil, "connection": try context.bind(bind, live, call, command)
    case "daemon": try context.bind(bind, service, live, call, command)
    case let scope?: throw .unusable("scope", #""connection" or "daemon""#, scope)
    }
  }
  offer(
    "unbind", "Ends a binding.", catalog,
    .members(
      .init("binding", .handle), .init("was", .words(["active", "unknown"])),
      .optional("transferred", .natural), .optional("seq", .natural), .optional("replayed", .bool))
  ) {
    (context, call, command, unbind: Unbind) throws(WireError) in
    if call.connection.hasBinding(unbind.binding) {
      try context.unbind(unbind, call, command)
    } else {
      try context.unbind(unbind, service, live, call, command)
    }
  }
}

extension Feature {
  package static func bindings(_ bindings: BindingsService, _ live: LiveBindings) -> Feature {
    Feature { bindBindings($0, to: bindings, live) }
  }
}

/// Offers a method that is a command if it concerns a persistent binding.
///
/// Like a query, it waits until earlier writes of the same client are durable, because a binding
/// passes them on at once.
private func offer<Parameters: DocumentedParameters>(
  _ name: String, _ doc: String, _ catalog: Catalog, _ result: ResultShape,
  body: @escaping (CallContext, Call, Command, Parameters) throws(WireError) -> Void
) {
  let names = Shape(of: Parameters.self).members.map(\.name)
  catalog.offer(name, doc, .query, Parameters.self, result, [], [], site: .session) {
    context, call, request, line in
    var call = call
    let (parameters, command): (Parameters, Command)
    do throws(WireError) {
      let options: CallOptions?
      (parameters, options) = try context.decode(request, line, names, .refused)
      call = try options?.applied(to: call) ?? call
      command = try context.command(
        name, options, isKept: true, isPersonal: false, request, line)
    } catch {
      call.refuse(error)
      return nil
    }
    do throws(WireError) {
      try body(context, call, command, parameters)
    } catch {
      // The refusal may depend on events that are not durable yet.
      call.refuse(error, after: context.host.last)
    }
    return nil
  }
}

/// Restores the persistent bindings.
///
/// Called after the services have started.
///
/// - Parameters:
///   - rights: Those of the owner role.
///   - onFault: Receives a message for each binding that cannot be restored. Such a binding stays
///     listed but does nothing.
package func restoreBindings(
  _ rights: Rights, _ service: BindingsService, _ live: LiveBindings, onFault: (String) -> Void
) {
  live.time.stop = rights.catalog.host.lastTime
  var restored: [RestoredBinding] = []
  for (source, text) in service.ledger.pending.expressions.sorted(by: { $0.key < $1.key }) {
    let name = String(source.dropFirst("bindings/".count))
    do throws(WireError) {
      let maker = Peer(uid: service.ledger.pending.maker(of: source) ?? 0)
      let access = Access(rights, by: maker)
      let read = try access.readBinding(text)
      let binding = try access.makeBinding(
        read, in: live, isRestored: true, stateKey: BindingsService.stateKey(of: name))
      live.restore(binding, name)
      restored.append(
        RestoredBinding(
          binding: binding, transformer: read.transformer,
          position: rights.catalog.host.lastPosition(of: source)))
    } catch {
      let isLong = text.utf8.count > BindLimits.sources.bytes
      onFault("binding '\(name)' (\(isLong ? "\(text.prefix(40))…" : text)): \(error.message)")
    }
  }
  rights.start(restored, onFault: onFault)
}

/// A binding of a connection as it survives a restart.
private struct HandoverBinding: Codable {
  let expr: String

  /// The last position before it was made.
  let at: UInt64
}

private struct Bind: DocumentedParameters {
  let expr: String
  let binding: Handle?
  let scope: String?

  static let docs = [
    "expr": "The binding: source [| transformer]… op path [| transformer]…; see section 11.",
    "binding": "The handle: 1 to 64 of [A-Za-z0-9_.:-]; left out, the daemon gives a number.",
    "scope": #""connection" (left out): ends with the client; "daemon": survives a restart."#,
  ]
}

private struct Unbind: DocumentedParameters {
  let binding: Handle

  static let docs = ["binding": "The handle of the binding."]
}

extension CallContext {
  // MARK: Bindings of a connection

  fileprivate func bind(
    _ bind: Bind, _ live: LiveBindings, _ call: Call, _ command: Command
  ) throws(WireError) {
    try checkIsNoCommand(command)
    let read = try access.readBinding(bind.expr)
    try connection.checkMemory(for: read.bytes)
    let binding = try access.makeBinding(read, in: live)
    let handle: Handle
    do throws(WireError) {
      handle = try connection.reserveBinding(bind.binding)
    } catch {
      binding.dispose()
      throw error
    }
    connection.add(binding, as: handle, read.bytes)
    keep(HandoverBinding(expr: bind.expr, at: host.last), as: handle)
    let failures = binding.start()
    connection.recordWrite(upTo: host.last)
    answer(call, binding, binding.expression.made(handle, "connection"), seq: host.last)
    for failure in failures { connection.fail(binding: handle, access.error(failure)) }
    watchFailures(of: binding, as: handle)
  }

  private func watchFailures(of binding: LiveBinding, as handle: Handle) {
    binding.watchFailures { [weak connection, access] failure in
      connection?.fail(binding: handle, access.error(failure))
    }
  }

  private func keep(_ binding: HandoverBinding, as handle: Handle) {
    guard connection.isKept, let text = try? catalog.encoder.text(binding) else { return }
    connection.keep(.binding, handle.text.text, text)
  }

  /// Makes bindings of the connection again that it had with an earlier daemon.
  ///
  /// As with bindings of the daemon, only values that were not passed on before are passed on now.
  fileprivate func restoreBindings(
    _ items: [HandoverItem], _ live: LiveBindings
  ) throws(CannotRestore) {
    var restored: [RestoredBinding] = []
    for item in items {
      guard let handle = Handle(encoded: item.key),
        let kept: HandoverBinding = try? catalog.decoder.decode(from: item.text)
      else { throw CannotRestore(unreadable: item) }
      do throws(WireError) {
        let read = try access.readBinding(kept.expr)
        try connection.checkMemory(for: read.bytes)
        let binding = try access.makeBinding(read, in: live, isRestored: true)
        connection.add(binding, as: handle, read.bytes)
        keep(kept, as: handle)
        watchFailures(of: binding, as: handle)
        restored.append(
          RestoredBinding(binding: binding, transformer: read.transformer, position: kept.at))
      } catch {
        connection.fail(binding: handle, error)
      }
    }
    rights.start(restored) { _ in }
  }

  fileprivate func unbind(_ unbind: Unbind, _ call: Call, _ command: Command) throws(WireError) {
    try checkIsNoCommand(command)
    let ended = call.connection.removeBinding(unbind.binding) as? LiveBinding
    ended?.dispose()
    call.answer(after: host.last) { buffer in
      buffer.append(JSONValue.object(unbind.result(of: ended)).text.text)
    }
  }

  /// Rejects command options for a binding of a connection, which records nothing.
  ///
  /// - Throws: `invalid_params` if the command has an id, expectations or a lease.
  private func checkIsNoCommand(_ command: Command) throws(WireError) {
    let rule = "none: a binding of a connection is not recorded"
    if command.id != nil { throw .unusable("_meta/cmd", rule, "one") }
    if !command.expectations.isEmpty { throw .unusable("_meta/expect", rule, "some") }
    if command.lease != nil { throw .unusable("_meta/lease", rule, "one") }
  }

  // MARK: Persistent bindings

  fileprivate func bind(
    _ bind: Bind, _ service: BindingsService, _ live: LiveBindings, _ call: Call,
    _ command: Command
  ) throws(WireError) {
    let read = try access.readBinding(bind.expr)
    let expression = read.expression
    // Checked first, so that a client without the right cannot find out whether the name exists.
    if let name = bind.binding, !role.mayWrite("bindings/\(name)") {
      throw access.notWritable("bindings/\(name)")
    }
    var made: (name: String, binding: LiveBinding, result: JSONObject)?
    var fault: WireError?
    let accepted: Accepted
    do throws(Refusal) {
      // Created inside the command. Otherwise a retry with the same `cmd` would be refused because
      // of the binding that the first call made.
      accepted = try host.perform(command) {
        let handle = bind.binding ?? freeName(service, live)
        let name = handle.description
        let result = expression.made(handle, "daemon")
        do throws(WireError) {
          let binding = try access.makeBinding(
            read, in: live, isRecorded: true, stateKey: BindingsService.stateKey(of: name))
          made = (name, binding, result)
          if let filed = live.filed[name] { throw .inFile(filed.source) }
        } catch {
          fault = error
          throw Refusal.unexpected(detail: error.message)
        }
        try service.add(name, expression.description)
        return JSONValue.object(result).text
      }
    } catch {
      made?.binding.dispose()
      throw fault ?? access.error(error)
    }
    guard let made, let seq = accepted.seq else { return answer(call, again: accepted) }
    live.begin(made.binding, made.name, at: seq)
    made.binding.start()
    connection.recordWrite(upTo: host.last)
    answer(call, made.binding, made.result, seq: seq)
  }

  fileprivate func unbind(
    _ unbind: Unbind, _ service: BindingsService, _ live: LiveBindings, _ call: Call,
    _ command: Command
  ) throws(WireError) {
    let name = unbind.binding.description
    guard mayKnow("bindings/\(name)") else {
      return call.answer(after: host.last) { buffer in
        buffer.append(JSONValue.object(unbind.result(of: nil)).text.text)
      }
    }
    if let filed = live.filed[name] { throw .inFile(filed.source) }
    func isKept() -> Bool { service.ledger.pending.expressions["bindings/\(name)"] != nil }
    guard isKept() || command.id != nil || !command.expectations.isEmpty else {
      return call.answer(after: host.last) { buffer in
        buffer.append(JSONValue.object(unbind.result(of: nil)).text.text)
      }
    }
    let kept = live.kept[name]
    let accepted: Accepted
    do throws(Refusal) {
      accepted = try host.perform(command) {
        guard isKept() else { return JSONValue.object(unbind.result(of: nil)).text }
        try service.remove(name)
        // A binding that could not be restored has passed on no values.
        return JSONValue.object(unbind.result(of: kept, isKept: true)).text
      }
    } catch {
      throw access.error(error)
    }
    if !accepted.isReplayed, let seq = accepted.seq { live.end(name, at: seq) }
    answer(call, again: accepted)
  }

  /// Returns the next free number as the name of a persistent binding.
  private func freeName(_ service: BindingsService, _ live: LiveBindings) -> Handle {
    let journaled = service.ledger.pending.expressions
    var number = journaled.count + 1
    while journaled["bindings/\(number)"] != nil || live.filed["\(number)"] != nil {
      number += 1
    }
    return .number(number)
  }

  // MARK: Answering

  /// Answers a `bind` call, with the value that was assigned at once.
  private func answer(_ call: Call, _ binding: LiveBinding, _ made: JSONObject, seq: UInt64) {
    var result = made
    result["seq"] = .number(JSONNumber(seq))
    let expression = binding.expression
    if let names = withoutValue(expression) {
      result["no_value"] = .array(names.map { .string($0) })
    }
    let source = expression.operator.goesRight ? expression.right : expression.left
    if binding.transferred > 0, let value = rights.sources(of: source)?.newest(source) {
      // The command succeeded. If the value does not fit into the answer, it is omitted instead of
      // failing the call.
      let room = call.room - Self.answerBytes
      let bytes = JSONValue.object(result).text.text.utf8.count + source.utf8.count
      if bytes + value.text.utf8.count <= room {
        result["assigned"] = .object(["source": .string(source), "value": value.value])
      }
    }
    call.answer(after: host.last) { $0.append(JSONValue.object(result).text.text) }
  }

  /// Answers a command with its stored result.
  private func answer(_ call: Call, again accepted: Accepted) {
    answer(call, accepted) { accepted, _, buffer in
      var result = JSONObject()
      if case .object(let noted)? = accepted.value?.value { result = noted }
      if let seq = accepted.seq { result["seq"] = .number(JSONNumber(seq)) }
      if accepted.isReplayed { result["replayed"] = .bool(true) }
      buffer.append(JSONValue.object(result).text.text)
    }
  }
}

extension BindExpression {
  /// Returns the result of `bind`.
  fileprivate func made(_ handle: Handle, _ scope: String) -> JSONObject {
    [
      "binding": handle.text.value, "left": .string(left),
      "op": .string(self.operator.rawValue), "right": .string(right),
      "transform": .array(transformers.map { .string($0.description) }), "scope": .string(scope),
    ]
  }
}

extension Unbind {
  fileprivate func result(of ended: LiveBinding?, isKept: Bool = false) -> JSONObject {
    var result: JSONObject = ["binding": binding.text.value]
    guard ended != nil || isKept else {
      result["was"] = .string("unknown")
      return result
    }
    result["was"] = .string("active")
    result["transferred"] = .number(JSONNumber(ended?.transferred ?? 0))
    return result
  }
}
