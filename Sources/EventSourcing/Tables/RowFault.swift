/// The error of a command that writes a row, or records an event, that cannot be stored.
struct RowFault: ServiceError {
  let fault: StorageFault

  var kind: ServiceErrorKind { .rejected(reason: "bad_value") }

  var description: String { fault.description }
}

extension Refusal {
  /// Creates the error of a command whose event the tables refuse.
  init(_ fault: TableReport.Fault) {
    switch fault {
    case .name(let source, let rule): self = .service(StreamFault(stream: source, rule: rule))
    case .stored(let fault): self = .service(RowFault(fault: fault))
    case .program(let rule): self = .unexpected(detail: rule)
    }
  }
}
