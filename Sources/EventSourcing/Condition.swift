package import JSON

/// A test on a part of a value or of an event's data.
package struct Condition: Sendable {
  package typealias Test = JSONTest

  package let place: JSONPointer
  private let test: Test

  package init(_ place: JSONPointer, _ test: Test) {
    self.place = place
    self.test = test
  }

  /// Returns whether the condition holds for some data; `nil` means no data.
  package func holds(for data: JSONText?) -> Bool { holds(forPart: data.flatMap(place.find)) }

  /// Returns whether the condition holds for the value at ``place``; `nil` means no value.
  package func holds(forPart value: JSONText?) -> Bool {
    test.holds(for: value)
  }
}
