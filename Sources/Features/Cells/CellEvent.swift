package import EventSourcing
package import JSON

/// The events of a cell; the cell is the stream.
package enum CellEvent: Equatable {
  case set(JSONText)
  case removed
}

/// Encoded by hand for speed, because a start decodes one event for every change in the journal:
/// `{"value":…}` and `{}`.
extension CellEvent: ServiceEvent {
  package func write(to data: inout ByteBuffer, _ coder: EventCoder) -> String {
    switch self {
    case .set(let value):
      data.object { $0.member("value", value) }
      return "set"
    case .removed:
      data.object { _ in }
      return "removed"
    }
  }

  package static var kinds: Set<String> { ["set", "removed"] }

  package init?(kind: String, data: JSONText, _ coder: EventCoder) {
    switch kind {
    case "set":
      guard let value = data.member("value") else { return nil }
      self = .set(value)
    case "removed": self = .removed
    default: return nil
    }
  }
}
