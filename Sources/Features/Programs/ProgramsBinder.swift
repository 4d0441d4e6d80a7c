package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Offers services made of programs: a client provides one, and others call it.
package func bindPrograms(_ catalog: Catalog, to programs: Programs) {
  programs.makeMethod = { [unowned catalog, unowned programs] in catalog.method($0, of: programs) }
  catalog.provided = programs.provided
  programs.onMethods = { [changes = catalog.files.methodChanges] in
    changes.replace(Method.parameterTypes(of: $0), with: Method.parameterTypes(of: $1))
  }
  catalog.offer("The values that programs keep, and their queued calls.", programs.ledger)
  catalog.offerSources(
    of: programs.ledger,
    [.init("services/**", "A value of a service; of NAME alone its doc and queued calls.", .any)],
    exists: { SourceName.isSource($0, of: Programs.name) })
  catalog.offer(
    programs.providerValues, "The programs that provide services.",
    .init("providers/*", "The doc of a service, and its providers.", .any))
  catalog.offer(
    programs.live, "The values that programs publish and the journal does not keep.",
    .init("live/**", "The last value published.", .any))

  restoreProviders(catalog, programs)
  bindProviders(catalog, to: programs)
  bindStored(catalog, to: programs)

  catalog.program(
    "reply", "Answers a call of a provided service.", ReplyToCall.self,
    .members(
      .init("call", .string), .optional("lease", .string), .optional("replayed", .bool)),
    writes: ["services.answered", "services.removed", "services.set"],
    errors: ["not_leasable", "too_large"],
    isQuick: { context, call, request, line in
      ReplyToCall.isAnswered(programs, context, call, request.parameters, line)
    },
    onRefusal: { context, request, line, error in
      guard let id = ReplyToCall.call(of: request, line) else { return }
      programs.end(id, afterRefusing: error, context.connection)
    }
  ) { context, call, reply, options, command throws(WireError) in
    let accepted = try programs.reply(to: reply.call, try reply.reply(), try command(), context)
    call.answer(after: context.host.last) { buffer in
      buffer.object {
        $0.member("call", reply.call)
        $0.member("lease", accepted?.lease)
        $0.member("replayed", accepted?.isReplayed == true ? true : nil)
      }
    }
  }

  catalog.program(
    "publish", "Sets a value of a service, in the journal or only for those who watch.",
    Publish.self, .command(Nothing.self), writes: ["services.removed", "services.set"],
    errors: ["not_provider", "reserved", "too_large"],
    step: { context, request, line throws(WireError) in
      let publish: Publish = try context.decode(partOf: request, line, Publish.names)
      guard publish.isKept else {
        throw .unusable("keep", "true: a live value is not recorded", "\(publish.isKept)")
      }
      let source = try context.target(of: publish, programs)
      return {
        programs.set(source, publish.value)
        return nil
      }
    },
    reader: Publish.read
  ) { context, call, publish, options, command throws(WireError) in
    let source = try context.target(of: publish, programs)
    guard publish.isKept else {
      try options?.checkIsNoCommand(
        "no cmd, expect or lease without keep: a live value is not recorded")
      try programs.live.check([(publish.source, publish.value)], by: context.caller.uid)
      programs.live.publish(publish.source, publish.value, by: context.caller.uid)
      return call.answer { buffer in buffer.object { _ in } }
    }
    _ = context.perform(try command(), call) {
      programs.set(source, publish.value)
      return nil
    }
  }
}

