internal import Configuration
package import Connections
package import EventSourcing
package import JSON
internal import Model
package import Wire

extension Catalog {
  /// Offers a method that may record events.
  ///
  /// - Parameters:
  ///   - name: The full name, for example `"cells.set"`.
  ///   - parameters: The parameters, decoded by name, or by position in the order of the type's
  ///     members.
  ///   - writes: The event types that the method may record; `nil` for those of all writable
  ///     sources.
  ///   - errors: The `reason` of each `rejected` error that the method may return.
  ///   - isKept: Whether the answer is stored for `_meta.cmd`. If it is not, because the method
  ///     changes the login or returns a secret, the method accepts no `cmd` and cannot be part of
  ///     an `atomic`.
  ///   - site: The daemon that runs it, where several share a journal.
  ///   - plain: Handles requests with plain parameters, without a decoder; see ``PlainRunner``.
  ///   - step: Runs the command as part of an `atomic`; `nil` for the usual way.
  ///   - body: Calls the service for the client of the context.
  @inlinable
  package func command<Parameters: Decodable, Value: Codable, Failure: ServiceError>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, writes: [String]?,
    errors: [String] = [], isKept: Bool = true, site: Method.Site = .active,
    plain: PlainRunner? = nil, step: Method.Step? = nil,
    body: @escaping (CallContext, Parameters) throws(Failure) -> Value
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    let usual: Method.Step = { context, request, line throws(WireError) in
      let parameters: Parameters = try context.decode(partOf: request, line, names)
      try context.access.checkTarget(parameters)
      return { try context.catalog.text(try body(context, parameters)) }
    }
    offer(
      name, doc, .command, parameters, .command(Value.self), writes, errors, site: site,
      step: isKept ? step ?? usual : nil
    ) { context, call, request, line in
      do throws(WireError) {
        if let plain, request.parameters.isComplete {
          do throws(NotPlain) { return try plain(context, call, request, line) } catch {}
        }
        let (parameters, options): (Parameters, CallOptions?) = try context.decode(
          request, line, names, .refused)
        let command = try context.command(
          name, options, isKept: isKept, isPersonal: false, request, line)
        try context.access.checkTarget(parameters)
        return try context.perform(command, call, options) {
          try context.catalog.text(try body(context, parameters))
        }
      } catch {
        call.refuse(error)
        return nil
      }
    }
  }

  /// Offers a method that writes its own answer.
  ///
  /// For the parameters see ``command(_:_:_:writes:errors:isKept:reader:body:)``.
  @inlinable
  package func query<Parameters: Decodable>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, _ result: ResultShape,
    kind: Method.Kind = .query, site: Method.Site? = nil, errors: [String] = [],
    writes: [String]? = [], unknownParameters: JSONDecoder.UnknownMembers = .refused,
    reader: ParameterReader<Parameters>? = nil,
    body: @escaping (CallContext, Call, Parameters) throws -> Void
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    offer(
      name, doc, kind, parameters, result, writes, errors,
      takesUnknown: unknownParameters == .ignored, site: site
    ) { context, call, request, line in
      do {
        let (parameters, options) = try context.parameters(
          Parameters.self, of: request, line, names, unknownParameters, reader)
        if let options {
          try body(context, try options.applied(to: call), parameters)
        } else {
          try body(context, call, parameters)
        }
      } catch {
        if error is Postponed { return .turn }
        context.endParts()
        call.refuse(context.access.error(error))
      }
      return nil
    }
  }

  /// Offers a query whose answer is a value.
  package func query<Parameters: Decodable, Value: Codable>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type,
    body: @escaping (CallContext, Call, Parameters) throws -> Value
  ) {
    query(name, doc, parameters, .value(Value.self)) { context, call, parameters in
      context.answer(call, with: try body(context, call, parameters))
    }
  }

  package func offer<Parameters: Decodable>(
    _ name: String, _ doc: String, _ kind: Method.Kind, _ parameters: Parameters.Type,
    _ result: ResultShape, _ writes: [String]?, _ errors: [String], takesUnknown: Bool = false,
    site: Method.Site? = nil, step: Method.Step? = nil, run: @escaping Method.Runner
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
        isPersonal: false, site: site, step: step, run: run))
  }
}

