package import JSON

/// Encodes events as text and decodes them; reusable, but only on one thread.
@usableFromInline
package final class EventCoder {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  package init() {}

  /// Encodes a value as JSON text.
  package func text(_ value: some Encodable) -> JSONText {
    do {
      return try encoder.text(value)
    } catch {
      preconditionFailure("\(type(of: value)) does not encode: \(error)")
    }
  }

  /// Decodes a value from JSON text; returns `nil` if the text does not match the type.
  ///
  /// Unknown members are ignored.
  func value<Value: Decodable>(_ type: Value.Type = Value.self, of text: JSONText) -> Value? {
    try? decoder.decode(type, from: text, unknownMembers: .ignored)
  }
}

/// Splits the compiler's encoding `{"kind":data}`: the name of the case is the kind, and its
/// associated values are the data.
extension ServiceEvent where Self: Codable {
  package func write(to data: inout ByteBuffer, _ coder: EventCoder) -> String {
    guard case .object(let object) = coder.text(self).value, object.members.count == 1 else {
      preconditionFailure("\(Self.self) is not an enum that the compiler encodes")
    }
    let member = object.members[0]
    data.append(member.value.text.text)
    return member.name
  }

  package init?(kind: String, data: JSONText, _ coder: EventCoder) {
    var object = JSONObject()
    object[kind] = data.value
    guard let event = coder.value(Self.self, of: JSONValue.object(object).text) else { return nil }
    self = event
  }
}
