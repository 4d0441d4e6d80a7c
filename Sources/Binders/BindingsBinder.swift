internal import Configuration
internal import Connections
internal import JSON
package import Services
internal import Signals
internal import Wire

/// Binds clients to bindings: values that follow each other, declared in one line.
package func bindBindings(_ interface: Interface, to service: BindingsService) {
  interface.offer(
    "bindings", "Bindings between sources that the daemon keeps.",
    events: ["bindings.bound", "bindings.unbound"])
  interface.offerSources(
    of: service.ledger, [.init("bindings/*", "The expression of the binding.", .string)],
    exists: { SourceName.isSource($0, of: "bindings") })
  bindBindingList(interface, service)

  interface.query(
    "bind", "Binds two sources: what the one becomes, the other becomes.", Bind.self, nil
  ) { interface, call, bind in
    do throws(WireError) {
      try interface.bind(bind, service, call)
    } catch {
      call.refuse(error, after: interface.host.last)
    }
  }
  interface.query("unbind", "Ends a binding.", Unbind.self, nil) { interface, call, unbind in
    do throws(WireError) {
      try interface.unbind(unbind, service, call)
    } catch {
      call.refuse(error, after: interface.host.last)
    }
  }
}

/// Makes the bindings live that the daemon keeps; after the start of its services.
///
/// - Parameter onFault: Told of those that cannot be: they stay listed and do nothing.
package func restoreBindings(
  _ interface: Interface, _ service: BindingsService, onFault: (String) -> Void
) {
  for (source, text) in service.ledger.newest.expressions.sorted(by: { $0.key < $1.key }) {
    let name = String(source.dropFirst("bindings/".count))
    do throws(WireError) {
      let binding = try interface.makeBinding(text, isRestored: true)
      interface.bindings.kept[name] = binding
      binding.start()
    } catch {
      onFault("binding '\(name)' (\(text)): \(error.message)")
    }
  }
}

private struct Bind: DocumentedParameters {
  let expr: String
  let binding: Handle?
  let scope: String?

  static let docs = [
    "expr": "What to bind: path op path [| transformer]…, op one of ~> <~ <> !~> <~! <!>.",
    "binding": "The handle: 1 to 64 of [A-Za-z0-9_.:-]; left out, the daemon gives a number.",
    "scope": #""connection" (left out): ends with the client; "daemon": kept over a restart."#,
  ]
}

private struct Unbind: DocumentedParameters {
  let binding: Handle

  static let docs = ["binding": "The handle of the binding."]
}