extension CallContext: RequestHandler {
  /// Returns the method that a request names; `nil` if there is none for the client's role.
  @inline(__always)
  func method(_ request: Request, _ line: Span<UInt8>) -> Method? {
    methods.find(request, in: line) ?? rights.provided(request, line)
  }

  package func read(
    _ line: Span<UInt8>, into request: inout Request, idBytes: Int
  ) throws(Request.Fault) {
    try methods.read(line, into: &request, idBytes: idBytes)
  }

  package func end() { endParts() }

  package func handle(
    _ call: Call, _ request: Request, _ line: Span<UInt8>
  ) -> Connection.Parking? {
    guard let method = method(request, line) else {
      call.refuse(access.methodNotFound(JSONScanner(line).text(request.method)))
      return nil
    }
    if let forwarder = catalog.forwarder, forwarder.takes(connection),
      method.isAway(request, line, self)
    {
      endParts()
      return forwarder.forward(call, method, request, line, self)
    }
    switch method.kind {
    case .command:
      guard !host.isBehind else { return .durability }
      guard !host.shares.isSpent(caller.uid) else { return waitForShare() }
    case .query, .late, .long:
      // A read sees earlier writes of the same client.
      guard connection.isUpToDate else { return .durability }
      guard method.kind != .long || connection.hasRoomForLate else { return .late }
    case .prompt: break
    }
    method.calls &+= 1
    if connection.isMeasured { connection.endDispatch(to: method.name) }
    guard let reason = method.run(self, call, request, line) else { return nil }
    method.calls &-= 1  // it runs again
    if reason == .work { connection.awaitWork() }
    return reason
  }
}

extension CallContext {
  /// The least time in seconds that a client waits which writes too fast.
  private static let shareSeconds = 0.1

  /// Parks the request until its user may write to the journal again.
  private func waitForShare() -> Connection.Parking {
    let seconds = Double(host.shares.wait(of: caller.uid)) / 1000
    connection.awaitTime(seconds: max(Self.shareSeconds, seconds))
    return .work
  }
}

extension Rights {
  /// Returns the provided method of a request; `nil` if there is none for the role.
  fileprivate func provided(_ request: Request, _ line: Span<UInt8>) -> Method? {
    let token = request.method
    if !token.isEscaped,
      let method = catalog.provided.find(line.extracting(token.start..<token.end))
    {
      return role.methods.allowsAll || role.mayCall(method.name) ? method : nil
    }
    let name = JSONScanner(line).text(token)
    return role.mayCall(name) ? catalog.provided.method(name) : nil
  }

  /// Returns a method of the daemon or of a program; `nil` if there is none for the role.
  package func method(named name: String) -> Method? {
    if let own = methods.find(name) { return own }
    return role.mayCall(name) ? catalog.provided.method(name) : nil
  }

  /// The names of methods that a client may mean by an unknown one: those of the daemon, and those of
  /// a few services made of programs with similar names.
  func methodNames(near name: String) -> [String] {
    methods.methods.map(\.name)
      + catalog.provided.near(String(name.prefix { $0 != "." })).flatMap(\.methods).map(\.name)
      .filter(role.mayCall)
  }

  /// Returns the methods of a service that the role may call, of programs too.
  func methods(ofService name: String) -> [Method] {
    methods.methods.filter { $0.service == name } + methods(ofProgram: name)
  }

  /// Returns the methods of a service made of programs that the role may call.
  func methods(ofProgram name: String) -> [Method] {
    (catalog.provided.service(name)?.methods ?? []).filter { role.mayCall($0.name) }
  }
}

extension CallContext {
  /// The bytes reserved for the rest of the answer to a command.
  package static let answerBytes = 512

  /// Runs a command with options, and answers it once its events are durable.
  ///
  /// - Returns: `.work` if the command must run again after work outside the event loop.
  package func perform(
    _ command: Command, _ call: Call, _ options: CallOptions?, _ body: () throws -> JSONText?
  ) throws(WireError) -> Connection.Parking? {
    // Not `??`, which would copy the call.
    guard let options else { return perform(command, call, body) }
    guard options.settle == true else {
      return perform(command, try options.applied(to: call), body)
    }
    let call = try options.applied(to: call)
    do throws(Refusal) {
      try performSettled(call) { () throws(Refusal) in
        try run(command, call, body)
      } _: {
        $0.write(to: &$3, room: $1, $2)
      }
    } catch .pending {
      return .work
    } catch {
      call.refuse(access.error(error), after: host.last)
    }
    return nil
  }

