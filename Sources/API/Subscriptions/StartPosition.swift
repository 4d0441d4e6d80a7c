internal import EventSourcing
internal import JSON
internal import Wire

/// The start position of a subscription.
enum StartPosition {
  case now
  case after(UInt64)
  case last(Int)
  case time(Timestamp)

  /// The most positions before the end of the journal.
  static let maxLast: Int64 = 1_000_000

  /// Parses `"now"`, `"start"`, `{"after":n}`, `{"last":n}` or `{"time":"…"}`; `nil` for other
  /// values.
  init?(_ value: JSONValue?, first: UInt64) {
    switch value {
    case nil, .string("now"): self = .now
    case .string("start"): self = .after(first - min(first, 1))
    case .object(let object) where object.members.count == 1:
      switch (object.members[0].name, object.members[0].value) {
      case ("after", .number(let number)):
        guard let seq = number.int64, seq >= 0 else { return nil }
        self = .after(UInt64(seq))
      case ("last", .number(let number)):
        guard let count = number.int64, 0...Self.maxLast ~= count else { return nil }
        self = .last(Int(count))
      case ("time", .string(let text)):
        guard let time = Timestamp(text) else { return nil }
        self = .time(time)
      default: return nil
      }
    default: return nil
    }
  }
}
