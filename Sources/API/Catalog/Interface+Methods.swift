internal import Connections
package import EventSourcing
internal import Facts
package import JSON
internal import Wire

extension Interface {
  // MARK: Offering

  /// Offers a method of a service that may record events.
  ///
  /// - Parameters:
  ///   - name: The full name, for example `"cells.set"`.
  ///   - parameters: The parameters, decoded by name, or by position in the order of the type's
  ///     members.
  ///   - writes: The event types that the method may record; `nil` for those of all writable
  ///     sources.
  ///   - errors: The `reason` of each `rejected` error that the method may return.
  ///   - direct: Reads the parameters in their usual form; see ``DirectReader``.
  ///   - body: Calls the service.
  package func command<Parameters: Decodable, Value: Codable, Failure: ServiceError>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, writes: [String]?,
    errors: [String] = [], direct: DirectReader<Parameters>? = nil,
    body: @escaping (Parameters) throws(Failure) -> Value
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    let step: Method.Step = { interface, parameters throws(WireError) in
      let parameters: Parameters = try interface.decode(parameters, names)
      try interface.checkTarget(parameters)
      return { try interface.text(try body(parameters)) }
    }
    offer(name, doc, .command, parameters, .command(Value.self), writes, errors, step: step) {
      interface, call, request, line in
      interface.run(name, names, direct, call, request, line) { (parameters: Parameters) in
        try interface.text(try body(parameters))
      }
    }
  }

  /// Offers a method that writes its own answer.
  func query<Parameters: Decodable>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, _ result: ResultShape,
    kind: Method.Kind = .query, unknownParameters: JSONDecoder.UnknownMembers = .refused,
    direct: DirectReader<Parameters>? = nil,
    body: @escaping (Interface, Call, Parameters) -> Void
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    offer(
      name, doc, kind, parameters, result, [], [], takesUnknown: unknownParameters == .ignored
    ) { interface, call, request, line in
      var call = call
      do throws(WireError) {
        let parameters: Parameters
        if let direct, let read = request.read(direct, line) {
          parameters = read
        } else {
          parameters = try interface.decode(request, line, names, unknownParameters)
          _ = try interface.options(of: request, &call)
        }
        body(interface, call, parameters)
      } catch {
        call.refuse(error)
      }
    }
  }

  func offer<Parameters: Decodable>(
    _ name: String, _ doc: String, _ kind: Method.Kind, _ parameters: Parameters.Type,
    _ result: ResultShape, _ writes: [String]?, _ errors: [String], takesUnknown: Bool = false,
    step: Method.Step? = nil, run: @escaping Method.Runner
  ) {
    let docs = (parameters as? any DocumentedParameters.Type)?.docs ?? [:]
    let described = Shape(of: parameters).members.map {
      Method.Parameter(
        name: $0.name, shape: $0.shape, isOptional: $0.isOptional, doc: docs[$0.name])
    }
    add(
      Method(
        name: name, doc: doc, kind: kind, parameters: described, value: result.value,
        result: result.whole, writes: writes, errors: errors, takesUnknown: takesUnknown,
        step: step, run: run))
  }

  /// Answers a call with a value.
  func answer(_ call: Call, with value: some Encodable) {
    let text: JSONText
    do {
      text = try encoder.text(value)
    } catch {
      return call.refuse(internalError("the result cannot be encoded", "\(error)"))
    }
    call.answer { buffer in
      buffer.append(#"{"value":"#)
      buffer.append(text.text)
      buffer.append("}")
    }
  }

  // MARK: Running

  /// Runs a request of a client.
  ///
  /// - Returns: The condition that the request must wait for; `nil` if it was handled.
  func run(
    _ call: Call, _ request: Request, _ line: Span<UInt8>
  ) -> Connection.Parking? {
    guard let method = methods.find(request.method, in: line) else {
      caller = call.caller
      call.refuse(methodNotFound(JSONScanner(line).text(request.method)))
      return nil
    }
    let connection = call.connection
    switch method.kind {
    case .command:
      guard !host.isBehind else { return .durability }
    case .query, .late, .long:
      // A read sees earlier writes of the same client.
      guard !connection.hasUndurableWrites, !connection.hasHeldAnswers else { return .durability }
      guard method.kind != .long || connection.hasRoomForLate else { return .late }
    case .prompt: break
    }
    caller = call.caller
    method.run(self, call, request, line)
    guard isDeferred else { return nil }
    isDeferred = false
    connection.awaitWork()
    return .work
  }

  /// Checks that a method exists, whether or not the role may call it.
  ///
  /// - Throws: `method_not_found`.
  func checkExists(_ method: String) throws(WireError) {
    guard methods.methods.contains(where: { $0.name == method }) || withheld.contains(method) else {
      throw methodNotFound(method)
    }
  }

  func methodNotFound(_ name: String) -> WireError {
    if withheld.contains(name) { noteRefusal("to call \(name)") }
    var data: JSONObject = ["method": .string(name)]
    if let guess = nearest(to: name, among: methods.methods.lazy.map(\.name)) {
      data["did_you_mean"] = .string(guess)
    }
    return WireError(.methodNotFound, "no method '\(name)'", data)
  }

  /// The bytes reserved for the rest of the answer to a command.
  static let answerBytes = 512

  /// Runs a command, and answers it once its events are durable.
  func run<Parameters: Decodable>(
    _ name: String, _ names: [String], _ direct: DirectReader<Parameters>?, _ call: Call,
    _ request: Request, _ line: Span<UInt8>, in session: Session? = nil,
    _ body: (Parameters) throws -> JSONText?
  ) {
    var call = call
    var command = call.command(name, mayRecord: mayRecord)
    let parameters: Parameters
    do throws(WireError) {
      if let direct, let read = request.read(direct, line) {
        parameters = read
      } else {
        parameters = try decode(request, line, names, .refused)
        try addOptions(to: &command, request, line, &call)
        command.noteActor(session)
      }
      try checkTarget(parameters)
    } catch {
      return call.refuse(error)
    }
    do throws(Refusal) {
      let timer = CallTimer(call, commons.clock)
      let accepted = try host.perform(command) {
        let value = try body(parameters)
        try timer.check()
        return value
      }
      answer(call, accepted) { $0.write(to: &$2, room: $1) }
    } catch {
      // The refusal may depend on events that are not durable yet.
      call.refuse(self.error(error), after: host.last)
    }
  }

  /// Answers a command once its events are durable.
  ///
  /// - Parameter write: Writes the result; `room` is the maximum size of the returned value in
  ///   bytes.
  func answer(
    _ call: Call, _ accepted: Accepted,
    _ write: @escaping (Accepted, _ room: Int, inout ByteBuffer) -> Void
  ) {
    let connection = call.connection
    if let seq = accepted.seq { connection.noteWritten(upTo: seq) }
    let room = call.room - Self.answerBytes
    guard accepted.isValueInJournal || accepted.isDiskAwaited else {
      return call.answer(after: host.last) { write(accepted, room, &$0) }
    }
    guard let call = call.later() else { return }
    host.finish(accepted).answer(call, self) { accepted in
      call.answer { write(accepted, room, &$0) }
    }
  }

  /// Decodes the parameters of a request.
  func decode<Parameters: Decodable>(
    _ request: Request, _ line: Span<UInt8>, _ names: [String],
    _ unknown: JSONDecoder.UnknownMembers
  ) throws(WireError) -> Parameters {
    do throws(JSONDecodingError) {
      guard let params = request.params else { return try decodeNothing(unknown) }
      let text = line.extracting(params)
      if request.isPositional {
        return try decoder.decode(fromElementsOf: text, named: names)
      }
      return try decoder.decode(from: text, beside: CallOptions.name, unknownMembers: unknown)
    } catch {
      throw WireError(error)
    }
  }

  /// Decodes the parameters of a call within another call, such as `atomic`.
  func decode<Parameters: Decodable>(
    _ parameters: JSONText?, _ names: [String]
  ) throws(WireError) -> Parameters {
    do throws(JSONDecodingError) {
      guard let parameters else { return try decodeNothing(.refused) }
      if parameters.text.utf8.first == UInt8(ascii: "[") {
        return try decoder.decode(fromElementsOf: parameters.text.utf8.span, named: names)
      }
      return try decoder.decode(from: parameters)
    } catch {
      throw WireError(error)
    }
  }

  /// Decodes the parameters of a call without any.
  private func decodeNothing<Parameters: Decodable>(
    _ unknown: JSONDecoder.UnknownMembers
  ) throws(JSONDecodingError) -> Parameters {
    if let none = NoParameters() as? Parameters { return none }
    return try decoder.decode(
      from: "{}".utf8.span, beside: CallOptions.name, unknownMembers: unknown)
  }

  /// Adds the `_meta` options of the last decoded request to a command.
  ///
  /// - Parameter handle: A parameter left out of the fingerprint, because a retry uses a new
  ///   subscription handle.
  func addOptions(
    to command: inout Command, _ request: Request, _ line: Span<UInt8>, _ call: inout Call,
    besides handle: String? = nil
  ) throws(WireError) {
    guard let options = try options(of: request, &call) else { return }
    command.expectations = try options.expectations()
    for (stream, _) in command.expectations { try checkVersions(of: stream) }
    command.waitsForDisk = options.wait == "disk"
    guard let id = options.cmd else { return }
    command.id = id
    command.parameters = request.parameters(
      in: line, except: [CallOptions.name] + (handle.map { [$0] } ?? []))
  }
}

