/// A retention rule for the streams that match a pattern.
///
/// Its limits apply to all these streams together.
///
/// For each stream the first matching rule applies. Streams without a rule are retained forever.
package struct RetentionRule: Sendable {
  /// The pattern, for display.
  package let streams: String
  package let matches: @Sendable (String) -> Bool

  /// The maximum age in microseconds; `nil` for no limit.
  package let maxAge: Int64?

  /// The maximum number of events, the newest first; `nil` for no limit.
  package let maxCount: Int?

  /// The approximate maximum size in bytes, the newest events first; `nil` for no limit.
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
