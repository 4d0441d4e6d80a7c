/// An invalid stream name; journals with such a name cannot be imported.
struct StreamFault: ServiceError, Equatable {
  let stream: String
  let rule: String

  /// Checks a stream name.
  ///
  /// - Returns: `nil` if the service may record in the stream.
  init?(_ stream: String, of service: String) {
    if let rule = SourceName.fault(in: stream) {
      self.rule = rule
    } else if stream != service, !SourceName.isSource(stream, of: service) {
      rule = "it does not begin with \(service)/"
    } else {
      return nil
    }
    self.stream = stream
  }

  var kind: ServiceErrorKind { .rejected(reason: "bad_name") }

  var description: String {
    let start = String(decoding: stream.utf8.prefix(SourceName.maxBytes), as: UTF8.self)
    return "'\(start)' is not the name of a stream: \(rule)"
  }
}
