package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

/// Offers the services in files, and what is known about them.
package func bindScripts(_ catalog: Catalog, to scripts: ScriptsService) {
  scripts.isReserved = { [unowned catalog] name in
    catalog.isReserved(name) || catalog.provided.service(name) != nil
  }
  scripts.eventTypes = { [unowned catalog] in catalog.eventTypes }
  catalog.offer("The texts of the services in files.", scripts.ledger)
  catalog.offerTables(of: scripts.ledger)
  catalog.command(
    "scripts.forget", "Ends a service whose file is gone; its events stay.", ForgetScript.self,
    writes: ["scripts.removed"], errors: ["in_file"]
  ) { _, forget throws(ScriptRefusal) in
    try scripts.forget(forget.service)
    return Nothing()
  }
  catalog.query(
    "scripts.status", "The services in files, and whether they run.", NoParameters.self,
    .members(.init("services", .array(ScriptService.shape)))
  ) { _, call, _ in
    let services = scripts.shown.map(\.status)
    call.answer { buffer in
      buffer.object { $0.member("services", JSONValue.array(services).text) }
    }
  }
  bindTrials(catalog, to: scripts)
  for service in scripts.shown { bindScript(catalog, to: service) }
}

/// Offers the sources and methods of a service in a file.
private func bindScript(_ catalog: Catalog, to service: ScriptService) {
  let script = service.script
  let doc = script.declaration.doc ?? ""
  catalog.add(
    service.name, doc, events: script.eventTypes, isInFile: true, rowNames: service.rowNames(of:))
  catalog.offerTables(of: service.ledger)
  for method in script.declaration.commands {
    catalog.add(ScriptMethod(method, isQuery: false, of: service).offered)
  }
  for method in script.declaration.queries {
    catalog.add(ScriptMethod(method, isQuery: true, of: service).offered)
  }
}

extension Catalog {
  /// Offers the services in files again, because some have changed.
  package func refill(_ scripts: ScriptsService) {
    let all = Set(scripts.services.keys).union([scripts.ledger.service])
    refill(without: all) { bindScripts($0, to: scripts) }
  }
}

extension Feature {
  package static func scripts(_ scripts: ScriptsService) -> Feature {
    Feature(begin: scripts.begin, stop: scripts.stop) { bindScripts($0, to: scripts) }
  }
}

private struct ForgetScript: DocumentedParameters, SourceParameters {
  let service: String

  var source: String { "scripts/" + service }

  static let docs = ["service": "The name of the service."]
}

/// A method of a script, as clients call it.
private struct ScriptMethod {
  private let method: ScriptDeclaration.Method
  private let isQuery: Bool
  private let service: ScriptService
  private let name: String
  private let parameters: ScriptParameters

  init(_ method: ScriptDeclaration.Method, isQuery: Bool, of service: ScriptService) {
    (self.method, self.isQuery, self.service) = (method, isQuery, service)
    name = "\(service.name).\(method.name)"
    parameters = ScriptParameters(method.parameters)
  }

  var offered: Method {
    let result = ResultShape.command(JSONText.self)
    return Method(
      name: name, doc: method.doc, kind: isQuery ? .query : .command,
      parameters: method.parameters.map {
        Method.Parameter(
          name: $0.name, shape: $0.shape, isOptional: $0.isOptional, doc: $0.doc)
      },
      value: .any,
      result: isQuery ? ResultShape.members(.optional("value", .any)).whole : result.whole,
      writes: isQuery ? [] : service.script.eventTypes, errors: method.rejects ?? [],
      takesUnknown: false, isPersonal: false, site: isQuery ? .here : .active,
      step: isQuery ? nil : step, run: run)
  }

  /// Runs a command as a part of an `atomic`.
  private func step(
    _ context: CallContext, _ request: Request, _ line: Span<UInt8>
  ) throws(WireError) -> () throws -> JSONText? {
    try request.checkHasNoOptions()
    let checked = try parameters.checked(
      request.params.map { JSONText(scanned: line.extracting($0)) })
    try checkRuns()
    if service.isNew || service.isReplacing { throw folding }
    return { try runNamed(call(checked, context)) }
  }

