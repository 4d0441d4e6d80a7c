/// A retention rule for the streams that match a pattern: events beyond any of its limits may be
/// removed.
///
/// Its limits apply to all these streams together, except ``maxStreamBytes``. For each stream the
/// first matching rule applies, and ``byDefault`` if none matches.
package struct Retention: Equatable, Sendable {
  package let streams: Pattern

  /// The maximum age in seconds; `nil` for no limit.
  ///
  /// It is small enough that it fits into an `Int64` as microseconds.
  package let maxAge: Int64?

  /// The maximum number of events, the newest first; `nil` for no limit.
  package let maxCount: Int?

  /// The approximate maximum size in bytes, the newest events first; `nil` for no limit.
  package let maxBytes: Int?

  /// The approximate maximum size in bytes of the events of each single stream; `nil` for no limit.
  package let maxStreamBytes: Int?

  package init(
    streams: Pattern, maxAge: Int64? = nil, maxCount: Int? = nil, maxBytes: Int? = nil,
    maxStreamBytes: Int? = nil
  ) {
    self.streams = streams
    (self.maxAge, self.maxCount, self.maxBytes) = (maxAge, maxCount, maxBytes)
    self.maxStreamBytes = maxStreamBytes
  }

  /// The rule for streams that no other rule matches: 1 GiB of each stream.
  ///
  /// A cell that changes a thousand times a second then fills no disk.
  package static let byDefault = Retention(streams: .everything, maxStreamBytes: 1 << 30)
}

extension Retention: Codable {
  private enum CodingKeys: String, CodingKey {
    case streams
    case maxAge = "max_age_s"
    case maxCount = "max_count"
    case maxBytes = "max_bytes"
    case maxStreamBytes = "max_stream_bytes"
  }

  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    let text = try members.decode(String.self, forKey: .streams)
    maxAge = try members.decodeIfPresent(Int64.self, forKey: .maxAge)
    maxCount = try members.decodeIfPresent(Int.self, forKey: .maxCount)
    maxBytes = try members.decodeIfPresent(Int.self, forKey: .maxBytes)
    maxStreamBytes = try members.decodeIfPresent(Int.self, forKey: .maxStreamBytes)
    guard let pattern = Pattern(text) else {
      throw DecodingError.dataCorruptedError(
        forKey: .streams, in: members, debugDescription: "not a pattern")
    }
    streams = pattern
  }

  package func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(streams.text, forKey: .streams)
    try members.encodeIfPresent(maxAge, forKey: .maxAge)
    try members.encodeIfPresent(maxCount, forKey: .maxCount)
    try members.encodeIfPresent(maxBytes, forKey: .maxBytes)
    try members.encodeIfPresent(maxStreamBytes, forKey: .maxStreamBytes)
  }
}