private func bindProviders(_ catalog: Catalog, to programs: Programs) {
  catalog.keptQuery(
    "provide", "Makes the connection the provider of a service.", Provide.self,
    .members(.init("service", .string), .init("providers", .natural)), kind: .command,
    site: .session
  ) { context, call, provide, text in
    let definition = try provide.definition
    guard !catalog.isReserved(provide.service) else {
      throw WireError(
        .alreadyExists, "'\(provide.service)' is a service of the daemon",
        ["what": .string("service"), "id": .string(provide.service)])
    }
    let target = "services/\(provide.service)"
    guard context.role.mayWrite(target) else { throw context.access.notWritable(target) }
    try programs.provide(definition, context, try provide.terms(), keeping: text)
    call.answer(after: context.host.last) { buffer in
      buffer.object {
        $0.member("service", provide.service)
        $0.member("providers", programs.providers(of: provide.service))
      }
    }
  }

  catalog.query(
    "withdraw", "The connection gets no more calls of a service, and finishes those it has.",
    NamedService.self, .members(.init("service", .string), .init("calls", .natural)),
    kind: .command
  ) { context, call, withdraw throws(WireError) in
    let count = try programs.withdraw(withdraw.service, context)
    call.answer { buffer in
      buffer.object {
        $0.member("service", withdraw.service)
        $0.member("calls", count)
      }
    }
  }
}

/// Offers the methods that change declarations and queued calls in the journal.
private func bindStored(_ catalog: Catalog, to programs: Programs) {
  catalog.command(
    "services.retry", "Delivers one or all parked calls of a service again; returns how many.",
    ParkedCalls.self, writes: ["services.retried"], errors: ["not_found", "not_parked"]
  ) { _, retry throws(ProgramsError) in
    try programs.retry(retry.call, of: retry.service)
  }

  catalog.command(
    "services.drop", "Ends one or all parked calls of a service with an error; returns how many.",
    ParkedCalls.self, writes: ["services.answered"], errors: ["not_found", "not_parked"]
  ) { _, drop throws(ProgramsError) in
    try programs.drop(drop.call, of: drop.service)
  }

  catalog.command(
    "services.forget", "Forgets the declaration of a service without providers, and its calls.",
    NamedService.self, writes: ["services.forgotten"], errors: ["not_found", "provided"]
  ) { _, forget throws(ProgramsError) in
    try programs.forget(forget.service)
    return Nothing()
  }
}

extension Feature {
  package static func programs(_ programs: Programs) -> Feature {
    Feature(configure: {
      programs.maxProvidersPerUser = $0.limits.providersPerUser
      programs.maxQueuedPerUser = $0.limits.queuedPerUser
    }) { bindPrograms($0, to: programs) }
  }
}

/// Makes connections providers again that were providers with an earlier daemon.
private func restoreProviders(_ catalog: Catalog, _ programs: Programs) {
  catalog.restore(.provider) { context, items, _ throws(CannotRestore) in
    for item in items {
      guard let provide: Provide = try? catalog.decoder.decode(from: item.text),
        let definition = try? provide.definition, let terms = try? provide.terms()
      else { throw CannotRestore(unreadable: item) }
      do throws(WireError) {
        // Its declaration is in the journal.
        try programs.provide(definition, context, terms, keeping: item.text)
      } catch {
        throw CannotRestore("it cannot provide '\(item.key)' any more: \(error.message)")
      }
    }
  }
  catalog.restore(.call) { context, items, _ throws(CannotRestore) in
    for item in items {
      guard UInt64(item.key) != nil, case .string = item.text.value else {
        throw CannotRestore(unreadable: item)
      }
      // A call that was answered or dropped meanwhile is over.
      programs.resume(item, context)
    }
  }
}

private struct Provide: DocumentedParameters {
  let service: String
  let doc: String?
  let methods: JSONText
  let sources: JSONText?
  let call_ms: Int?
  let max_deliveries: Int?
  let views: JSONText?

  /// - Throws: ``WireError`` for a number out of its range.
  func terms() throws(WireError) -> Programs.Provider.Terms {
    let (wait, deliveries) = (call_ms ?? 30_000, max_deliveries ?? 5)
    guard 100...86_400_000 ~= wait else {
      throw .unusable("call_ms", "100 to 86400000", "\(wait)")
    }
    guard 1...1000 ~= deliveries else {
      throw .unusable("max_deliveries", "1 to 1000", "\(deliveries)")
    }
    return Programs.Provider.Terms(wait: wait, maxDeliveries: deliveries)
  }