  private func call(_ parameters: JSONText, _ context: CallContext) -> ScriptCall {
    ScriptCall(
      method.name, isQuery: isQuery, parameters, uid: context.caller.uid, pid: context.caller.pid)
  }

  private func run(
    _ context: CallContext, _ call: Call, _ request: Request, _ line: Span<UInt8>
  ) -> Connection.Parking? {
    do {
      let options = try options(of: request, line, context)
      let checked = try parameters.read(request, line)
      try checkRuns()
      if try waits(call.connection) { return .work }
      guard !isQuery else {
        let call = try options?.applied(to: call) ?? call
        try options?.checkIsNoCommand("no cmd, expect or lease: a query is not recorded")
        let value = try runNamed(self.call(checked, context))
        call.answer { buffer in buffer.object { $0.member("value", value) } }
        return nil
      }
      let command = try context.command(
        name, options, isKept: true, isPersonal: false, request, line)
      return try context.perform(command, call, options) {
        try service.run(self.call(checked, context))
      }
    } catch {
      call.refuse(context.access.error(error))
      return nil
    }
  }

  /// Runs a query or a part of an `atomic`; a failure names the method, as that of a command does.
  private func runNamed(_ call: ScriptCall) throws -> JSONText? {
    do {
      return try service.run(call)
    } catch let failure as FailedScript {
      throw failure.naming(name)
    }
  }

  private func options(
    of request: Request, _ line: Span<UInt8>, _ context: CallContext
  ) throws(WireError) -> CallOptions? {
    let listed = request.parameters
    guard !request.isPositional, !listed.isComplete || listed.options != nil else { return nil }
    return try context.parameters(NoParameters.self, of: request, line, [], .ignored, nil).1
  }

  /// - Throws: `unavailable` if the service has stopped.
  private func checkRuns() throws(WireError) {
    if let stopped = service.stopped {
      throw WireError(
        .unavailable, service.message(of: stopped),
        [
          "service": .string(service.name), "reason": .string("service_stopped"),
          "seq": .number(JSONNumber(stopped.seq)),
        ], retry: false)
    }
    guard service.isNew, !service.isFolding, let refused = service.refused else { return }
    throw WireError(
      .unavailable, refused,
      ["service": .string(service.name), "reason": .string("service_stopped")], retry: false)
  }

  /// The most milliseconds that a call waits while the first text of the service folds the past.
  private static let mostMilliseconds: UInt64 = 3_000

  /// Returns whether a call waits, because the service has no state yet, or another one takes its place.
  ///
  /// - Throws: `unavailable` if the first text still folds the past after ``mostMilliseconds``.
  private func waits(_ connection: Connection) throws(WireError) -> Bool {
    guard service.isNew || service.isReplacing && !isQuery else { return false }
    if service.isNew {
      let waited = connection.waitedMilliseconds
      guard waited < Self.mostMilliseconds else { throw folding }
      connection.awaitTime(seconds: Double(Self.mostMilliseconds - waited) / 1000)
    }
    service.wait { [weak connection] in connection?.endWork() }
    return true
  }

  private var folding: WireError {
    WireError(
      .unavailable, "service '\(service.name)' folds its past first",
      ["service": .string(service.name), "reason": .string("folding")])
  }
}

/// Checks and collects the parameters of a method of a script.
struct ScriptParameters {
  private let declared: [ScriptDeclaration.Parameter]

  /// The checks of their values, in the same order.
  private let checks: [Check]
  private let required: Int

  /// The names of the parameters that are times.
  private let times: [String]

  /// The name of a parameter, and which values it takes.
  ///
  /// Made once, because a comparison of words for each value costs more than all the rest.
  private final class Check {
    let name: [UInt8]
    let isOptional: Bool
    let type: Kind

    enum Kind {
      case any, number, integer, yesno, list, map, name, text
      case choices([String])
      case format(Shape.Format)
    }

    init(_ parameter: ScriptDeclaration.Parameter) {
      (name, isOptional) = (Array(parameter.name.utf8), parameter.isOptional)
      if let choices = parameter.choices {
        type = .choices(choices)
        return
      }
      switch parameter.type {
      case "any": type = .any
      case "number": type = .number
      case "integer": type = .integer
      case "yesno": type = .yesno
      case "list": type = .list
      case "map": type = .map
      case "name": type = .name
      default:
        let format = parameter.format
        type = format.map { $0 == .secret ? .text : .format($0) } ?? .text
      }
    }

