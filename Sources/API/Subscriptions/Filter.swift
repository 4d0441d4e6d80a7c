package import EventSourcing
internal import JSON
internal import Model
package import Wire

/// A filter for events: type and stream must each match one of the patterns, and the data must
/// satisfy all conditions.
///
/// With `by`, it must be of that user.
package struct Filter: Decodable {
  package let types: [String]?
  package let streams: [String]?

  /// The user who has recorded an event.
  let by: UInt32?
  let `where`: [FilterCondition]?

  /// Returns the filter in the form that services use.
  ///
  /// - Throws: `invalid_params` for an invalid pattern or condition; `too_expensive`.
  package func eventFilter(_ limits: Limits) throws(WireError) -> EventFilter {
    guard cost <= limits.filterCost else {
      throw .tooExpensive("filter", cost, max: limits.filterCost)
    }
    var filter = EventFilter(
      streams: try Self.patterns(streams, separator: "/", "streams"),
      types: try Self.patterns(types, separator: ".", "types"))
    filter.by = by
    for (i, condition) in (`where` ?? []).enumerated() {
      filter.conditions.append(try condition.condition(at: "/filter/where/\(i)"))
    }
    return filter
  }

  /// The cost of testing one event: one for each pattern, condition and value of `in`, and one for
  /// each 64 bytes of their texts.
  var cost: Int {
    let patterns = (types ?? []) + (streams ?? [])
    return (by == nil ? 0 : 1) + patterns.reduce(0) { $0 + 1 + $1.utf8.count / 64 }
      + (`where` ?? []).reduce(0) { $0 + $1.cost }
  }

  /// The bytes of all texts.
  var textBytes: Int {
    let patterns = (types ?? []) + (streams ?? [])
    return patterns.reduce(0) { $0 + $1.utf8.count }
      + (`where` ?? []).reduce(0) { $0 + $1.path.utf8.count + ($1.value?.text.utf8.count ?? 0) }
  }

  private static func patterns(
    _ texts: [String]?, separator: Unicode.Scalar, _ name: String
  ) throws(WireError) -> [Pattern]? {
    guard let texts else { return nil }
    var patterns: [Pattern] = []
    for (i, text) in texts.enumerated() {
      guard let pattern = Pattern(text, separator: separator) else {
        throw WireError(
          JSONDecodingError(
            path: "/filter/\(name)/\(i)", expected: "a pattern: * is one part, ** the rest",
            got: "'\(text)'"))
      }
      patterns.append(pattern)
    }
    return patterns
  }
}

extension WireError {
  /// Returns the error for a request whose cost exceeds the limit.
  package static func tooExpensive(_ what: String, _ cost: Int, max: Int) -> WireError {
    WireError(
      .tooExpensive, "the \(what) costs \(cost), a \(what) may cost \(max)",
      ["cost": .number(JSONNumber(cost)), "max": .number(JSONNumber(max))])
  }
}
