package import JSON

/// What must hold for a part of a value, or of the data of an event that is wanted.
package struct Condition: Sendable {
  package typealias Test = JSONTest

  package let place: JSONPointer
  private let test: Test

  package init(_ place: JSONPointer, _ test: Test) {
    self.place = place
    self.test = test
  }

  /// Whether it holds for some data; `nil` is where nothing is.
  package func holds(for data: JSONText?) -> Bool { holds(forPart: data.flatMap(place.find)) }

  /// Whether it holds for what stands at ``place``; `nil` is where nothing is.
  package func holds(forPart value: JSONText?) -> Bool {
    test.holds(for: value)
  }
}
