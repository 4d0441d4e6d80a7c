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
    // Here, because the look at the type costs more than most commands.
    let isPersonal = parameters is any PersonalParameters.Type
    command(
      name, doc, parameters, writes: writes, errors: errors,
      plain: { context, call, request, line throws(NotPlain) in
        let parameters = try reader(request.parameters, line, context)
        return try context.perform(
          name, isPersonal: isPersonal, call, request, line,
          checking: { access throws(WireError) in try access.checkTarget(parameters) }
        ) {
          let value = try body(context, parameters)
          // Most commands return one of these, which need no encoder.
          if let text = value as? JSONText { return text }
          if let number = value as? JSONNumber { return JSONText(trusted: number.text) }
          if let number = value as? Int { return JSONText(number) }
          if let bool = value as? Bool { return JSONText(bool) }
          return try context.catalog.text(value)
        }
      },
      body: body)
  }
}
