/// A pattern of names: `*` matches one segment, and `**` as the last segment matches the rest.
public struct Pattern: Hashable, Sendable {
  /// The pattern as it was written.
  public let text: String

  /// Whether the pattern has no wildcards, so that it is the name of one thing.
  public let isLiteral: Bool

  /// The most bytes of a pattern, the same as of a name.
  private static let maxBytes = 200

  private let separator: UInt8

  /// Whether the pattern ends with `**`.
  let isOpen: Bool

  /// The pattern `**`, which matches every name.
  public static let everything = Pattern(everyName: ())

  private init(everyName: Void) {
    (text, isLiteral, separator, isOpen) = ("**", false, UInt8(ascii: "/"), true)
  }

  /// Creates a pattern; `nil` if the text is too long or malformed.
  ///
  /// A text is malformed if a segment is empty, if a `*` is only part of a segment, or if a `**` is
  /// not the last segment.
  ///
  /// - Parameter separator: The ASCII character between segments.
  public init?(_ text: String, separator: Unicode.Scalar = "/") {
    guard text.utf8.count <= Self.maxBytes else { return nil }
    let separator = UInt8(ascii: separator)
    var (length, stars, isLiteral) = (0, 0, true)
    for byte in text.utf8 {
      if byte == separator {
        guard length > 0, stars < 2, stars == 0 || length == 1 else { return nil }
        (length, stars) = (0, 0)
      } else {
        length += 1
        if byte == UInt8(ascii: "*") {
          stars += 1
          isLiteral = false
        }
      }
    }
    guard length > 0, stars == 0 || stars == length && stars <= 2 else { return nil }
    self.text = text
    self.separator = separator
    self.isLiteral = isLiteral
    isOpen = stars == 2
  }

  /// Returns the reason why a text is not a pattern of sources; `nil` if it is one.
  public static func fault(in text: String) -> String? {
    let segments = text.split(separator: "/", omittingEmptySubsequences: false)
    if Pattern(text) != nil { return nil }
    if text.isEmpty { return "it is empty" }
    if text.utf8.count > maxBytes { return "it has more than \(maxBytes) bytes" }
    if segments.first?.isEmpty == true { return "it begins with '/'" }
    if segments.last?.isEmpty == true { return "it ends with '/'" }
    if segments.contains("") { return "it has nothing between two '/'" }
    if segments.dropLast().contains("**") { return "'**' is only at the end" }
    return "a '*' is a whole segment, and '**' the last one"
  }

  /// The first segment; `nil` if it is a wildcard.
  public var first: String? {
    let first = text.utf8.prefix { $0 != separator }
    return first.first == UInt8(ascii: "*") ? nil : String(Substring(first))
  }

  /// Returns whether it matches some name that begins with another one and a separator.
  package func mayMatch(below name: String) -> Bool {
    let own = segments
    let above = name.utf8.split(separator: separator, omittingEmptySubsequences: false)
    for (i, segment) in above.enumerated() {
      guard i < own.count else { return false }
      if own[i] == "**" { return true }
      guard own[i] == "*" || own[i].utf8.elementsEqual(segment) else { return false }
    }
    return own.count > above.count
  }

  /// Returns whether some name matches both patterns.
  public func overlaps(_ other: Pattern) -> Bool {
    let (own, others) = (segments, other.segments)
    for i in 0..<max(own.count, others.count) {
      guard i < own.count, i < others.count else { return false }
      if own[i] == "**" || others[i] == "**" { return true }
      guard own[i] == others[i] || own[i] == "*" || others[i] == "*" else { return false }
    }
    return true
  }

  /// Returns whether this pattern matches every name that the other one matches.
  public func covers(_ other: Pattern) -> Bool {
    let (own, others) = (segments, other.segments)
    for i in 0..<max(own.count, others.count) {
      guard i < own.count, i < others.count else { return false }
      if own[i] == "**" { return true }
      guard own[i] == others[i] || own[i] == "*" && others[i] != "**" else { return false }
    }
    return true
  }

  /// Returns a pattern for the names that match both patterns, or `nil` if there are none.
  public func intersection(with other: Pattern) -> Pattern? {
    let (own, others) = (segments, other.segments)
    var common: [Substring] = []
    while true {
      let i = common.count
      guard i < own.count, i < others.count else {
        return own.count == others.count ? Pattern(common, separator: separator) : nil
      }
      if own[i] == "**" { return Pattern(common + others[i...], separator: separator) }
      if others[i] == "**" { return Pattern(common + own[i...], separator: separator) }
      guard own[i] == others[i] || own[i] == "*" || others[i] == "*" else { return nil }
      common.append(own[i] == "*" ? others[i] : own[i])
    }
  }

  private init?(_ segments: [Substring], separator: UInt8) {
    let separator = Unicode.Scalar(separator)
    self.init(segments.joined(separator: String(Character(separator))), separator: separator)
  }

  /// The parts between the separators.
  var segments: [Substring] {
    text.split(separator: Character(Unicode.Scalar(separator)), omittingEmptySubsequences: false)
  }

  /// Returns whether a name matches the pattern.
  ///
  /// - Complexity: O(*n*) in the length of the name, without allocations.
  public func matches(_ name: String) -> Bool { matches(name.utf8.span) }

  /// Returns whether a name matches the pattern, by its bytes.
  public func matches(_ name: Span<UInt8>) -> Bool {
    let pattern = text.utf8.span
    var (p, n) = (0, 0)
    while p < pattern.count {
      if pattern[p] == UInt8(ascii: "*") {
        if isOpen, p == pattern.count - 2 { return n < name.count }
        // A `*` matches exactly one segment that is not empty.
        let start = n
        while n < name.count, name[n] != separator { n += 1 }
        guard n > start else { return false }
        p += 1
      } else {
        guard n < name.count, name[n] == pattern[p] else { return false }
        p += 1
        n += 1
      }
    }
    return n == name.count
  }
}