    /// Returns whether a value has the type; `first` is its first byte.
    func fits(_ value: Span<UInt8>, _ first: UInt8) -> Bool {
      if isOptional, first == UInt8(ascii: "n") { return true }
      let isNumber = first == UInt8(ascii: "-") || 0x30...0x39 ~= first
      switch type {
      case .any: return true
      case .number: return isNumber
      case .integer: return isNumber && JSONText(trusted: value).number?.int64 != nil
      case .yesno: return first == UInt8(ascii: "t") || first == UInt8(ascii: "f")
      case .list: return first == UInt8(ascii: "[")
      case .map: return first == UInt8(ascii: "{")
      case .name:
        return JSONText(trusted: value).string.map {
          SourceName.fault(in: $0) == nil && !$0.contains("/")
        } ?? false
      case .text: return first == UInt8(ascii: "\"")
      case .choices(let choices):
        let text = JSONText(trusted: value).string
        return choices.contains { $0 == text }
      case .format(let format):
        return first == UInt8(ascii: "\"")
          && JSONText(trusted: value).string.flatMap(format.normal) != nil
      }
    }
  }

  init(_ declared: [ScriptDeclaration.Parameter]) {
    self.declared = declared
    checks = declared.map(Check.init)
    required = declared.count { !$0.isOptional }
    times = declared.filter { $0.type == "time" }.map(\.name)
  }

  /// Returns the parameters of a request as an object, without its options.
  func read(_ request: Request, _ line: Span<UInt8>) throws(WireError) -> JSONText {
    if let plain = plain(request, line) { return plain }
    guard let range = request.params else { return try checked(nil) }
    return try checked(JSONText(scanned: line.extracting(range)))
  }

  /// Returns the parameters if the scan of the line has listed them, and each fits as it is; `nil` if
  /// ``checked(_:)`` has to look at them.
  private func plain(_ request: Request, _ line: Span<UInt8>) -> JSONText? {
    let listed = request.parameters
    guard !request.isPositional, listed.isComplete, listed.options == nil, times.isEmpty else {
      return nil
    }
    var found = 0
    var seen: UInt64 = 0
    var object = ByteBuffer()
    for i in 0..<listed.count {
      let member = listed.member(at: i)
      let (name, value) = (line.extracting(member.name), line.extracting(member.value))
      guard member.isCompact, let place = index(of: name), seen & 1 << UInt64(place) == 0,
        checks[place].fits(value, value[0])
      else { return nil }
      seen |= 1 << UInt64(place)
      if !checks[place].isOptional { found += 1 }
      object.append(i == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
      object.append(UInt8(ascii: "\""))
      object.append(name)
      object.append(UInt8(ascii: "\""))
      object.append(UInt8(ascii: ":"))
      object.append(value)
    }
    if listed.count == 0 { object.append(UInt8(ascii: "{")) }
    object.append(UInt8(ascii: "}"))
    let text = JSONText(trusted: object.span)
    return found == required && ValueFault(text) == nil ? text : nil
  }

  /// Checks parameters by name or by position, and returns them as an object.
  func checked(_ text: JSONText?) throws(WireError) -> JSONText {
    guard let text else { return try named(JSONText(trusted: "{}")) }
    guard let elements = text.elements else { return try named(text) }
    guard elements.count <= declared.count else {
      throw WireError(
        JSONDecodingError(
          path: "", expected: "at most \(declared.count) parameters", got: "\(elements.count)"))
    }
    var object = ByteBuffer()
    object.object { buffer in
      for (parameter, value) in zip(declared, elements) {
        buffer.key(quoted: parameter.name)
        buffer.append(value.text)
      }
    }
    return try named(JSONText(trusted: object.string))
  }

  private func named(_ text: JSONText) throws(WireError) -> JSONText {
    var (found, hasOptions): (Int, Bool) = (0, false)
    var seen: UInt64 = 0
    var fault: JSONDecodingError?
    let isObject = text.forEachMember(inBytes: { name, value in
      guard fault == nil else { return }
      if name.hasSameBytes(as: "_meta".utf8.span) {
        hasOptions = true
      } else if let i = index(of: name) {
        let check = checks[i]
        if let first = value.isEmpty ? nil : value[0], !check.fits(value, first) {
          fault = declared[i].fault(of: value, first)
        }
        // A method has at most 32 parameters.
        if seen & (1 << UInt64(i)) != 0 {
          fault = JSONDecodingError(
            path: "/\(declared[i].name)", expected: "each member once", got: "a duplicate")
        }
        seen |= 1 << UInt64(i)
        if !check.isOptional { found += 1 }
      } else {
        let name = String(validUTF8: name)
        fault = JSONDecodingError(
          path: "/\(name)", expected: "no parameter of this name", got: "one")
      }
    })
    guard isObject else {
      throw WireError(JSONDecodingError(path: "", expected: "an object", got: "another value"))
    }
    if let fault { throw WireError(fault) }
    if found < required { try reportMissing(text) }
    if let fault = ValueFault(text) {
      throw WireError(
        JSONDecodingError(
          path: "", expected: fault.expected, got: "\(text.text.utf8.count) bytes"))
    }
    guard hasOptions || !times.isEmpty else { return text }
    var members = text.members ?? [:]
    members["_meta"] = nil
    for name in times {
      // So that a script can compare the times of all clients as texts.
      if let time = members[name]?.string.flatMap(Shape.Format.time.normal) {
        members[name] = JSONText(string: time)
      }
    }
    return JSONText(members: members)
  }

  private func index(of name: Span<UInt8>) -> Int? {
    for i in checks.indices {
      let known = checks[i].name
      if name.hasSameBytes(as: known.span) { return i }
    }
    return nil
  }

  private func reportMissing(_ text: JSONText) throws(WireError) {
    let members = text.members ?? [:]
    for parameter in declared where !parameter.isOptional && members[parameter.name] == nil {
      throw WireError(
        JSONDecodingError(
          path: "/\(parameter.name)", expected: parameter.expected, got: "nothing"))
    }
  }
}

extension ScriptDeclaration.Parameter {
  fileprivate var expected: String {
    if let choices { return choices.map { "\"\($0)\"" }.joined(separator: " or ") }
    return switch type {
    case "number": "number"
    case "integer": "integer"
    case "yesno": "boolean"
    case "list": "array"
    case "map": "object"
    case "any": "any value"
    case "name": "a name of A-Z a-z 0-9 _ . : -"
    default: format?.article ?? "string"
    }
  }