  private func run(
    _ command: Command, _ call: Call, _ body: () throws -> JSONText?
  ) throws(Refusal) -> Accepted {
    let timer = CallTimer(call, catalog.clock)
    return try host.perform(command) {
      let value = try body()
      try timer.check()
      return value
    }
  }

  /// Runs a command, and answers it once its events are durable; see
  /// ``perform(_:_:_:_:)``.
  package func perform(
    _ command: Command, _ call: Call, _ body: () throws -> JSONText?
  ) -> Connection.Parking? {
    answer(call) { () throws(Refusal) in try run(command, call, body) }
  }

  /// Runs a command, and answers it once its events are durable; see ``perform(_:_:_:_:)``.
  ///
  /// - Parameter onEnd: Called with the last position at once; with `nil` if the command has failed.
  package func perform(
    _ command: Command, _ call: Call, onEnd: (_ seq: UInt64?) -> Void,
    _ body: () throws -> JSONText?
  ) -> Connection.Parking? {
    var seq: UInt64?
    defer { onEnd(seq) }
    return answer(call) { () throws(Refusal) in
      let accepted = try run(command, call, body)
      seq = accepted.seq
      return accepted
    }
  }

  /// Runs a command, and answers it once its events are durable.
  private func answer(
    _ call: Call, _ run: () throws(Refusal) -> Accepted
  ) -> Connection.Parking? {
    do throws(Refusal) {
      answer(call, try run())
    } catch .pending {
      return .work
    } catch {
      // The refusal may depend on events that are not durable yet.
      call.refuse(access.error(error), after: host.last)
    }
    return nil
  }

  /// Creates a command on behalf of the client.
  package func command(_ method: String) -> Command {
    Command(method: method, caller: caller, mayRecord: rights.mayRecord)
  }

  /// Creates a command with its `_meta` options.
  ///
  /// - Parameters:
  ///   - isKept: Whether the answer is stored for `_meta.cmd`.
  ///   - isPersonal: Whether the same `cmd` of another user is a different call.
  package func command(
    _ method: String, _ options: CallOptions?, isKept: Bool, isPersonal: Bool,
    _ request: Request, _ line: Span<UInt8>
  ) throws(WireError) -> Command {
    guard let options else { return command(method) }
    var command = command(method)
    guard isKept || options.cmd == nil else {
      throw .unusable("_meta/cmd", "no cmd: the answer of this method is not stored", "a cmd")
    }
    try add(options, to: &command, request, line)
    if isPersonal { command.addActor(catalog.actor(connection)) }
    return command
  }

  /// Answers a call with a value.
  ///
  /// - Parameter position: The position that must be durable before the answer is sent.
  package func answer(_ call: Call, with value: some Encodable, after position: UInt64 = 0) {
    let text: JSONText
    do {
      text = try catalog.encoder.text(value)
    } catch {
      return call.refuse(catalog.internalError("the result cannot be encoded", "\(error)"))
    }
    call.answer(after: position) { buffer in
      buffer.object { $0.member("value", text) }
    }
  }

  /// Answers a command once its events are durable.
  private func answer(_ call: Call, _ accepted: Accepted) {
    guard !accepted.isValueInJournal, !accepted.isDiskAwaited else {
      return answer(call, accepted) { $0.write(to: &$2, room: $1) }
    }
    if let seq = accepted.seq { connection.recordWrite(upTo: seq) }
    let room = call.room - Self.answerBytes
    call.answer(after: host.last) { accepted.write(to: &$0, room: room) }
  }

