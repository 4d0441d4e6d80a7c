package import JSON

/// Turns events into text and back; kept and reused by whoever needs one, on one thread.
package final class EventCoder {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  package init() {}

  /// A value as text.
  func text(_ value: some Encodable) -> JSONText {
    do {
      return try encoder.text(value)
    } catch {
      preconditionFailure("\(type(of: value)) does not encode: \(error)")
    }
  }

  /// A value of a text; `nil` when it does not fit.
  ///
  /// Members that are not known are passed over.
  func value<Value: Decodable>(_ type: Value.Type = Value.self, of text: JSONText) -> Value? {
    try? decoder.decode(type, from: text, unknownMembers: .ignored)
  }
}

/// The name of a case is the kind, its associated values are the data: `{"kind":data}` taken apart.
extension ServiceEvent where Self: Codable {
  package func written(_ coder: EventCoder) -> (kind: String, data: JSONText) {
    guard case .object(let object) = coder.text(self).value, object.members.count == 1 else {
      preconditionFailure("\(Self.self) is not an enum that the compiler encodes")
    }
    let member = object.members[0]
    return (member.name, member.value.text)
  }

  package init?(kind: String, data: JSONText, _ coder: EventCoder) {
    var object = JSONObject()
    object[kind] = data.value
    guard let event = coder.value(Self.self, of: JSONValue.object(object).text) else { return nil }
    self = event
  }
}
