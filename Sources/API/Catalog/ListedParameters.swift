package import Configuration
package import Connections
internal import EventSourcing
package import JSON
package import Signals
internal import Wire

// Methods and views whose parameters are listed when the daemon starts. They are not the members of
// a type.
extension Catalog {
  /// Offers a method that may record events.
  ///
  /// - Parameters:
  ///   - name: The full name, for example `"chores.add"`.
  ///   - parameters: The parameters, in the order of values in a list.
  ///   - value: The type of the result; `nil` for none.
  ///   - writes: The types of the events that the method may record.
  ///   - errors: The `reason` of each `rejected` error that the method may return.
  ///   - isPersonal: Whether the same `cmd` of another user is another call.
  ///   - isKept: Whether the answer is stored for `_meta.cmd`.
  ///   - changesSession: Whether the function has an effect on the connection, also of a daemon that
  ///     follows.
  ///   - prepare: Gets a text for each parameter, in their order; `nil` for one that was left out,
  ///     which only optional ones can be. Its types are not checked. Returns the function that runs
  ///     the command. A ``JSONDecodingError`` that it throws is the error of a parameter.
  package func command(
    _ name: String, _ doc: String, taking parameters: [Method.Parameter], value: Shape?,
    writes: [String], errors: [String] = [], isPersonal: Bool = false,
    isKept: Bool = true, changesSession: Bool = false,
    prepare: @escaping (CallContext, [JSONText?]) throws -> () throws -> JSONText?
  ) {
    let prepared: (CallContext, [JSONText?]) throws(WireError) -> () throws -> JSONText? = {
      context, values throws(WireError) in
      do { return try prepare(context, values) } catch { throw context.parameterError(error) }
    }
    let step: Method.Step = { context, request, line throws(WireError) in
      let listed = request.parameters
      try request.checkHasNoOptions()
      if listed.isComplete, let values = ParameterValues(of: parameters, listed, line) {
        return try prepared(context, values.texts)
      }
      let text = request.params.map { JSONText(scanned: line.extracting($0)) }
      return try prepared(context, try ParameterValues(of: parameters, in: text).texts)
    }
    let site = Method.Site.both { context, text in
      do {
        let values = try ParameterValues(of: parameters, in: text).texts
        _ = try prepared(context, values)()
        return .done
      } catch {
        return (error as? any ServiceError)?.isPending == true ? .pending : .failed
      }
    }
    add(
      Method(
        name: name, doc: doc, kind: .command, parameters: parameters, value: value,
        result: ResultShape.command(value).whole, writes: writes, errors: errors,
        takesUnknown: false, isPersonal: isPersonal, site: changesSession ? site : .active,
        step: isKept ? step : nil
      ) { context, call, request, line in
        do throws(WireError) {
          let (values, options) = try context.values(of: parameters, request, line)
          let command = try context.command(
            name, options, isKept: isKept, isPersonal: isPersonal, request, line)
          return try context.perform(command, call, options, try prepared(context, values))
        } catch {
          call.refuse(error)
          return nil
        }
      })
  }

  /// Offers a method that records nothing; for the parameters see
  /// ``command(_:_:taking:value:writes:errors:prepare:)``.
  package func query(
    _ name: String, _ doc: String, taking parameters: [Method.Parameter], value: Shape,
    errors: [String] = [], body: @escaping (CallContext, [JSONText?]) throws -> JSONText
  ) {
    add(
      Method(
        name: name, doc: doc, kind: .query, parameters: parameters, value: value,
        result: ResultShape.value(value).whole, writes: [], errors: errors, takesUnknown: false,
        isPersonal: false, step: nil
      ) { context, call, request, line in
        do {
          let (values, options) = try context.values(of: parameters, request, line)
          let call = try options.map { try $0.applied(to: call) } ?? call
          context.answer(call, with: try body(context, values))
        } catch {
          call.refuse(context.parameterError(error))
        }
        return nil
      })
  }

  /// Offers a query whose answer is the first value of a signal, which may come in a later turn.
  ///
  /// Answers to later requests of the client may come before it. The signal is observed until then, or
  /// until the client has gone. For the parameters see
  /// ``command(_:_:taking:value:writes:errors:prepare:)``.
  package func lateQuery(
    _ name: String, _ doc: String, taking parameters: [Method.Parameter], value: Shape,
    errors: [String] = [],
    body: @escaping (CallContext, [JSONText?]) throws -> Signal<JSONText, any Error>
  ) {
    add(
      Method(
        name: name, doc: doc, kind: .long, parameters: parameters, value: value,
        result: ResultShape.value(value).whole, writes: [], errors: errors, takesUnknown: false,
        isPersonal: false, step: nil
      ) { context, call, request, line in
        do {
          let (values, options) = try context.values(of: parameters, request, line)
          let now = try options.map { try $0.applied(to: call) } ?? call
          let answer = try body(context, values)
          guard let later = now.later(isLong: true) else { return nil }
          later.keep(context.answer(later, with: answer))
        } catch {
          call.refuse(context.parameterError(error))
        }
        return nil
      })
  }

  /// Offers a query whose answer is an array of rows, made in slices of the client's time; for the
  /// parameters see ``command(_:_:taking:value:writes:errors:prepare:)``.
  package func listQuery<Shown>(
    _ name: String, _ doc: String, taking parameters: [Method.Parameter], errors: [String],
    rows: @escaping (CallContext, [JSONText?]) throws -> ListedRows<Shown>
  ) {
    let value = Shape(of: [Shown].self)
    add(
      Method(
        name: name, doc: doc, kind: .query, parameters: parameters, value: value,
        result: ResultShape.value(value).whole, writes: [], errors: errors, takesUnknown: false,
        isPersonal: false, step: nil
      ) { [unowned self] context, call, request, line in
        do {
          let (values, options) = try context.values(of: parameters, request, line)
          let call = try options.map { try $0.applied(to: call) } ?? call
          // The rows may depend on the login, which may change between two slices.
          let texts = values.map { $0?.text ?? "" } + [actor(call.connection) ?? ""]
          let key = "\(name) \(texts)"
          try context.answer(call, key, with: try rows(context, values))
        } catch {
          if error is Postponed { return .turn }
          context.endParts()
          call.refuse(context.parameterError(error))
        }
        return nil
      })
  }

