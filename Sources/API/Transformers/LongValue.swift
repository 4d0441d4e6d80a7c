package import JSON
package import Model

/// The value of a long list or map, which is decoded in steps.
///
/// The elements are those of one position, also if the list changes meanwhile.
package struct LongValue {
  /// The elements that one step decodes.
  private static let perStep = 512

  /// The number of the last change that it has.
  package let number: UInt64
  package let position: UInt64
  private let elements: SourceCollection
  private var values: [JSONValue] = []
  private var members = JSONObject()

  /// - Returns: `nil` if the list is short.
  package init?(_ elements: SourceCollection?, number: UInt64, at position: UInt64) {
    guard let elements, elements.isLong else { return nil }
    (self.elements, self.number, self.position) = (elements, number, position)
    // To move all of them when there is no more room would be one long step.
    if elements.isList {
      values.reserveCapacity(elements.count)
    } else {
      members.reserveCapacity(elements.count)
    }
  }

  private var next: Int { values.count + members.members.count }

  /// Whether all elements are decoded.
  package var isComplete: Bool { next == elements.count }

  /// Decodes the next elements.
  package mutating func step() {
    var (values, members) = ([JSONValue](), JSONObject())
    swap(&values, &self.values)
    swap(&members, &self.members)
    var left = Self.perStep
    elements.forEach(from: values.count + members.members.count) { key, text in
      if let key { members[key] = text.value } else { values.append(text.value) }
      left -= 1
      return left > 0
    }
    swap(&values, &self.values)
    swap(&members, &self.members)
  }

  package var value: JSONValue { elements.isList ? .array(values) : .object(members) }

  /// Returns all that is decoded, to be freed.
  package consuming func parts() -> (values: [JSONValue], members: [JSONObject.Member]) {
    (values, members.members)
  }
}
