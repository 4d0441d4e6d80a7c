internal import Connections
internal import JSON
package import Services
package import Signals
internal import Wire

// What is offered to whoever is logged in on a connection.
extension Interface {
  /// The session of a client, from the first time that something asks for it until the client leaves.
  func session(of connection: Connection) -> Session {
    let (id, commons) = (connection.id, commons)
    if let session = commons.sessions[id] {
      session.mayRecord = mayRecord
      session.mayKnow = mayKnowSource
      return session
    }
    let caller = connection.caller
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

  /// Offers a method that may record events, and is told whose session it is called in.
  ///
  /// For its parameters see ``command(_:_:_:writes:errors:direct:body:)``.
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

  /// Offers a method that does more than it records: to the session, or with a secret.
  ///
  /// It is run whenever it is called, and what it answers is kept nowhere. So it takes no `_meta.cmd`
  /// and is no part of an `atomic`.
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
          throw .unusable("_meta/cmd", "nothing: the answer of this method is not kept", "a cmd")
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

  /// Offers a value that is no event: shown as it is, journaled never.
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
  /// Who is logged in is a part of what is asked: the same call of somebody else under the same
  /// identity is another one.
  mutating func noteActor(_ session: Session?) {
    guard id != nil, let name = session?.name else { return }
    parameters = "\(name) \(parameters)"
  }
}
