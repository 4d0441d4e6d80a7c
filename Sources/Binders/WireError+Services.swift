internal import JSON
internal import Services
internal import Wire

/// The one place where what services say becomes what the wire says.
extension WireError {
  init(_ refusal: Refusal) {
    switch refusal {
    case .service(let error): self.init(error)
    case .conflict(let stream, let expected, let actual):
      let wanted =
        switch expected {
        case .version(let version): "version \(version)"
        case .none: "no events"
        case .exists: "some events"
        case .any: "anything"
        }
      self.init(
        .conflict, "stream '\(stream)' is at version \(actual), expected \(wanted)",
        [
          "stream": .string(stream), "expected": expected.json,
          "actual": .number(JSONNumber(actual)),
        ])
    case .reused(let seq):
      self.init(
        .cmdReused, "this cmd belonged to another call", ["seq": .number(JSONNumber(seq))])
    case .journal(let fault): self.init(fault)
    }
  }

  private init(_ error: any ServiceError) {
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
      self.init(.rejected, message, ["reason": .string(reason)])
    }
  }

  init(_ fault: JournalFault) {
    switch fault {
    case .readOnly(let reason, let mayBeWritten):
      self.init(
        .readOnly, "\(fault)",
        [
          "reason": .string(reason),
          "outcome": .string(mayBeWritten ? "unknown" : "none"),
        ])
    case .outOfRange(let first, let last):
      self.init(
        .seqExpired, "\(fault)",
        ["first": .number(JSONNumber(first)), "last": .number(JSONNumber(last))])
    case .damaged, .unavailable:
      self.init(.internalError, "\(fault)", ["ref": .string("journal")])
    }
  }
}
