package import EventSourcing
package import JSON
package import Model

/// The state of all cells: each is a stream, and the source of the same name.
package struct Cells: NumberedState {
  /// The values by the number of a cell's name.
  private var values = NumberMap<JSONText?>(empty: nil)

  package init() {}

  /// Decodes a snapshot by hand for speed, because there may be a million cells.
  ///
  /// The snapshot is one object with the values by full name.
  package init?(snapshot text: JSONText, by coder: EventCoder, _ names: Names) {
    var last = -1
    let isObject = text.forEachMember(inBytes: { name, value in
      values[names.add(name, after: &last)] = JSONText(trusted: value)
    })
    guard isObject else { return nil }
  }

  package func encodeSnapshot(by coder: EventCoder, _ names: NameList) -> JSONText {
    var text = ByteBuffer()
    text.object { text in
      values.forEach { number, value in
        guard let value else { return }
        text.key(quoted: names[number])
        text.append(value.text)
      }
    }
    return JSONText(trusted: text.string)
  }

  package static var upcasters: [Upcaster] {
    // Form 1 is `{"values":{name:value}}`; form 2 is the inner object alone.
    [{ $0.members?["values"] ?? .null }]
  }

  package mutating func set(_ value: JSONText?, numbered stream: Int) { values[stream] = value }

  package static func value(after event: CellEvent) -> JSONText? {
    switch event {
    case .set(let value): value
    case .removed: nil
    }
  }

  package func value(numbered stream: Int) -> JSONText? { values[stream] }

  package func forEachNumber(_ body: (Int) -> Void) {
    values.forEach { if $1 != nil { body($0) } }
  }

  package static func removal(after event: CellEvent, in stream: Stream) -> CellEvent? { .removed }
}

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
      guard let value = data.onlyMember("value") else { return nil }
      self = .set(value)
    case "removed": self = .removed
    default: return nil
    }
  }
}

/// An error from reading or changing a cell.
package enum CellsError: ServiceError, Equatable {
  case badName(rule: String)
  case badValue(ValueFault)
  case notANumber(name: String)
  case notABoolean(name: String)
  case outOfRange(name: String)
  case differs(name: String)

  package var kind: ServiceErrorKind {
    switch self {
    case .badName(let rule): .invalid(parameter: "name", expected: rule)
    case .badValue(let fault): .invalid(parameter: "value", expected: fault.expected)
    case .notANumber: .rejected(reason: "not_a_number")
    case .notABoolean: .rejected(reason: "not_a_boolean")
    case .outOfRange: .rejected(reason: "out_of_range")
    case .differs: .rejected(reason: "value_differs")
    }
  }

  package var description: String {
    switch self {
    case .badName(let rule): rule
    case .badValue(let fault): "\(fault)"
    case .notANumber(let name): "cell '\(name)' is not a number"
    case .notABoolean(let name): "cell '\(name)' is neither true nor false"
    case .outOfRange(let name):
      "the sum for cell '\(name)' needs more than 64 digits or is beyond a double"
    case .differs(let name): "cell '\(name)' holds another value"
    }
  }
}
