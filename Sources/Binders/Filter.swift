internal import JSON
internal import Services
internal import Wire

/// Which events are wanted: of types and streams that match one of the patterns each.
struct Filter: Decodable {
  let types: [String]?
  let streams: [String]?

  /// The filter as services understand it.
  ///
  /// - Throws: `invalid_params` for a pattern that is none.
  func eventFilter() throws(WireError) -> EventFilter {
    let types = try Self.patterns(types, separator: ".", "types")
    let streams = try Self.patterns(streams, separator: "/", "streams")
    var filter = EventFilter()
    if let types { filter.type = { type in types.contains { $0.matches(type) } } }
    if let streams {
      if streams.count == 1, streams[0].isLiteral {
        filter.onlyStream = streams[0].text
      } else {
        filter.stream = { stream in streams.contains { $0.matches(stream) } }
      }
    }
    return filter
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

  /// By which subscriptions with the same filter are known.
  var key: String {
    "\(types.map { "\($0)" } ?? "-") \(streams.map { "\($0)" } ?? "-")"
  }
}
