package import JSON

/// What can happen to a cell; the cell is the stream.
package enum CellEvent: Equatable {
  case set(JSONText)
  case unset
}

/// Written by hand, because a start decodes one of these for every change there ever was:
/// `{"value":…}` and `{}`.
extension CellEvent: ServiceEvent {
  private static let head = #"{"value":"#

  package func written(_ coder: EventCoder) -> (kind: String, data: JSONText) {
    switch self {
    case .set(let value): ("set", JSONText(kept: "\(Self.head)\(value.text)}"))
    case .unset: ("unset", JSONText(kept: "{}"))
    }
  }

  package init?(kind: String, data: JSONText, _ coder: EventCoder) {
    switch kind {
    case "set":
      let utf8 = data.text.utf8
      guard utf8.starts(with: Self.head.utf8), utf8.last == UInt8(ascii: "}") else { return nil }
      let value = data.text.dropFirst(Self.head.utf8.count).dropLast()
      self = .set(JSONText(kept: String(value)))
    case "unset": self = .unset
    default: return nil
    }
  }
}
