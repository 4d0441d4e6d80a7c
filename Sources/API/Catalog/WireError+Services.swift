package import EventSourcing
internal import JSON
internal import Model
package import Wire

// Maps errors of services to wire errors.
extension WireError {
  package init(_ error: any ServiceError) {
    let message = "\(error)"
    switch error.kind {
    case .invalid(let parameter, let expected):
      self.init(
        .invalidParams, message,
        [
          "path": .string("/" + parameter), "expected": .string(expected),
          "got": .string("another value"),
        ])
    case .notFound(let what, let id):
      self.init(.notFound, message, ["what": .string(what), "id": .string(id)])
    case .alreadyExists(let what, let id):
      self.init(.alreadyExists, message, ["what": .string(what), "id": .string(id)])
    case .rejected(let reason):
      self.init(.rejected, message, ["reason": .string(reason)], retry: error.isPassing)
    }
  }

  /// Returns the error with the path of its parameter moved below another one.
  func below(_ place: String) -> WireError {
    guard name == .invalidParams, case .string(let path)? = data["path"] else { return self }
    var error = self
    error.data["path"] = .string(place + path)
    return error
  }

  /// Returns the error for a stream that is not at the expected version.
  static func conflict(
    _ stream: String, expected: EventSourcing.Expectation, actual: UInt64
  ) -> WireError {
    let wanted =
      switch expected {
      case .version(let version): "version \(version)"
      case .none: "no events"
      case .exists: "some events"
      case .any: "anything"
      }
    return WireError(
      .conflict, "stream '\(stream)' is at version \(actual), expected \(wanted)",
      [
        "stream": .string(stream), "expected": expected.json,
        "actual": .number(JSONNumber(actual)),
      ])
  }

  /// Returns the error for a `cmd` that was used by another call, whose last event has this
  /// position.
  static func reused(_ seq: UInt64?) -> WireError {
    var data = JSONObject()
    if let seq { data["seq"] = .number(JSONNumber(seq)) }
    return WireError(.cmdReused, "this cmd was used for another call", data)
  }

  /// Returns the error for a position after the end of the journal.
  package static func seqFuture(_ seq: UInt64, last: UInt64) -> WireError {
    WireError(
      .seqFuture, "position \(seq) is beyond the end of the journal (\(last))",
      ["last": .number(JSONNumber(last))])
  }

  /// Returns the error for a position before the first retained event.
  static func seqExpired(first: UInt64, last: UInt64) -> WireError {
    WireError(
      .seqExpired, "\(JournalError.outOfRange(first: first, last: last))",
      ["first": .number(JSONNumber(first)), "last": .number(JSONNumber(last))])
  }
}
