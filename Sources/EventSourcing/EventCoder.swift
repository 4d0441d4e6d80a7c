package import JSON

/// Encodes events as text and decodes them; reusable, but only on one thread.
@usableFromInline
package final class EventCoder {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  /// An event as the compiler encodes it.
  private var whole = ByteBuffer()

  private static let keptBytes = 64 << 10

  /// The reason why the last event cannot be stored, because of a value that a client has given.
  private var fault: StorageFault?

  /// Whether the last event cannot be stored.
  @usableFromInline
  private(set) var hasFault = false

  /// Lets the command of the event that is written now fail, because the event is too large.
  package func refuse(_ fault: ValueFault) { (self.fault, hasFault) = (.value(fault), true) }

  /// Returns the fault, and forgets it.
  func removeFault() -> StorageFault? {
    defer { (fault, hasFault) = (nil, false) }
    return fault
  }

  /// The kind of an event that cannot be written; its command fails.
  private static let unwritten = "unwritten"

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
  package func value<Value: Decodable>(_ type: Value.Type = Value.self, of text: JSONText) -> Value?
  {
    try? decoder.decode(type, from: text, unknownMembers: .ignored)
  }

  /// Appends the data of an event that the compiler encodes as `{"kind":data}`.
  ///
  /// - Returns: The kind. If the event has a number that is not finite, ``hasFault`` is set.
  package func write(_ event: some Encodable, to data: inout ByteBuffer) -> String {
    whole.removeAll(keepingCapacity: Self.keptBytes)
    do {
      try encoder.encode(event, to: &whole)
    } catch {
      (fault, hasFault) = (.notEncoded(type: "\(type(of: event))"), true)
      data.append("null")
      return Self.unwritten
    }
    guard let kind = Self.split(whole, to: &data) else {
      preconditionFailure("\(type(of: event)) is not an enum that the compiler encodes")
    }
    return kind
  }

  /// Appends the value of an object with one member to a buffer, and returns the member's name.
  private static func split(
    _ whole: borrowing ByteBuffer, to data: inout ByteBuffer
  ) -> String? {
    let bytes = whole.span
    var scanner = JSONScanner(bytes)
    guard (try? scanner.enterObject()) == true, let name = try? scanner.key() else { return nil }
    data.append(bytes.extracting(scanner.position..<bytes.count - 1))
    return scanner.text(name)
  }

  /// Decodes an event from `{"kind":data}`; returns `nil` if the type has no such kind.
  package func event<Event: Decodable>(_ kind: String, _ data: JSONText) -> Event? {
    whole.removeAll(keepingCapacity: Self.keptBytes)
    whole.append(UInt8(ascii: "{"))
    whole.append(quoted: kind)
    whole.append(UInt8(ascii: ":"))
    whole.append(data.text)
    whole.append(UInt8(ascii: "}"))
    return Self.decode(whole, by: decoder)
  }

  private static func decode<Value: Decodable>(
    _ text: borrowing ByteBuffer, by decoder: JSONDecoder
  ) -> Value? {
    try? decoder.decode(from: text.span, unknownMembers: .ignored)
  }
}

/// The name of the case is the kind, and its associated values are the data.
extension ServiceEvent where Self: Codable {
  package func write(to data: inout ByteBuffer, _ coder: EventCoder) -> String {
    coder.write(self, to: &data)
  }

  package init?(kind: String, data: JSONText, _ coder: EventCoder) {
    guard let event: Self = coder.event(kind, data) else { return nil }
    self = event
  }
}