  /// Answers a command once its events are durable.
  ///
  /// - Parameter write: Writes the result; `room` is the maximum size of the returned value in
  ///   bytes.
  package func answer(
    _ call: Call, _ accepted: Accepted,
    _ write: @escaping (Accepted, _ room: Int, inout ByteBuffer) -> Void
  ) {
    if let seq = accepted.seq { connection.recordWrite(upTo: seq) }
    let room = call.room - Self.answerBytes
    guard accepted.isValueInJournal || accepted.isDiskAwaited else {
      return call.answer(after: host.last) { write(accepted, room, &$0) }
    }
    guard let call = call.later() else { return }
    host.finish(accepted).answer(call, catalog) { accepted in
      call.answer { write(accepted, room, &$0) }
    }
  }

  // MARK: Decoding

  /// Checks the rights of a command with plain parameters, and runs it; see ``PlainRunner``.
  ///
  /// - Parameter check: Checks the rights on the sources that the parameters name. It is called only if
  ///   the client may not read and write all sources.
  package func perform(
    _ method: String, _ call: Call, _ request: Request, _ line: Span<UInt8>,
    checking check: (Access) throws(WireError) -> Void, _ body: () throws -> JSONText?
  ) throws(NotPlain) -> Connection.Parking? {
    let place = request.parameters.options
    let options = place.flatMap { CallOptions(reading: line, $0) }
    guard (place == nil) == (options == nil) else { throw NotPlain() }
    do throws(WireError) {
      guard options != nil || !(rights.readsAll && rights.writesAll) else {
        // Without a timer: such a command takes microseconds whatever its parameters are, and two looks
        // at the clock would be a large part of that.
        return answer(call) { () throws(Refusal) in try host.perform(self.command(method), body) }
      }
      let command = try command(
        method, options, isKept: true, isPersonal: false, request, line)
      try check(access)
      return try perform(command, call, options, body)
    } catch {
      call.refuse(error)
      return nil
    }
  }

  /// Returns the parameters of a request and the options beside them.
  ///
  /// - Throws: The errors of ``decode(_:_:_:_:)``.
  @inlinable
  package func parameters<Parameters: Decodable>(
    _ type: Parameters.Type, of request: Request, _ line: Span<UInt8>, _ names: [String],
    _ unknown: JSONDecoder.UnknownMembers, _ reader: ParameterReader<Parameters>?
  ) throws(WireError) -> (Parameters, CallOptions?) {
    let listed = request.parameters
    if let reader, listed.isComplete {
      var options: CallOptions?
      if let place = listed.options { options = CallOptions(reading: line, place) }
      if (options == nil) == (listed.options == nil) {
        do throws(NotPlain) {
          return (try reader(listed, line, self), options)
        } catch {}
      }
    }
    return try decode(request, line, names, unknown)
  }

  /// Decodes the parameters of a request, and the options beside them.
  ///
  /// - Throws: ``WireError`` if the parameters are invalid. The options are checked by
  ///   ``CallOptions/applied(to:)``.
  package func decode<Parameters: Decodable>(
    _ request: Request, _ line: Span<UInt8>, _ names: [String],
    _ unknown: JSONDecoder.UnknownMembers
  ) throws(WireError) -> (Parameters, CallOptions?) {
    let decoder = catalog.decoder
    do throws(JSONDecodingError) {
      guard let params = request.params else { return (try decodeNothing(unknown), nil) }
      let text = line.extracting(params)
      if request.isPositional {
        return (try decoder.decode(fromElementsOf: text, named: names), nil)
      }
      let parameters: Parameters = try decoder.decode(
        from: text, beside: CallOptions.name, unknownMembers: unknown)
      return (parameters, try decoder.decodeMember())
    } catch {
      throw WireError(error)
    }
  }

  /// Decodes the parameters of a call within another call, such as `atomic`, which has no options.
  package func decode<Parameters: Decodable>(
    partOf request: Request, _ line: Span<UInt8>, _ names: [String]
  ) throws(WireError) -> Parameters {
    do throws(JSONDecodingError) {
      guard let params = request.params else { return try decodeNothing(.refused) }
      let text = line.extracting(params)
      if request.isPositional {
        return try catalog.decoder.decode(fromElementsOf: text, named: names)
      }
      return try catalog.decoder.decode(from: text)
    } catch {
      throw WireError(error)
    }
  }