/// Measures the running time of a method.
struct CallTimer {
  private let begun: UInt64
  private let most: Int
  private let clock: () -> UInt64

  /// Starts the timer.
  ///
  /// - Parameter clock: Returns milliseconds of a monotonic clock that advances while a method
  ///   runs.
  init(_ call: Call, _ clock: @escaping () -> UInt64) {
    self.clock = clock
    begun = clock()
    let limit = call.connection.limits.callMilliseconds
    most = min(limit, call.timeoutMilliseconds ?? limit)
  }

  /// Checks the time limit.
  ///
  /// - Throws: ``Refusal`` if the method has exceeded it.
  func check() throws(Refusal) {
    guard clock() - begun <= UInt64(most) else { throw .tooLong(milliseconds: most) }
  }
}

/// Reads parameters by hand in the form that clients usually send, which is faster than decoding.
///
/// The usual form is an object with exactly these members in this order. For any other form, also
/// with `_meta`, the reader returns `nil` and the parameters are decoded. Decoding is most of the
/// cost of a small request.
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

extension Accepted {
  /// Appends the result of a command.
  ///
  /// - Parameter room: The maximum size of the value in bytes. A longer value is omitted, because
  ///   the command has already succeeded.
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
    if isReplayed {
      buffer.append(value == nil && seq == nil ? #""replayed":true"# : #","replayed":true"#)
    }
    buffer.append("}")
  }
}

extension Call {
  /// The client that makes the call.
  var caller: Peer { connection.peer }

  /// Creates a command on behalf of the calling client.
  func command(_ method: String, mayRecord: ((String) -> Bool)?) -> Command {
    Command(method: method, caller: caller, mayRecord: mayRecord)
  }
}