extension Interface {
  fileprivate func bind(
    _ bind: Bind, _ service: BindingsService, _ call: Call
  ) throws(WireError) {
    let connection = call.connection
    let isKept: Bool
    switch bind.scope {
    case nil, "connection": isKept = false
    case "daemon": isKept = true
    case let scope?: throw .unusable("scope", #""connection" or "daemon""#, scope)
    }
    let binding = try makeBinding(bind.expr)
    let handle: Handle
    if isKept {
      handle = bind.binding ?? freeName()
      let name = handle.description
      if let filed = bindings.filed[name] {
        binding.dispose()
        throw .inFile(filed.source)
      }
      do throws(Refusal) {
        _ = try host.perform(call.command("bind", mayRecord: mayRecord)) {
          try service.add(name, binding.expression.description)
          return nil
        }
      } catch {
        binding.dispose()
        throw self.error(error)
      }
      bindings.kept[name] = binding
    } else {
      do throws(WireError) {
        handle = try connection.reserveBinding(bind.binding)
      } catch {
        binding.dispose()
        throw error
      }
      connection.add(binding, as: handle)
    }
    let failures = binding.start()
    connection.writtenPosition = max(connection.writtenPosition, host.last)
    answer(call, handle, binding, isKept: isKept)
    guard !isKept else { return }
    for failure in failures { connection.fail(binding: handle, error(failure)) }
    binding.failures.observeNext { [weak connection, self] failure in
      connection?.fail(binding: handle, error(failure))
    }
    .dispose(in: connection.bag)
  }

  private func answer(_ call: Call, _ handle: Handle, _ binding: LiveBinding, isKept: Bool) {
    let expression = binding.expression
    let assigned = expression.operator.goesRight ? expression.right : expression.left
    let value = binding.transferred > 0 ? service(of: assigned)?.sources?.newest(assigned) : nil
    var result: JSONObject = [
      "binding": handle.text.value, "left": .string(expression.left),
      "op": .string(expression.operator.rawValue), "right": .string(expression.right),
      "transform": .array(expression.transformers.map { .string($0.description) }),
      "scope": .string(isKept ? "daemon" : "connection"),
      "seq": .number(JSONNumber(host.last)),
    ]
    if let value {
      result["assigned"] = .object(["source": .string(assigned), "value": value.value])
    }
    call.answer(after: host.last) { $0.append(JSONValue.object(result).text.text) }
  }

  fileprivate func unbind(
    _ unbind: Unbind, _ service: BindingsService, _ call: Call
  ) throws(WireError) {
    var binding = call.connection.removeBinding(unbind.binding)
    if binding == nil, let filed = bindings.filed[unbind.binding.description] {
      throw .inFile(filed.source)
    }
    if binding == nil, let kept = bindings.kept[unbind.binding.description] {
      do throws(Refusal) {
        _ = try host.perform(call.command("unbind", mayRecord: mayRecord)) {
          try service.remove(unbind.binding.description)
          return nil
        }
      } catch {
        throw self.error(error)
      }
      bindings.kept[unbind.binding.description] = nil
      call.connection.writtenPosition = max(call.connection.writtenPosition, host.last)
      binding = kept
    }
    let ended = binding as? LiveBinding
    ended?.dispose()
    call.answer(after: host.last) { buffer in
      buffer.append(#"{"binding":"#)
      buffer.append(unbind.binding.text.text)
      buffer.append(ended == nil ? #","was":"unknown""# : #","was":"active","transferred":"#)
      if let ended { buffer.append(integer: ended.transferred) }
      buffer.append("}")
    }
  }

  /// A name for a binding that the daemon keeps: the next number that is free.
  private func freeName() -> Handle {
    var number = bindings.kept.count + 1
    while bindings.kept["\(number)"] != nil || bindings.filed["\(number)"] != nil { number += 1 }
    return .number(number)
  }

  // MARK: Making one

  /// A binding that is counted and not started.
  ///
  /// - Parameter isRestored: Whether it was there before this start: a source that has gone meanwhile
  ///   has passed nothing on yet.
  func makeBinding(
    _ text: String, isRestored: Bool = false
  ) throws(WireError) -> LiveBinding {
    let expression: BindExpression
    let transformer: Transformer<JSONValue, JSONValue>
    do throws(BindFault) {
      expression = try BindExpression(text)
      transformer = try transformers.transformer(for: expression)
    } catch {
      throw WireError(error)
    }
    if let denial = denial(of: expression) { throw denial }
    let (left, right) = (
      try end(expression.left, isRestored), try end(expression.right, isRestored)
    )
    if let circle = bindings.circle(with: expression) {
      throw WireError(
        .bindingCycle, "a value would go in a circle: \(circle.joined(separator: " → "))",
        ["path": .array(circle.map { .string($0) })])
    }
    do throws(NotBindable) {
      let binding = LiveBinding(
        expression, try EndBinding(left, expression.operator, right, through: transformer),
        in: bindings)
      bindings.add(binding)
      return binding
    } catch {
      throw WireError(error)
    }
  }

  /// Why the role may not bind: it must be allowed to read what is passed on, and to write what it is
  /// passed on to.
  func denial(of expression: BindExpression) -> WireError? {
    for (from, to) in expression.flows {
      guard role.mayRead(from) else { return notFound(from) }
      guard role.mayWrite(to) else { return notWritable(to) }
    }
    return nil
  }

  private func end(
    _ source: String, _ isRestored: Bool
  ) throws(WireError) -> BindEnd<JSONValue> {
    guard let service = service(of: source), let sources = service.sources,
      sources.exists(source) || sources.hides(source)
    else { throw notFound(source) }
    return BindEnd(
      read: { sources.newest(source)?.value },
      write: service.writer.map { write in
        { [host] value in
          // In the name of the daemon: who has bound may have left long ago.
          let command = Command(method: "bind", caller: Caller(uid: 0, pid: 0))
          _ = try host.perform(command) {
            _ = try write(source, value.text)
            return nil
          }
        }
      },
      values: Signal { [host] observer in
        if let value = sources.value(source) {
          observer.receive(value.value)
        } else if isRestored, host.version(of: source) > 0 {
          observer.receive(.null)
        }
        return sources.changes(source).observeNext { change in
          let value = change.step == nil ? change.value : sources.value(source)
          observer.receive(value?.value ?? .null)
        }
      })
  }
}

extension WireError {
  fileprivate init(_ fault: BindFault) {
    guard fault.kind != .notBindable else {
      self.init(
        .notBindable, fault.description,
        ["side": .string("transformer"), "why": .string(fault.description)])
      return
    }
    self.init(
      .invalidParams, fault.description,
      [
        "path": .string("/expr"), "column": .number(JSONNumber(fault.column)),
        "expected": .array(fault.expected.map { .string($0) }), "got": .string(fault.found),
      ])
  }

  fileprivate init(_ error: NotBindable) {
    let side =
      switch error {
      case .leftIsNotRead, .leftIsNotWritten: "left"
      case .rightIsNotRead, .rightIsNotWritten: "right"
      case .noForward, .noReverse, .answersLater: "transformer"
      }
    self.init(
      .notBindable, error.description,
      ["side": .string(side), "why": .string(error.description)])
  }
}
