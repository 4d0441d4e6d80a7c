internal import JSON

/// The rules for names of sources and streams.
package enum SourceName {
  /// The maximum length of a name in bytes.
  package static let maxBytes = 200

  /// The maximum number of segments in a name.
  package static let maxSegments = 8

  /// Returns the rule that a name breaks, or `nil` if it is valid.
  ///
  /// A valid name has 1 to 8 segments of `[A-Za-z0-9_.:-]`, separated by `/`, and at most 200
  /// bytes.
  package static func fault(in name: String) -> String? {
    fault(in: name, maxBytes: maxBytes, maxSegments: maxSegments)
  }

  /// Returns the rule that a source name breaks, or `nil` if it is valid with the prefix
  /// `service/`.
  package static func fault(in name: String, of service: String) -> String? {
    fault(
      in: name, maxBytes: maxBytes - service.utf8.count - 1, maxSegments: maxSegments - 1)
  }

  private static func fault(in name: String, maxBytes: Int, maxSegments: Int) -> String? {
    let count = name.utf8.count
    guard count > 0 else { return "a name is not empty" }
    guard count <= maxBytes else { return "a name has at most \(maxBytes) bytes" }
    let bytes = name.utf8.span
    var segments = 1
    var isEmpty = true
    for i in bytes.indices {
      if bytes[i] == UInt8(ascii: "/") {
        if isEmpty { return "a segment of a name is not empty" }
        segments += 1
        isEmpty = true
      } else if isNameByte(bytes[i]) {
        isEmpty = false
      } else {
        return "a name is made of A-Z a-z 0-9 _ . : - and /"
      }
    }
    if isEmpty { return "a segment of a name is not empty" }
    return segments <= maxSegments ? nil : "a name has at most \(maxSegments) segments"
  }

  /// Returns whether a text is the full name of a source of a service: `service/name`.
  package static func isSource(_ source: String, of service: String) -> Bool {
    isBelow(source, service) && fault(in: source) == nil
  }

  /// Returns whether a name begins with `service/`.
  static func isBelow(_ source: String, _ service: String) -> Bool {
    isBelow(source.utf8.span, service.utf8.span)
  }

  /// Returns whether a name begins with `service/`.
  static func isBelow(_ whole: Span<UInt8>, _ prefix: Span<UInt8>) -> Bool {
    guard whole.count > prefix.count + 1, whole[prefix.count] == UInt8(ascii: "/") else {
      return false
    }
    return whole.extracting(..<prefix.count).hasSameBytes(as: prefix)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
      UInt8(ascii: ":"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

/// An invalid stream name; journals with such a name cannot be imported.
struct StreamFault: ServiceError, Equatable {
  let stream: String
  let rule: String

  /// Checks a stream name.
  ///
  /// - Returns: `nil` if the service may record in the stream.
  init?(_ stream: String, of service: String) {
    if let rule = SourceName.fault(in: stream) {
      self.rule = rule
    } else if !SourceName.isBelow(stream, service), stream != service {
      rule = "it does not begin with \(service)/"
    } else {
      return nil
    }
    self.stream = stream
  }

  /// Creates the error for a name that breaks another rule.
  init(stream: String, rule: String) { (self.stream, self.rule) = (stream, rule) }

  var kind: ServiceErrorKind { .rejected(reason: "bad_name") }

  var description: String {
    let start = String(decoding: stream.utf8.prefix(SourceName.maxBytes), as: UTF8.self)
    return "'\(start)' is not the name of a stream: \(rule)"
  }
}