  var definition: ProvidedService {
    get throws(WireError) {
      try ProvidedService(
        service,
        ProvidedService.Declaration(
          doc: doc ?? "", methods: methods, sources: sources,
          views: views?.text == "{}" ? nil : views))
    }
  }

  static let docs = [
    "service": "The name: 1 to 32 of [a-z0-9_].",
    "doc": "A line about the service.",
    "methods": "By name: doc, params and result (JSON Schemas), delivery (direct or queued).",
    "sources": "Its sources with a line about each, by name.",
    "call_ms": "The time to answer a call, 30000 when left out.",
    "max_deliveries": "The deliveries after which a queued call is parked, 5 when left out.",
    "views": "The texts of its views, by name: SERVICE or SERVICE.NAME.",
  ]
}

private struct NamedService: DocumentedParameters, SourceParameters {
  let service: String

  var source: String { "services/" + service }

  static let docs = ["service": "The name of the service."]
}

private struct ParkedCalls: DocumentedParameters, SourceParameters {
  let service: String
  let call: UInt64?

  var source: String { "services/" + service }

  static let docs = [
    "service": "The name of the service.", "call": "The position of the call; left out: all.",
  ]
}

private struct ReplyToCall: DocumentedParameters {
  struct Value: Decodable {
    let source: String

    /// The value; `nil` removes the source's.
    let value: JSONText?
  }

  let call: String
  let value: JSONText?
  let error: String?
  let events: [Value]?
  let publish: [Value]?

  static let docs = [
    "call": "The number of the call.",
    "value": "The result; left out: null.",
    "error": "Why the provider refuses, instead of a value.",
    "events": "Values to set in the journal before the answer: source and value.",
    "publish": "Values to publish: source and value.",
  ]

  /// Returns the call of a reply that was refused; `nil` if it names none.
  static func call(of request: Request, _ line: Span<UInt8>) -> String? {
    guard let params = request.params else { return nil }
    let value: JSONValue? =
      switch JSONText(scanned: line.extracting(params)).value {
      case .object(let object): object["call"]
      case .array(let elements): elements.first
      default: nil
      }
    guard case .string(let call)? = value else { return nil }
    return call
  }

  /// Answers a direct call with a value only, without a decoder.
  ///
  /// - Returns: Whether it was one.
  static func isAnswered(
    _ programs: Programs, _ context: CallContext, _ call: Call, _ parameters: RequestParameters,
    _ line: Span<UInt8>
  ) -> Bool {
    guard parameters.isComplete, parameters.options == nil, parameters.count == 2,
      let name = parameters.plainString("call", at: 0, in: line),
      let value = parameters.place(of: "value", at: 1, in: line)
    else { return false }
    let id = line.extracting(name)
    guard programs.reply(to: id, line.extracting(value), context.connection) else { return false }
    call.answer(after: context.connection.writtenPosition) { buffer in
      buffer.object { buffer in
        buffer.key("call")
        buffer.append(UInt8(ascii: "\""))
        buffer.append(id)
        buffer.append(UInt8(ascii: "\""))
      }
    }
    return true
  }

  func reply() throws(WireError) -> Programs.Reply {
    guard value == nil || error == nil else {
      throw .unusable("error", "either value or error", "both")
    }
    return Programs.Reply(
      value: value, error: error, events: (events ?? []).map { ($0.source, $0.value) },
      publish: (publish ?? []).map { ($0.source, $0.value) })
  }
}

private struct Publish: DocumentedParameters {
  let source: String
  let value: JSONText?
  let keep: Bool?

  var isKept: Bool { keep == true }

  static let names = Shape(of: Self.self).members.map(\.name)

  static let docs = [
    "source": "The name after services/ or live/, for example lamp/state.",
    "value": "The value; left out: removes it.",
    "keep": "Whether the journal keeps it; left out: only who watches gets it.",
  ]

