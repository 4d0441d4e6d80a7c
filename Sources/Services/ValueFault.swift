package import JSON

/// Why a value of a client is not kept: every answer, event and view must be able to show it.
package enum ValueFault: Equatable, Sendable {
  case tooLong(bytes: Int)
  case tooDeep

  /// Bytes of a value as compact JSON.
  package static let maxBytes = 256 * 1024

  /// How deep arrays and objects may stand in each other: with what stands around a value in the
  /// longest way to show it, an event in a page in a batch, a line is as deep as a line may be.
  package static let maxDepth = 56

  /// What is wrong with a value; `nil` when it may be kept.
  package init?(_ value: JSONText) {
    let bytes = value.text.utf8.count
    if bytes > Self.maxBytes {
      self = .tooLong(bytes: bytes)
    } else if value.isDeeper(than: Self.maxDepth) {
      self = .tooDeep
    } else {
      return nil
    }
  }

  /// What would be right.
  package var expected: String {
    switch self {
    case .tooLong: "at most \(Self.maxBytes) bytes"
    case .tooDeep: "at most \(Self.maxDepth) arrays and objects in each other"
    }
  }
}

extension ValueFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooLong(let bytes): "a value has at most \(Self.maxBytes) bytes, this has \(bytes)"
    case .tooDeep: "a value has \(expected), this has more"
    }
  }
}
