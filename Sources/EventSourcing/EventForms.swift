package import JSON
internal import Journal

/// The stored type of an event: a name and the version of its data's form.
///
/// `cells.set` is the first form, `cells.set@2` the second, and so on.
struct EventType: Equatable {
  let name: Substring
  let form: Int

  init(_ text: String) {
    guard let mark = text.utf8.lastIndex(of: UInt8(ascii: "@")),
      let form = Int(text[text.index(after: mark)...]), form > 1
    else {
      (name, self.form) = (text[...], 1)
      return
    }
    (name, self.form) = (text[..<mark], form)
  }

  static func text(_ name: String, form: Int) -> String { form > 1 ? "\(name)@\(form)" : name }

  /// Returns the name without the form.
  static func name(of text: String) -> String {
    text.utf8.contains(UInt8(ascii: "@")) ? String(EventType(text).name) : text
  }
}

/// Converts the data of an event from one form to the next; a pure function.
package typealias Upcaster = @Sendable (JSONText) -> JSONText

/// The current and former forms of a service's events.
package struct EventForms: Sendable {
  /// The result of reading a stored event.
  enum Reading: Equatable {
    case event(kind: String, data: JSONText)
    /// The form is unknown; `known` is the highest known form.
    case newer(known: Int)
  }

  /// The conversions for each changed event kind, from each form to the next, the oldest first.
  private let upcasters: [String: [Upcaster]]

  init(_ upcasters: [String: [Upcaster]]) {
    self.upcasters = upcasters
  }

  /// True if no event kind has changed.
  var isEmpty: Bool { upcasters.isEmpty }

  /// Returns the form in which new events of a kind are recorded.
  func present(_ kind: String) -> Int { (upcasters[kind]?.count ?? 0) + 1 }

  /// Converts an event to its current form.
  ///
  /// - Parameter kind: The stored kind, including its form.
  func read(_ kind: Substring, _ data: JSONText) -> Reading {
    if upcasters.isEmpty, !kind.utf8.contains(UInt8(ascii: "@")) {
      return .event(kind: String(kind), data: data)
    }
    let type = EventType(String(kind))
    let name = String(type.name)
    let steps = upcasters[name] ?? []
    guard type.form <= steps.count + 1 else { return .newer(known: steps.count + 1) }
    return .event(kind: name, data: steps[(type.form - 1)...].reduce(data) { $1($0) })
  }
}

/// Encodes events as text and decodes them; reusable, but only on one thread.
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

/// The unknown events of a service, which the replay has skipped.
///
/// The state does not contain them. A snapshot after them would hide them from a newer program,
/// so none may be written.
package struct UnknownKinds: Equatable, Sendable {
  /// The position of the first one.
  package private(set) var first: UInt64?

  /// The number of events of each type.
  package private(set) var counts: [String: Int] = [:]

  mutating func note(_ record: Record) {
    if first == nil { first = record.seq }
    counts[record.type, default: 0] += 1
  }
}