  /// Offers a view whose arguments are listed, not the members of a type.
  ///
  /// - Parameters:
  ///   - isOffered: Whether a role may open the view with some arguments.
  ///   - bind: Gets a text for each argument, in their order; `nil` for one that was left out.
  package func offerView(
    _ name: String, of service: String, _ doc: String, taking arguments: [Method.Parameter],
    isOffered: @escaping (Role) -> Bool,
    bind: @escaping (View, CallContext, [JSONText?]) throws -> Void
  ) {
    let members = arguments.map {
      Shape.Member(name: $0.name, shape: $0.shape, isOptional: $0.isOptional)
    }
    add(
      ViewBinder(
        name: name, service: service, doc: doc, arguments: .object(members),
        isOffered: isOffered, isOfMachine: false
      ) {
        view, context, text throws(WireError) in
        do {
          try bind(view, context, try ParameterValues(of: arguments, in: text).texts)
        } catch {
          throw context.parameterError(error).below("/args")
        }
      })
  }
}

/// The texts of listed parameters.
private struct ParameterValues {
  /// A text for each parameter, in their order.
  var texts: [JSONText?] = []

  /// Reads the parameters of a call: an object, a list, or nothing.
  ///
  /// - Throws: `invalid_params` for a missing or an unknown one.
  init(of parameters: [Method.Parameter], in text: JSONText?) throws(WireError) {
    do throws(JSONDecodingError) {
      if let elements = text?.elements {
        try self.init(of: parameters, elements)
      } else {
        try self.init(of: parameters, text?.members ?? [:])
      }
    } catch {
      throw WireError(error)
    }
  }

  private init(of parameters: [Method.Parameter], _ elements: [JSONText]) throws(JSONDecodingError)
  {
    guard elements.count <= parameters.count else {
      throw JSONDecodingError(
        path: "/\(parameters.count)", expected: "\(parameters.count) elements at most",
        got: "\(elements.count)")
    }
    texts = Array(elements)
    while texts.count < parameters.count { texts.append(nil) }
    try check(parameters)
  }

  private init(
    of parameters: [Method.Parameter], _ members: [String: JSONText]
  ) throws(JSONDecodingError) {
    for name in members.keys.sorted()
    where name != CallOptions.name && !parameters.contains(where: { $0.name == name }) {
      throw JSONDecodingError(member: name, of: "", expected: "no such member", got: "a value")
    }
    texts = parameters.map { members[$0.name] }
    try check(parameters)
  }

  /// Reads the parameters of a request, which the scan has listed.
  ///
  /// - Returns: `nil` unless all of them are there, each once.
  init?(of parameters: [Method.Parameter], _ listed: RequestParameters, _ line: Span<UInt8>) {
    var count = 0
    texts.reserveCapacity(parameters.count)
    for (i, parameter) in parameters.enumerated() {
      let text = listed.value(named: parameter.name, at: i, in: line)
      guard text != nil || parameter.isOptional else { return nil }
      if text != nil { count += 1 }
      texts.append(text)
    }
    guard count == listed.count else { return nil }
  }

  private func check(_ parameters: [Method.Parameter]) throws(JSONDecodingError) {
    for (parameter, text) in zip(parameters, texts) where text == nil && !parameter.isOptional {
      throw JSONDecodingError(
        member: parameter.name, of: "", expected: parameter.shape.name, got: "nothing")
    }
  }
}

extension CallContext {
  /// Answers a call with the first value of a signal.
  fileprivate func answer(
    _ call: Call, with signal: Signal<JSONText, any Error>
  ) -> any Disposable {
    var isAnswered = false
    return signal.first().observe { [self] event in
      switch event {
      case .next(let value): answer(call, with: value)
      case .failed(let error): call.refuse(access.error(error))
      case .completed where !isAnswered:
        call.refuse(catalog.internalError("the method has no result", "its signal has no value"))
      case .completed: break
      }
      isAnswered = true
    }
  }

  /// Returns the error for a client whose parameters a method has refused.
  fileprivate func parameterError(_ error: any Error) -> WireError {
    (error as? JSONDecodingError).map { WireError($0) } ?? access.error(error)
  }

  /// Returns the texts of listed parameters, and the options beside them.
  ///
  /// - Throws: `invalid_params` for a missing or an unknown one.
  fileprivate func values(
    of parameters: [Method.Parameter], _ request: Request, _ line: Span<UInt8>
  ) throws(WireError) -> ([JSONText?], CallOptions?) {
    let listed = request.parameters
    if listed.isComplete, let values = ParameterValues(of: parameters, listed, line) {
      guard let place = listed.options else { return (values.texts, nil) }
      if let options = CallOptions(reading: line, place) { return (values.texts, options) }
    }
    let text = request.params.map { JSONText(scanned: line.extracting($0)) }
    let texts = try ParameterValues(of: parameters, in: text).texts
    guard !request.isPositional, let options = text?.members?[CallOptions.name] else {
      return (texts, nil)
    }
    do throws(JSONDecodingError) {
      return (texts, try catalog.decoder.decode(CallOptions.self, from: options))
    } catch {
      throw WireError(error.below("/" + CallOptions.name))
    }
  }
}
