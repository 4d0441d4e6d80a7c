/// How much the journal keeps of the streams that match a pattern, all of them together.
///
/// For each stream the first rule that matches it counts; what no rule matches is kept for ever.
package struct RetentionRule: Sendable {
  /// The pattern, for people.
  package let streams: String
  package let matches: @Sendable (String) -> Bool

  /// In microseconds; older events go, `nil` for none.
  package let maxAge: Int64?

  /// How many events stay, the newest; `nil` for all.
  package let maxCount: Int?

  /// About how many bytes of events stay, the newest; `nil` for all.
  package let maxBytes: Int?

  package init(
    streams: String, maxAge: Int64? = nil, maxCount: Int? = nil, maxBytes: Int? = nil,
    matches: @escaping @Sendable (String) -> Bool
  ) {
    self.streams = streams
    self.matches = matches
    (self.maxAge, self.maxCount, self.maxBytes) = (maxAge, maxCount, maxBytes)
  }
}