  static func read(
    _ parameters: RequestParameters, _ line: Span<UInt8>, _ context: CallContext
  ) throws(NotPlain) -> Publish {
    guard let source = parameters.string("source", at: 0, in: line),
      let value = parameters.value("value", at: 1, in: line), value.text != "null"
    else { throw NotPlain() }
    if parameters.count == 2 { return Publish(source: source, value: value, keep: nil) }
    guard parameters.count == 3, let keep = parameters.value("keep", at: 2, in: line)?.bool else {
      throw NotPlain()
    }
    return Publish(source: source, value: value, keep: keep)
  }
}

extension CallContext {
  /// Returns the full name of the source to publish, which the client may write.
  fileprivate func target(
    of publish: Publish, _ programs: Programs
  ) throws(WireError) -> String {
    let service = publish.isKept ? Programs.name : programs.live.service
    if let rule = SourceName.fault(in: publish.source, of: service) {
      throw .unusable("source", rule, "'\(publish.source)'")
    }
    let source = "\(service)/\(publish.source)"
    guard role.mayWrite(source) else { throw access.notWritable(source) }
    try programs.checkPublishing(publish.source, self)
    guard publish.isKept else { return source }
    guard publish.source.contains("/") else {
      throw .unusable("source", "SERVICE/NAME", "'\(publish.source)'")
    }
    try Programs.check(publish.value, "/value")
    return source
  }
}

extension Catalog {
  /// Offers values that are not journaled.
  func offer(
    _ values: LiveValues, _ doc: String, _ description: SourceProvider.Description
  ) {
    offer(values.service, doc)
    line(.sources) { [unowned self] in
      offered(values.service, for: description.name).sources = values.sources(description)
    }
  }

  /// Offers a method that may record events, but need not.
  ///
  /// - Parameters:
  ///   - isQuick: Handles a request without decoding it, if it can.
  ///   - onRefusal: Called before a request is refused.
  ///   - step: Runs it as a part of an `atomic`; `nil` if it cannot be one.
  ///   - reader: Reads plain parameters without a decoder; see ``ParameterReader``.
  ///   - body: Gets the options of the call, and a function that makes the command with them.
  fileprivate func program<Parameters: Decodable>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, _ result: ResultShape,
    writes: [String], errors: [String],
    isQuick: @escaping (CallContext, Call, Request, Span<UInt8>) -> Bool = { _, _, _, _ in false },
    onRefusal: @escaping (CallContext, Request, Span<UInt8>, WireError) -> Void = { _, _, _, _ in },
    step: Method.Step? = nil, reader: ParameterReader<Parameters>? = nil,
    body:
      @escaping (
        CallContext, Call, Parameters, CallOptions?, _ command: () throws(WireError) -> Command
      ) throws(WireError) -> Void
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    offer(name, doc, .command, parameters, result, writes, errors, step: step) {
      context, call, request, line in
      if isQuick(context, call, request, line) { return nil }
      do throws(WireError) {
        let (parameters, options) = try context.parameters(
          Parameters.self, of: request, line, names, .refused, reader)
        let call = try options?.applied(to: call) ?? call
        try body(context, call, parameters, options) { () throws(WireError) in
          try context.command(name, options, isKept: true, isPersonal: false, request, line)
        }
      } catch {
        onRefusal(context, request, line, error)
        call.refuse(error)
      }
      return nil
    }
  }

  /// Returns the method of a provided service that clients call.
  func method(_ method: ProvidedService.Method, of programs: Programs) -> Method {
    let isQueued = method.delivery == .queued
    let result: ResultShape =
      isQueued
      ? .command(UInt64.self) : .members(.init("value", method.result?.shape ?? .any))
    return Method(
      name: method.name, doc: method.doc, kind: isQueued ? .command : .late,
      parameters: method.params.properties.map {
        Method.Parameter(
          name: $0.name, shape: $0.schema.shape,
          isOptional: !method.params.required.contains($0.name), doc: $0.schema.doc)
      },
      value: isQueued ? result.value : method.result?.shape ?? .any, result: result.whole,
      writes: isQueued ? ["services.called"] : [],
      errors: isQueued ? ["too_many"] : ["by_provider"],
      takesUnknown: true, isPersonal: false, site: .active,
      step: isQueued ? programs.step(method) : nil
    ) { [unowned programs] context, call, request, line in
      do {
        if !isQueued, method.params.takesAnyObject, !request.isPositional,
          request.parameters.isComplete, request.parameters.options == nil,
          let text = request.params
        {
          programs.call(method, line.extracting(text), call, by: context.caller)
          return nil
        }
        let options = try method.options(of: request, line, context)
        let params = try method.parameters(of: request, line)
        let call = try options?.applied(to: call) ?? call
        guard isQueued else {
          try options?.checkIsNoCommand("no cmd, expect or lease: a direct call is not recorded")
          programs.call(method, params.text.utf8.span, call, by: context.caller)
          return nil
        }
        try Programs.check(params, "")
        let command = try context.command(
          method.name, options, isKept: true, isPersonal: false, request, line)
        return context.perform(command, call) {
          JSONText(try programs.queue(method, params, by: context.caller))
        }
      } catch {
        call.refuse(context.access.error(error))
        return nil
      }
    }
  }
}

