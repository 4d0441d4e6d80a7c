internal import JSON

/// The values of derived sources in a state to which events are applied, one after the other.
///
/// The value behind an event is the one before the next event that writes its tables, so it is computed
/// once.
@usableFromInline
package final class DerivedValues {
  /// The most values that are kept between two events.
  private static let maxCount = 256

  /// The known values by the names of the sources; `nil` in it is a source without a value.
  var values: [String: JSONText?] = [:]

  init() {}

  /// Removes all values, when the state has changed in another way.
  func removeAll() {
    if !values.isEmpty { values = [:] }
  }

  /// Removes all values if there are too many.
  func trim() {
    if values.count > Self.maxCount { values = [:] }
  }
}