  /// Decodes the parameters of a call within another call from their text; `nil` if there are none.
  package func decode<Parameters: Decodable>(
    _ text: JSONText?, _ names: [String]
  ) throws(WireError) -> Parameters {
    try decode(partOf: Request(parameters: text), (text ?? .null).text.utf8.span, names)
  }

  /// Decodes the parameters of a call without any.
  private func decodeNothing<Parameters: Decodable>(
    _ unknown: JSONDecoder.UnknownMembers
  ) throws(JSONDecodingError) -> Parameters {
    if let none = NoParameters() as? Parameters { return none }
    return try catalog.decoder.decode(
      from: "{}".utf8.span, beside: CallOptions.name, unknownMembers: unknown)
  }

  /// Adds the `_meta` options of a request to its command.
  ///
  /// - Parameter handle: A parameter left out of the fingerprint, because a retry uses a new
  ///   subscription handle.
  func add(
    _ options: CallOptions?, to command: inout Command, _ request: Request, _ line: Span<UInt8>,
    besides handle: String? = nil
  ) throws(WireError) {
    guard let options else { return }
    command.expectations = try options.expectations()
    for (stream, _) in command.expectations { try access.checkVersions(of: stream) }
    command.waitsForDisk = options.wait == "disk"
    if let cause = options.cause?.seq {
      guard cause <= host.last else { throw .seqFuture(cause, last: host.last) }
      command.cause = Command.Cause(seq: cause, isNamedByClient: true)
    }
    if let option = options.lease, let lease = catalog.commandParts.lease {
      command.lease = { try lease(self, option) }
    }
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
    let limit = call.connection.callMilliseconds
    most = min(limit, call.timeoutMilliseconds ?? limit)
  }

  /// Checks the time limit.
  ///
  /// - Throws: ``Refusal`` if the method has exceeded it.
  func check() throws(Refusal) {
    guard clock() - begun <= UInt64(most) else { throw .tooLong(milliseconds: most) }
  }
}

/// Reads the parameters of a request from its listed members.
///
/// For small requests a decoder would be most of the cost. Names of sources come from
/// ``ServiceHost/stream(_:prefix:)``.
package typealias ParameterReader<Parameters> = (
  _ parameters: RequestParameters, _ line: Span<UInt8>, _ context: CallContext
) throws(NotPlain) -> Parameters

/// Handles a command whose request has plain parameters.
///
/// A module with commands makes it of a ``ParameterReader`` and a body, in a function of its own. So
/// the compiler specializes it; code that is shared between modules is generic at run time.
package typealias PlainRunner = (
  _ context: CallContext, _ call: Call, _ request: Request, _ line: Span<UInt8>
) throws(NotPlain) -> Connection.Parking?

/// The error of a reader that leaves the parameters to the decoder.
///
/// They are unusual or wrong, or they name a source without events. It is an error, because an
/// optional result would cost a look-up of its type for each request.
package struct NotPlain: Error {
  package init() {}
}

extension Accepted {
  /// Appends the result of a command.
  ///
  /// - Parameter room: The maximum size of the value in bytes. A longer value is omitted, because
  ///   the command has already succeeded.
  func write(to buffer: inout ByteBuffer, room: Int, _ effects: JSONText? = nil) {
    if effects == nil, let value, let seq, let version, lease == nil, !isReplayed,
      value.text.utf8.count <= room
    {
      buffer.append(#"{"value":"#)
      buffer.append(value.text)
      buffer.append(#","seq":"#)
      buffer.append(integer: seq)
      buffer.append(#","version":"#)
      buffer.append(integer: version)
      return buffer.append(UInt8(ascii: "}"))
    }
    buffer.object {
      $0.member("value", value.flatMap { $0.text.utf8.count <= room ? $0 : nil })
      $0.member("seq", seq)
      $0.member("version", version)
      $0.member("lease", lease)
      $0.member("replayed", isReplayed ? true : nil)
      $0.member("effects", effects)
    }
  }
}

extension Command {
  /// Adds the logged-in user to the fingerprint: the same `cmd` of another user is a different
  /// call.
  mutating func addActor(_ name: String?) {
    guard id != nil, let name else { return }
    parameters = "\(name) \(parameters)"
  }
}