extension Programs {
  /// Returns the function that queues a call as a part of an `atomic`.
  fileprivate func step(_ method: ProvidedService.Method) -> Method.Step {
    { [unowned self] context, request, line throws(WireError) in
      try request.checkHasNoOptions()
      let parameters = try method.parameters(of: request, line)
      try Self.check(parameters, "")
      return { JSONText(try self.queue(method, parameters, by: context.caller)) }
    }
  }
}

extension ProvidedService.Method {
  /// Returns the options of a request; those without parameters by name have none.
  fileprivate func options(
    of request: Request, _ line: Span<UInt8>, _ context: CallContext
  ) throws(WireError) -> CallOptions? {
    let listed = request.parameters
    guard !request.isPositional, !listed.isComplete || listed.options != nil else { return nil }
    return try context.parameters(NoParameters.self, of: request, line, [], .ignored, nil).1
  }

  /// Returns the parameters of a request by name, after a check.
  fileprivate func parameters(
    of request: Request, _ line: Span<UInt8>
  ) throws(WireError) -> JSONText {
    let listed = request.parameters
    if params.takesAnyObject, !request.isPositional, listed.isComplete, listed.options == nil,
      let text = request.params
    {
      return JSONText(scanned: line.extracting(text))
    }
    guard let range = request.params else { return try checked(nil) }
    let text = line.extracting(range)
    try checkCost(of: text)
    return try checked(JSONText(scanned: text).value)
  }

  /// - Throws: `too_expensive` if the parameters have too many parts to check them.
  fileprivate func checkCost(of text: Span<UInt8>) throws(WireError) {
    guard !params.takesAnyObject else { return }
    let parts = JSONSchema.parts(of: text)
    guard parts > JSONSchema.maxParts else { return }
    throw .tooExpensive("call", parts, max: JSONSchema.maxParts)
  }

  /// Returns parameters by name, after a check.
  fileprivate func checked(_ given: JSONValue?) throws(WireError) -> JSONText {
    var object = JSONObject()
    switch given {
    case .object(let given)?:
      object = given
      object[CallOptions.name] = nil
    case .array(let values)?:
      guard values.count <= params.properties.count else {
        throw WireError(
          JSONDecodingError(
            path: "", expected: "at most \(params.properties.count) parameters",
            got: "\(values.count)"))
      }
      for (property, value) in zip(params.properties, values) { object[property.name] = value }
    default: break
    }
    if let fault = params.fault(in: .object(object)) {
      throw WireError(
        JSONDecodingError(path: fault.path, expected: fault.expected, got: fault.got))
    }
    return JSONValue.object(object).text
  }
}
