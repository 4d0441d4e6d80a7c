internal import Connections
package import JSON
package import Services
internal import Wire

extension Interface {
  // MARK: Offering

  /// Offers a method of a service that may record events.
  ///
  /// - Parameters:
  ///   - name: The whole name, for example `"cells.set"`.
  ///   - parameters: Decoded by name or, in the order of the type's members, by position.
  ///   - writes: The types of events that it may record; `nil` for those of all writable sources.
  ///   - errors: The `reason` of each `rejected` that it may answer.
  ///   - direct: Reads the parameters in their usual form; see ``DirectReader``.
  ///   - body: Calls the service.
  package func command<Parameters: Decodable, Value: Codable, Failure: ServiceError>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, writes: [String]?,
    errors: [String] = [], direct: DirectReader<Parameters>? = nil,
    body: @escaping (Parameters) throws(Failure) -> Value
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    offer(name, doc, .command, parameters, Shape(of: Value.self), writes, errors) {
      interface, call, request, line in
      interface.run(name, names, direct, call, request, line) { (parameters: Parameters) in
        try interface.text(try body(parameters))
      }
    }
  }

  /// Offers a method that writes its own answer.
  func query<Parameters: Decodable>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, _ result: Shape?,
    isLate: Bool = false, unknownParameters: JSONDecoder.UnknownMembers = .refused,
    direct: DirectReader<Parameters>? = nil,
    body: @escaping (Interface, Call, Parameters) -> Void
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    offer(name, doc, isLate ? .late : .query, parameters, result, [], []) {
      interface, call, request, line in
      do throws(WireError) {
        let parameters: Parameters = try interface.decode(
          request, line, names, direct, unknownParameters)
        body(interface, call, parameters)
      } catch {
        call.refuse(error)
      }
    }
  }

  func offer<Parameters: Decodable>(
    _ name: String, _ doc: String, _ kind: Method.Kind, _ parameters: Parameters.Type,
    _ result: Shape?, _ writes: [String]?, _ errors: [String],
    run: @escaping Method.Runner
  ) {
    let docs = (parameters as? any DocumentedParameters.Type)?.docs ?? [:]
    let described = Shape(of: parameters).members.map {
      Method.Parameter(
        name: $0.name, shape: $0.shape, isOptional: $0.isOptional, doc: docs[$0.name])
    }
    add(
      Method(
        name: name, doc: doc, kind: kind, parameters: described, result: result, writes: writes,
        errors: errors, run: run))
  }

  /// Answers a call with a value.
  func answer(_ call: Call, with value: some Encodable) {
    let text: JSONText
    do {
      text = try encoder.text(value)
    } catch {
      return call.refuse(internalError("the result does not encode", "\(error)"))
    }
    call.answer { buffer in
      buffer.append(#"{"value":"#)
      buffer.append(text.text)
      buffer.append("}")
    }
  }

  // MARK: Running

  /// Runs a request of a client.
  func run(
    _ call: Call, _ request: Request, _ line: Span<UInt8>
  ) -> LineSplitter.Verdict {
    guard let method = methods.find(request.method, in: line) else {
      caller = call.caller
      call.refuse(methodNotFound(JSONScanner(line).text(request.method)))
      return .done
    }
    let connection = call.connection
    if method.kind == .command {
      guard !host.isBehind else { return .later }
    } else {
      // What a client has written it finds when it reads.
      guard !connection.hasUndurableWrites, !connection.hasHeldAnswers else { return .later }
    }
    caller = call.caller
    method.run(self, call, request, line)
    return .done
  }

  private func methodNotFound(_ name: String) -> WireError {
    if withheld.contains(name) { noteRefusal("to call \(name)") }
    var data: JSONObject = ["method": .string(name)]
    if let guess = nearest(to: name, among: methods.methods.lazy.map(\.name)) {
      data["did_you_mean"] = .string(guess)
    }
    return WireError(.methodNotFound, "no method '\(name)'", data)
  }

  /// What stands around the value in the answer to a command.
  static let answerBytes = 512

  /// Runs a command and answers it when it is durable.
  private func run<Parameters: Decodable>(
    _ name: String, _ names: [String], _ direct: DirectReader<Parameters>?, _ call: Call,
    _ request: Request, _ line: Span<UInt8>, _ body: (Parameters) throws -> JSONText?
  ) {
    var command = call.command(name, mayRecord: mayRecord)
    let parameters: Parameters
    do throws(WireError) {
      if let direct, let read = request.read(direct, line) {
        parameters = read
      } else {
        parameters = try decode(request, line, names, nil)
        try addOptions(to: &command, request, line, call.connection.limits)
      }
      try checkTarget(parameters)
    } catch {
      return call.refuse(error)
    }
    do throws(Refusal) {
      let accepted = try host.perform(command) { try body(parameters) }
      if let seq = accepted.seq {
        call.connection.writtenPosition = max(call.connection.writtenPosition, seq)
      }
      answer(call, with: accepted)
    } catch {
      // What it was refused for may not be durable yet.
      call.refuse(self.error(error), after: host.last)
    }
  }

  private func answer(_ call: Call, with accepted: Accepted) {
    let room = call.connection.lineOut - Self.answerBytes
    guard accepted.isValueInJournal else {
      return call.answer(after: host.last) { accepted.write(to: &$0, room: room) }
    }
    guard let call = call.later() else { return }
    host.withValue(accepted).answer(call, self) { accepted in
      call.answer { accepted.write(to: &$0, room: room) }
    }
  }

  /// The parameters of a request.
  func decode<Parameters: Decodable>(
    _ request: Request, _ line: Span<UInt8>, _ names: [String],
    _ direct: DirectReader<Parameters>?, _ unknown: JSONDecoder.UnknownMembers = .refused
  ) throws(WireError) -> Parameters {
    if let direct, let read = request.read(direct, line) { return read }
    do throws(JSONDecodingError) {
      guard let params = request.params else {
        if let none = NoParameters() as? Parameters { return none }
        return try decoder.decode(
          from: "{}".utf8.span, beside: CallOptions.name, unknownMembers: unknown)
      }
      let text = line.extracting(params)
      if request.isPositional {
        return try decoder.decode(fromElementsOf: text, named: names)
      }
      return try decoder.decode(from: text, beside: CallOptions.name, unknownMembers: unknown)
    } catch {
      throw WireError(error)
    }
  }

  /// What `_meta` of the request that was decoded last says.
  func addOptions(
    to command: inout Command, _ request: Request, _ line: Span<UInt8>, _ limits: Limits
  ) throws(WireError) {
    guard !request.isPositional else { return }
    let options: CallOptions?
    do throws(JSONDecodingError) {
      options = try decoder.decodeMember()
    } catch {
      throw WireError(error)
    }
    guard let options else { return }
    for (stream, expected) in options.expect ?? [:] {
      guard let expectation = Services.Expectation(expected) else {
        throw WireError(
          JSONDecodingError(
            path: "/_meta/expect/" + stream,
            expected: #"a version, "none", "exists" or "any""#, got: "another value"))
      }
      try checkVersions(of: stream)
      command.expectations.append((stream, expectation))
    }
    guard let id = options.cmd else { return }
    guard 1...limits.commandBytes ~= id.utf8.count, !id.utf8.contains(0) else {
      throw WireError(
        JSONDecodingError(
          path: "/_meta/cmd", expected: "1 to \(limits.commandBytes) bytes without NUL",
          got: "\(id.utf8.count) bytes"))
    }
    command.id = id
    command.parameters = request.parameters(in: line, except: CallOptions.name)
  }
}

/// Reads parameters by hand in the form that clients usually write them in.
///
/// That is an object with just these members in just this order. For any other form, `_meta`
/// included, it returns `nil`, and the type is decoded, which is most of what a small request costs.
package typealias DirectReader<Parameters> = (
  _ object: inout JSONScanner, _ line: Span<UInt8>
) throws(JSONFault) -> Parameters?

extension Request {
  fileprivate func read<Parameters>(
    _ direct: DirectReader<Parameters>, _ line: Span<UInt8>
  ) -> Parameters? {
    guard let params, !isPositional else { return nil }
    var scanner = JSONScanner(line, at: params.lowerBound)
    return try? direct(&scanner, line)
  }
}

/// The options of a call (`params._meta`), apart from the service's own parameters.
private struct CallOptions: Decodable {
  static let name = "_meta"

  let cmd: String?
  let expect: [String: JSONValue]?
}

extension Services.Expectation {
  /// `n`, `"none"`, `"exists"` or `"any"`.
  fileprivate init?(_ value: JSONValue) {
    switch value {
    case .number(let number):
      guard let version = number.int64, version >= 0 else { return nil }
      self = .version(UInt64(version))
    case .string("none"): self = .none
    case .string("exists"): self = .exists
    case .string("any"): self = .any
    default: return nil
    }
  }

  /// As it stands in a request.
  var json: JSONValue {
    switch self {
    case .version(let version): .number(JSONNumber(version))
    case .none: .string("none")
    case .exists: .string("exists")
    case .any: .string("any")
    }
  }
}

extension Accepted {
  /// Appends the result of a command.
  ///
  /// - Parameter room: How long the value may be: what was done is not answered as an error because
  ///   it does not fit.
  func write(to buffer: inout ByteBuffer, room: Int) {
    buffer.append("{")
    let value = value.flatMap { $0.text.utf8.count <= room ? $0 : nil }
    if let value {
      buffer.append(#""value":"#)
      buffer.append(value.text)
    }
    if let seq {
      buffer.append(value == nil ? #""seq":"# : #","seq":"#)
      buffer.append(integer: seq)
    }
    if let version {
      buffer.append(#","version":"#)
      buffer.append(integer: version)
    }
    if isReplayed { buffer.append(#","replayed":true"#) }
    buffer.append("}")
  }
}

extension Connection {
  /// The client as services know it.
  var caller: Caller { Caller(uid: peer.uid, pid: peer.pid) }
}

extension Call {
  /// Who calls.
  var caller: Caller { connection.caller }

  /// A command in the name of who calls.
  func command(_ method: String, mayRecord: ((String) -> Bool)?) -> Command {
    Command(method: method, caller: caller, mayRecord: mayRecord)
  }
}
