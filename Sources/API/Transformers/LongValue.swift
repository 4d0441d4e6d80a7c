package import JSON
package import Model

/// The value of a long list or map, or a long array or object of another source, decoded in steps.
///
/// The elements are those of one position, also if the source changes meanwhile.
package struct LongValue {
  /// The elements that one step decodes.
  private static let perStep = 512

  /// The bytes from which a text is decoded in steps.
  private static let longText = 16 << 10

  /// The elements that are left to decode.
  private enum Rest {
    case elements(SourceCollection)
    case text(JSONPartReader)
  }

  /// The number of the last change that it has.
  package let number: UInt64
  package let position: UInt64
  private let isArray: Bool
  private var rest: Rest
  private var values: [JSONValue] = []
  private var members = JSONObject()

  /// Whether all elements are decoded.
  package private(set) var isComplete = false

  /// Creates the value of a list or map.
  ///
  /// - Returns: `nil` if it is short.
  package init?(_ elements: SourceCollection?, number: UInt64, at position: UInt64) {
    guard let elements, elements.isLong else { return nil }
    (rest, isArray) = (.elements(elements), elements.isList)
    (self.number, self.position) = (number, position)
    reserve(elements.count)
  }

  /// Creates the value of a text.
  ///
  /// - Returns: `nil` if it is short, or no array or object.
  package init?(_ text: JSONText?, number: UInt64, at position: UInt64) {
    guard let text, let reader = Self.reader(of: text) else { return nil }
    (rest, isArray) = (.text(reader), reader.isArray)
    (self.number, self.position) = (number, position)
    // An element has at least a byte and a comma, a member also a name.
    reserve(text.text.utf8.count / (isArray ? 2 : 6))
  }

  /// Creates the present value of a source; see the other initializers.
  package init?(of source: String, _ provider: SourceProvider, number: UInt64, at position: UInt64)
  {
    if let elements = provider.collection(source) {
      self.init(elements, number: number, at: position)
    } else {
      self.init(provider.value(source), number: number, at: position)
    }
  }

  /// Returns whether a text is decoded in steps.
  package static func isLong(_ text: JSONText?) -> Bool {
    text.flatMap(reader) != nil
  }

  /// Returns what decodes a text in steps; `nil` if it is short, or no array or object.
  private static func reader(of text: JSONText) -> JSONPartReader? {
    text.text.utf8.count >= longText ? JSONPartReader(text) : nil
  }

  /// Makes room, because to move all elements when there is no more would be one long step.
  private mutating func reserve(_ count: Int) {
    if isArray { values.reserveCapacity(count) } else { members.reserveCapacity(count) }
  }

  /// Decodes the next elements.
  package mutating func step() {
    var (values, members) = ([JSONValue](), JSONObject())
    swap(&values, &self.values)
    swap(&members, &self.members)
    switch rest {
    case .elements(let elements):
      var left = Self.perStep
      elements.forEach(from: values.count + members.members.count) { key, text in
        if let key { members[key] = text.value } else { values.append(text.value) }
        left -= 1
        return left > 0
      }
      isComplete = values.count + members.members.count == elements.count
    case .text(var reader):
      reader.read(atMost: Self.perStep) { key, value in
        if let key { members[key] = value } else { values.append(value) }
      }
      rest = .text(reader)
      isComplete = reader.isAtEnd
    }
    swap(&values, &self.values)
    swap(&members, &self.members)
  }

  package var value: JSONValue { isArray ? .array(values) : .object(members) }

  /// Returns all that is decoded, to be freed.
  package consuming func parts() -> (values: [JSONValue], members: [JSONObject.Member]) {
    (values, members.members)
  }
}
