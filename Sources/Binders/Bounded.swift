internal import JSON

/// A position in the journal as a client names it; beyond these there never is one.
struct Position: Decodable {
  let seq: UInt64

  init(from decoder: any Decoder) throws {
    seq = try decoder.integer(upTo: UInt64(Int64.max))
  }
}

/// Milliseconds between what is shown: a day at the most.
struct Interval: Decodable {
  let milliseconds: UInt64

  init(from decoder: any Decoder) throws {
    milliseconds = try decoder.integer(upTo: 86_400_000)
  }
}

extension Decoder {
  fileprivate func integer(upTo max: UInt64) throws -> UInt64 {
    let container = try singleValueContainer()
    guard let value = try? container.decode(UInt64.self), value <= max else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "integer from 0 to \(max)")
    }
    return value
  }
}
