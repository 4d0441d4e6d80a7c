/// Which sources or types are meant: `*` stands for one segment, `**` as the last one for the rest.
public struct Pattern: Hashable, Sendable {
  /// The pattern as it was written.
  public let text: String

  /// Whether it is no pattern but the name of one thing.
  public let isLiteral: Bool

  /// Bytes of a pattern, as of a name.
  private static let maxBytes = 200

  private let separator: UInt8

  /// Whether it ends with `**`.
  let isOpen: Bool

  /// `**`: the pattern that means every name.
  public static let everything = Pattern(everyName: ())

  private init(everyName: Void) {
    (text, isLiteral, separator, isOpen) = ("**", false, UInt8(ascii: "/"), true)
  }

  /// A pattern; `nil` when it is too long, a segment is empty, a `*` stands beside others, or a `**`
  /// before the end.
  ///
  /// - Parameter separator: What stands between segments; ASCII.
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

  /// The first segment, when it is no wildcard.
  public var first: String? {
    let first = text.utf8.prefix { $0 != separator }
    return first.first == UInt8(ascii: "*") ? nil : String(Substring(first))
  }

  /// Whether some name is meant by both patterns.
  public func overlaps(_ other: Pattern) -> Bool {
    let (own, others) = (segments, other.segments)
    for i in 0..<max(own.count, others.count) {
      guard i < own.count, i < others.count else { return false }
      if own[i] == "**" || others[i] == "**" { return true }
      guard own[i] == others[i] || own[i] == "*" || others[i] == "*" else { return false }
    }
    return true
  }

  /// Whether every name that the other pattern means is meant by this one.
  public func covers(_ other: Pattern) -> Bool {
    let (own, others) = (segments, other.segments)
    for i in 0..<max(own.count, others.count) {
      guard i < own.count, i < others.count else { return false }
      if own[i] == "**" { return true }
      guard own[i] == others[i] || own[i] == "*" && others[i] != "**" else { return false }
    }
    return true
  }

  /// What is meant by both patterns; `nil` when nothing is.
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

  /// What stands between the separators.
  var segments: [Substring] {
    text.split(separator: Character(Unicode.Scalar(separator)), omittingEmptySubsequences: false)
  }

  /// Whether a name is meant.
  ///
  /// - Complexity: O(*n*) in the name, without allocating.
  public func matches(_ name: String) -> Bool {
    let (pattern, name) = (text.utf8.span, name.utf8.span)
    var (p, n) = (0, 0)
    while p < pattern.count {
      if pattern[p] == UInt8(ascii: "*") {
        if isOpen, p == pattern.count - 2 { return n < name.count }
        // One segment, whatever it is, but not an empty one.
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