  /// Returns the rule that a value breaks which has another type; `first` is its first byte.
  fileprivate func fault(of value: Span<UInt8>, _ first: UInt8) -> JSONDecodingError {
    // For a value of another type bindctl names the cure.
    let isText = first == UInt8(ascii: "\"") && (format != nil || choices != nil || type == "name")
    let got =
      isText ? String(validUTF8: value.extracting(first: 40)) : Self.kind(of: first)
    return JSONDecodingError(path: "/\(name)", expected: expected, got: got)
  }

  /// Returns the kind of the JSON that begins with a byte.
  private static func kind(of first: UInt8) -> String {
    switch first {
    case UInt8(ascii: "\""): "string"
    case UInt8(ascii: "["): "array"
    case UInt8(ascii: "{"): "object"
    case UInt8(ascii: "t"), UInt8(ascii: "f"): "boolean"
    case UInt8(ascii: "n"): "null"
    default: "number"
    }
  }

  fileprivate var format: Shape.Format? { type.flatMap(Shape.Format.init) }
}

extension ScriptService {
  fileprivate static let shape = Shape.object([
    .init("service", .string), .init("file", .string), .init("sha256", .string),
    .init("state", .words(["runs", "stopped", "folding"])), .optional("seq", .natural),
    .optional("message", .string), .optional("refused", .string),
  ])

  fileprivate var status: JSONValue {
    var object: JSONObject = [
      "service": .string(name), "file": .string(script.file),
      "sha256": .string(SHA256.hash(script.text)),
      "state": .string(
        stopped != nil || isNew && !isFolding ? "stopped" : isFolding ? "folding" : "runs"),
    ]
    if let stopped {
      object["seq"] = .number(JSONNumber(stopped.seq))
      object["message"] = .string(message(of: stopped))
    }
    if let refused { object["refused"] = .string(refused) }
    return .object(object)
  }
}
