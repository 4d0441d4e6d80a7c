internal import JSON
internal import Wire

/// A journal position in a request, at most `Int64.max`.
struct Position: Decodable {
  let seq: UInt64

  init(from decoder: any Decoder) throws {
    seq = try decoder.integer(upTo: UInt64(Int64.max))
  }
}

/// A minimum interval between updates in milliseconds, at most one day.
struct Interval: Decodable {
  let milliseconds: UInt64

  init(from decoder: any Decoder) throws {
    milliseconds = try decoder.integer(upTo: 86_400_000)
  }
}

/// The name of a durable reader: one path segment of at most 64 bytes.
struct ReaderName: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    text = try container.decode(String.self)
    guard Handle(name: text) != nil else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "1 to 64 of [A-Za-z0-9_.:-]")
    }
  }
}

/// The maximum number of unacknowledged events of a durable reader.
struct UnackedCount: Decodable {
  static let most = 10_000
  let count: Int

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let count = try? container.decode(Int.self), 1...Self.most ~= count else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "integer from 1 to \(Self.most)")
    }
    self.count = count
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
