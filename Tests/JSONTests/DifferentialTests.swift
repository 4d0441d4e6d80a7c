import FoundationEssentials
import JSON
import TestSupport
import Testing

/// Compares the parser with another one on the same documents.
struct DifferentialTests {
  /// Any JSON value, decoded by either decoder.
  private enum Tree: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([Tree])
    case object([String: Tree])

    init(from decoder: any Swift.Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(Bool.self) {
        self = .bool(value)
      } else if let value = try? container.decode(Double.self) {
        self = .number(value)
      } else if let value = try? container.decode(String.self) {
        self = .string(value)
      } else if let value = try? container.decode([Tree].self) {
        self = .array(value)
      } else {
        self = .object(try container.decode([String: Tree].self))
      }
    }
  }

  private func theirs(_ bytes: [UInt8]) -> Tree? {
    try? FoundationEssentials.JSONDecoder().decode(Tree.self, from: Data(bytes))
  }

  private func ours(_ bytes: [UInt8]) -> Tree? {
    var scanner = JSONScanner(bytes.span)
    guard (try? scanner.value()) != nil, (try? scanner.end()) != nil else { return nil }
    return try? JSON.JSONDecoder().decode(Tree.self, from: bytes.span)
  }

  @Test
  func `generated documents mean the same to both parsers`() throws {
    var random = SeededRandom(seed: 2)
    for _ in 0..<2_000 {
      let bytes = Array(randomDocument(&random).utf8)
      let tree = try #require(ours(bytes), "\(String(decoding: bytes, as: UTF8.self))")
      #expect(tree == theirs(bytes), "\(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test
  func `the other parser accepts each damaged document that this one accepts`() {
    let syntax = Array("{}[],:\"\\0eE.+-u \n".utf8)
    var random = SeededRandom(seed: 3)
    for _ in 0..<20_000 {
      var bytes = Array(randomDocument(&random).utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
        let at = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes.remove(at: at)
        case 1: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.insert(syntax.randomElement(using: &random) ?? 0, at: at)
        default: bytes.swapAt(at, Int.random(in: bytes.indices, using: &random))
        }
      }
      // The other parser rejects numbers that underflow; RFC 8259 allows them.
      let mayUnderflow = String(decoding: bytes, as: UTF8.self).lowercased().contains("e-")
      if let tree = ours(bytes), !mayUnderflow {
        #expect(tree == theirs(bytes), "\(String(decoding: bytes, as: UTF8.self))")
      }
    }
  }

  @Test
  func `a value that is written and read again is the same`() throws {
    var random = SeededRandom(seed: 4)
    for _ in 0..<2_000 {
      let document = randomDocument(&random)
      let value = try JSONValue(parsing: document)
      #expect(try JSONValue(parsing: value.text.text) == value)
      #expect(try JSONText(parsing: document).value == value)
      #expect(ours(Array(value.text.text.utf8)) == ours(Array(document.utf8)))
    }
  }
}
