public import JSON

/// The names of a table's sources: a name with one `*`, which stands for the key.
///
/// In `rooms/*/topic` a key is one segment of the name. In `notes/**` it is the rest of the name. A
/// ``Single`` has a name without a star.
@usableFromInline
package struct SourcePattern: Equatable, Sendable {
  /// The whole name, for example `"rooms/*/topic"`.
  @usableFromInline
  package let text: String

  /// The parts of the name before and after the key; the second is `nil` if there is no key.
  @usableFromInline
  let prefix: String
  @usableFromInline
  let suffix: String?

  /// Whether a key may have several segments.
  let isDeep: Bool

  @usableFromInline
  package init(_ text: String) {
    self.text = text
    guard let star = text.firstIndex(of: "*") else {
      (prefix, suffix, isDeep) = (text, nil, false)
      return
    }
    prefix = String(text[..<star])
    let rest = text[text.index(after: star)...]
    isDeep = rest.first == "*"
    suffix = String(isDeep ? rest.dropFirst() : rest)
  }

  /// Returns the rule that the pattern breaks, or `nil` if it is one of a service's sources.
  ///
  /// - Parameter service: The service; `nil` for any.
  /// - Parameter hasKey: Whether the names have a key.
  package func fault(of service: String?, hasKey: Bool) -> String? {
    guard hasKey == (suffix != nil) else {
      return hasKey ? "it has no * for the key" : "it has a *, and this source has no key"
    }
    if let suffix, suffix.contains("*") { return "it has more than one *" }
    let example = prefix + (suffix == nil ? "" : "k") + (suffix ?? "")
    if let rule = SourceName.fault(in: example) { return rule }
    if let suffix, !prefix.hasSuffix("/") || !(suffix.isEmpty || suffix.hasPrefix("/")) {
      return "the * is not a whole segment"
    }
    if isDeep, suffix != "" { return "a ** is not at its end" }
    guard let service else { return nil }
    let isOwn = SourceName.isBelow(example, service) || hasKey == false && example == service
    return isOwn ? nil : "it does not begin with \(service)/"
  }

  /// Returns the key that a name has; `nil` if the name does not match.
  @usableFromInline
  package func key<Key: LosslessStringConvertible>(of name: String) -> Key? {
    guard let suffix else { return nil }
    let bytes = name.utf8
    guard bytes.count > prefix.utf8.count + suffix.utf8.count, name.hasPrefix(prefix),
      name.hasSuffix(suffix)
    else { return nil }
    let text = bytes.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
    guard isDeep || !text.contains(UInt8(ascii: "/")) else { return nil }
    if Key.self == Int.self {
      return Self.number(text).map { unsafe unsafeBitCast($0, to: Key.self) }
    }
    let part = String(Substring(text))
    guard let key = Key(part), Key.self == String.self || key.description == part else {
      return nil
    }
    return key
  }

  /// Returns the number that a text is in its usual spelling; `nil` for another text.
  private static func number(_ text: Substring.UTF8View) -> Int? {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? text.dropFirst() : text
    // One number has one name.
    guard digits.first != UInt8(ascii: "0") || text.count == 1, !digits.isEmpty else { return nil }
    var number = 0
    for byte in digits {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
      let digit = Int(byte &- UInt8(ascii: "0"))
      let (tenfold, isOver) = number.multipliedReportingOverflow(by: 10)
      let (sum, isOut) =
        isNegative
        ? tenfold.subtractingReportingOverflow(digit) : tenfold.addingReportingOverflow(digit)
      if isOver || isOut { return nil }
      number = sum
    }
    return number
  }

  /// Returns a name that this pattern and another one may have; `nil` if there is none.
  ///
  /// It depends on the types of the keys whether the name is one.
  package func example(with other: SourcePattern) -> String? {
    let (mine, others) = (segments, other.segments)
    var example: [Substring] = []
    for i in 0..<max(mine.count, others.count) {
      let (a, b) = (Self.segment(i, of: mine), Self.segment(i, of: others))
      switch (a, b) {
      case (nil, _), (_, nil): return nil
      case ("*"?, "*"?): example.append("1")
      case ("*"?, let b?): example.append(b)
      case (let a?, "*"?): example.append(a)
      case (let a?, let b?):
        guard a == b else { return nil }
        example.append(a)
      }
    }
    return example.joined(separator: "/")
  }

  private var segments: [Substring] { text.split(separator: "/", omittingEmptySubsequences: false) }

  /// Returns a segment, where `**` is any number of them.
  private static func segment(_ index: Int, of segments: [Substring]) -> Substring? {
    if index >= segments.count - 1, segments.last == "**" { return "*" }
    return index < segments.count ? segments[index] : nil
  }

  /// Returns the name for a key.
  @usableFromInline
  package func name(_ key: some LosslessStringConvertible) -> String {
    prefix + key.description + (suffix ?? "")
  }

  /// Appends the name for a key.
  @inlinable
  func write<Key: LosslessStringConvertible>(_ key: Key, to name: inout ByteBuffer) {
    name.append(prefix)
    if Key.self == Int.self {
      name.append(integer: unsafe unsafeBitCast(key, to: Int.self))
    } else if Key.self == String.self {
      name.append(unsafe unsafeBitCast(key, to: String.self))
    } else {
      name.append(key.description)
    }
    if let suffix, !suffix.isEmpty { name.append(suffix) }
  }
}

extension TableReport {
  /// Makes ``name`` the name of a row's source.
  @inlinable
  func setName<Key: LosslessStringConvertible>(_ pattern: SourcePattern, _ key: Key) {
    name.removeAll(keepingCapacity: 4096)
    pattern.write(key, to: &name)
  }

  @inlinable
  func setName(_ pattern: SourcePattern) {
    name.removeAll(keepingCapacity: 4096)
    name.append(pattern.text)
  }

  /// Returns the number of the stream of a row.
  @inlinable
  func stream<Key: LosslessStringConvertible>(_ pattern: SourcePattern, _ key: Key) -> Int {
    setName(pattern, key)
    return addName()
  }

  /// Lets the running command fail if ``name`` is not the name of a source.
  @usableFromInline
  func checkName<Key: LosslessStringConvertible>(_ pattern: SourcePattern, _ key: Key) {
    if Key.self == Int.self {
      // There must be a next number. The one after the highest is the lowest.
      let number = unsafe unsafeBitCast(key, to: Int.self)
      if number == .max || number == .min { refuseName("the number is too high") }
      return checkIsFree()
    }
    if !pattern.isDeep, key.description.utf8.contains(UInt8(ascii: "/")) {
      refuseName("the * of \(pattern.text) is one segment")
    } else if let rule = SourceName.fault(in: name.string) {
      refuseName(rule)
    } else {
      checkIsFree()
    }
  }

  /// Lets the running command fail if ``name`` is the name of another table's source.
  @usableFromInline
  func checkIsFree() {
    if let isTaken, isTaken(name.string) { refuseName("another source has this name") }
  }
}
