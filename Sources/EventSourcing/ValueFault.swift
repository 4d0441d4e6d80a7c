package import JSON

/// An error for a client value that is too large to store, because every answer, event and view
/// must be able to contain it.
package enum ValueFault: Equatable, Sendable {
  case tooLong(bytes: Int)
  case tooDeep

  /// The maximum size of a value as compact JSON, in bytes.
  package static let maxBytes = 256 * 1024

  /// The maximum nesting depth of arrays and objects.
  ///
  /// The deepest message nests a value in an event in a page in a batch. Its depth is exactly the
  /// maximum of a line.
  package static let maxDepth = 56

  /// Returns the rule that a value breaks, or `nil` if it may be stored.
  package init?(_ value: JSONText) {
    let bytes = value.text.utf8.count
    // Each nested value has two brackets.
    if bytes < 2 * Self.maxDepth { return nil }
    if bytes > Self.maxBytes {
      self = .tooLong(bytes: bytes)
    } else if value.isDeeper(than: Self.maxDepth) {
      self = .tooDeep
    } else {
      return nil
    }
  }

  /// The expected value, for error messages.
  package var expected: String {
    switch self {
    case .tooLong: "at most \(Self.maxBytes) bytes"
    case .tooDeep: "at most \(Self.maxDepth) nested arrays and objects"
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

/// The reason why a row or an event cannot be stored.
enum StorageFault: CustomStringConvertible {
  case value(ValueFault)
  case notEncoded(type: String)

  var description: String {
    switch self {
    case .value(let fault): "\(fault)"
    case .notEncoded(let type): "a \(type) cannot be written as JSON: a number in it is not finite"
    }
  }
}
