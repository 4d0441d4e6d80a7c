internal import API
internal import Connections
internal import EventSourcing
internal import JSON
internal import Wire

extension Catalog {
  /// Offers a command, most requests for which are read without a decoder.
  ///
  /// Requests with unusual options, escapes or errors are decoded; both ways call the same body. This is here,
  /// and not beside the other forms, so that the compiler specializes it; see ``PlainRunner``.
  ///
  /// - Parameter reader: Reads plain parameters.
  func command<Parameters: Decodable, Value: Codable, Failure: ServiceError>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, writes: [String],
    errors: [String] = [], reader: @escaping ParameterReader<Parameters>,
    body: @escaping (CallContext, Parameters) throws(Failure) -> Value
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    command(
      name, doc, parameters, writes: writes, errors: errors,
      plain: { context, call, request, line throws(NotPlain) in
        let parameters = try reader(request.parameters, line, context)
        return try context.perform(
          name, call, request, line,
          checking: { access throws(WireError) in try access.checkTarget(parameters) }
        ) {
          try Self.text(try body(context, parameters), context)
        }
      },
      step: { context, request, line throws(WireError) in
        let parameters = try context.parameters(partOf: request, line, names, reader)
        try context.access.checkTarget(parameters)
        return { try Self.text(try body(context, parameters), context) }
      },
      body: body)
  }

  /// Returns the text of what a command returns.
  private static func text(_ value: some Codable, _ context: CallContext) throws -> JSONText? {
    // Most commands return one of these, which need no encoder.
    if let text = value as? JSONText { return text }
    if let number = value as? JSONNumber { return JSONText(trusted: number.text) }
    if let number = value as? Int { return JSONText(number) }
    if let bool = value as? Bool { return JSONText(bool) }
    return try context.catalog.text(value)
  }
}

extension CallContext {
  /// Returns the parameters of a call within another call.
  fileprivate func parameters<Parameters: Decodable>(
    partOf request: Request, _ line: Span<UInt8>, _ names: [String],
    _ reader: ParameterReader<Parameters>
  ) throws(WireError) -> Parameters {
    let listed = request.parameters
    if listed.isComplete, listed.options == nil {
      do throws(NotPlain) { return try reader(listed, line, self) } catch {}
    }
    return try decode(partOf: request, line, names)
  }
}
