package import EventSourcing
package import JSON

/// The events of a cell; the cell is the stream.
package enum CellEvent: Equatable {
  case set(JSONText)
  case unset
}

/// Encoded by hand for speed, because a start decodes one event for every change in the journal:
/// `{"value":…}` and `{}`.
extension CellEvent: ServiceEvent {
  package func written(_ coder: EventCoder) -> (kind: String, data: JSONText) {
    switch self {
    case .set(let value): ("set", JSONText(member: "value", value))
    case .unset: ("unset", JSONText(kept: "{}"))
    }
  }

  package static var kinds: Set<String> { ["set", "unset"] }

  package init?(kind: String, data: JSONText, _ coder: EventCoder) {
    switch kind {
    case "set":
      guard let value = data.member("value") else { return nil }
      self = .set(value)
    case "unset": self = .unset
    default: return nil
    }
  }
}
