internal import JSON
internal import Wire

/// A journal position in a request, at most `Int64.max`.
package struct Position: Decodable {
  package let seq: UInt64

  package init(_ seq: UInt64) { self.seq = seq }

  package init(from decoder: any Decoder) throws {
    seq = try decoder.integer(upTo: UInt64(Int64.max))
  }
}

/// A minimum interval between updates in milliseconds, at most one day.
struct Interval: Decodable {
  let milliseconds: UInt64

  package init(from decoder: any Decoder) throws {
    milliseconds = try decoder.integer(upTo: 86_400_000)
  }
}

/// The name of a durable reader: one path segment of at most 64 bytes.
struct ReaderName: Decodable {
  let text: String

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    text = try container.decode(String.self)
    guard Handle(name: text) != nil else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "1 to 64 of [A-Za-z0-9_.:-]")
    }
  }
}

/// The maximum number of unacknowledged events of a durable reader.
package struct UnackedCount: Decodable {
  static let most = 10_000
  package let count: Int

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let count = try? container.decode(Int.self), 1...Self.most ~= count else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "integer from 1 to \(Self.most)")
    }
    self.count = count
  }
}

/// The time in which a worker acknowledges an event, in milliseconds.
package struct AckWait: Decodable {
  static let range = 100...86_400_000
  package let milliseconds: Int

  package init(from decoder: any Decoder) throws {
    milliseconds = try decoder.integer(in: Self.range)
  }
}

/// The deliveries of an event after which it is parked.
package struct DeliveryCount: Decodable {
  package let count: Int

  package init(from decoder: any Decoder) throws {
    count = try decoder.integer(in: 1...1000)
  }
}

/// The pause before an event is delivered again, in milliseconds.
package struct DeliveryDelay: Decodable {
  package let milliseconds: Int

  package init(from decoder: any Decoder) throws {
    milliseconds = try decoder.integer(in: 0...3_600_000)
  }
}

extension Decoder {
  fileprivate func integer(in range: ClosedRange<Int>) throws -> Int {
    let container = try singleValueContainer()
    guard let value = try? container.decode(Int.self), range ~= value else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  fileprivate func integer(upTo max: UInt64) throws -> UInt64 {
    let container = try singleValueContainer()
    guard let value = try? container.decode(UInt64.self), value <= max else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "integer from 0 to \(max)")
    }
    return value
  }
}
