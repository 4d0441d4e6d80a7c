internal import Connections
package import EventSourcing
internal import Facts
internal import JSON
package import Signals
internal import Wire

// Methods and sources for logged-in clients.
extension Interface {
  /// Returns the session of a connection.
  ///
  /// It is created on first use and ends with the connection.
  func session(of connection: Connection) -> Session {
    let (id, commons) = (connection.id, commons)
    if let session = commons.sessions[id] {
      session.mayRecord = mayRecord
      session.mayKnow = mayKnowSource
      return session
    }
    let caller = connection.peer
    let session = commons.makeSession?(caller) ?? Session(caller: caller, host: host)
    session.mayRecord = mayRecord
    session.mayKnow = mayKnowSource
    session.onReady = { [weak connection] in connection?.endWork() }
    commons.sessions[id] = session
    connection.bag += BlockDisposable {
      commons.sessions[id] = nil
      session.end()
    }
    return session
  }

  /// Offers a method that may record events and receives the caller's session.
  ///
  /// For the parameters see ``command(_:_:_:writes:errors:direct:body:)``.
  package func command<Parameters: Decodable, Value: Codable, Failure: ServiceError>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, writes: [String],
    errors: [String] = [], in body: @escaping (Session, Parameters) throws(Failure) -> Value
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    let step: Method.Step = { interface, parameters throws(WireError) in
      let parameters: Parameters = try interface.decode(parameters, names)
      try interface.checkTarget(parameters)
      guard let connection = interface.atomicConnection else {
        throw .unusable("method", "a method that needs no session", name)
      }
      let session = interface.session(of: connection)
      interface.atomicSession = session
      return { try interface.text(try body(session, parameters)) }
    }
    offer(name, doc, .command, parameters, .command(Value.self), writes, errors, step: step) {
      interface, call, request, line in
      let session = interface.session(of: call.connection)
      interface.run(name, names, nil, call, request, line, in: session) {
        (parameters: Parameters) in
        try interface.text(try body(session, parameters))
      }
    }
  }

  /// Offers a method whose answer is not stored, because it changes the session or returns a
  /// secret.
  ///
  /// Each call runs the method again. So it accepts no `_meta.cmd` and cannot be part of an
  /// `atomic`.
  package func unkeptCommand<Parameters: Decodable, Value: Codable, Failure: ServiceError>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, writes: [String],
    errors: [String] = [], in body: @escaping (Session, Parameters) throws(Failure) -> Value
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    offer(name, doc, .command, parameters, .command(Value.self), writes, errors) {
      interface, call, request, line in
      var call = call
      do throws(WireError) {
        let parameters: Parameters = try interface.decode(request, line, names, .refused)
        if try interface.options(of: request, &call)?.cmd != nil {
          throw .unusable("_meta/cmd", "no cmd: the answer of this method is not stored", "a cmd")
        }
        let session = interface.session(of: call.connection)
        let accepted = try interface.perform(name, call) {
          try interface.text(try body(session, parameters))
        }
        interface.answer(call, accepted) { $0.write(to: &$2, room: $1) }
      } catch {
        guard !interface.isDeferred else { return }
        call.refuse(error, after: interface.host.last)
      }
    }
  }

  private func perform(
    _ name: String, _ call: Call, _ body: () throws -> JSONText?
  ) throws(WireError) -> Accepted {
    do throws(Refusal) {
      return try host.perform(call.command(name, mayRecord: mayRecord), body)
    } catch {
      throw self.error(error)
    }
  }

  /// Offers the value of a property as a source that is not journaled.
  package func offerSource<Value: Codable>(
    _ name: String, _ doc: String, _ property: AnyProperty<Value>
  ) {
    let encoder = encoder
    func text(_ value: Value) -> JSONText { (try? encoder.text(value)) ?? .null }
    let changes = property.toSignal().dropFirst(1).map {
      SourceChange(source: name, seq: 0, value: text($0))
    }
    offer(
      SourceProvider.Description(name, doc, Shape(of: Value.self)),
      SampledSource(value: { text(property.value) }, changes: changes))
  }
}

extension Command {
  /// Adds the logged-in user to the fingerprint: the same `cmd` of another user is a different
  /// call.
  mutating func noteActor(_ session: Session?) {
    guard id != nil, let name = session?.name else { return }
    parameters = "\(name) \(parameters)"
  }
}
