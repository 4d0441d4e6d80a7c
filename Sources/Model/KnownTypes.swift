/// The types that a daemon has declared, as a client knows them.
package struct KnownTypes: Sendable {
  private let all: [(pattern: Pattern, type: ValueType)]

  /// - Parameter types: The patterns and the texts of their types; others than those are left out.
  package init(_ types: [(pattern: String, text: String)] = []) {
    all = types.compactMap { entry in
      guard let pattern = Pattern(entry.pattern), let type = try? ValueType(entry.text) else {
        return nil
      }
      return (pattern, type)
    }
    .sorted { $0.pattern.rank > $1.pattern.rank }
  }

  package var isEmpty: Bool { all.isEmpty }

  /// Returns the type of a source; `nil` if none is declared.
  package func type(of source: String) -> ValueType? {
    all.first { $0.pattern.matches(source) }?.type
  }

  /// Returns the type of a key of a map, and whether it is that of the key and not of all keys; `nil` if
  /// none is declared.
  package func type(ofKey path: String, of map: String) -> (type: ValueType, isOfKey: Bool)? {
    let own = all.first { $0.pattern.isLiteral && $0.pattern.text == path }
    let found =
      own ?? all.first { $0.pattern.matches(path) || $0.pattern.matches(map) }
    guard let found else { return nil }
    return (found.type, !found.pattern.matches(map))
  }
}

extension Pattern {
  /// The precedence of the pattern: a name is more special than a pattern, and one with more segments of
  /// its own than one with fewer.
  package var rank: Int {
    if isLiteral { return 1000 }
    let own = segments.count { $0 != "*" && $0 != "**" }
    return own * 4 + (isOpen ? 0 : 1)
  }
}

extension ValueType {
  /// Returns a number with some digits behind the point: `21.50` for 21.5 with two; `nil` if it is too
  /// large.
  package static func text(of number: Double, digits: Int) -> String? {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    let scaled = (number * scale).rounded()
    guard scaled.magnitude < 9e15 else { return nil }
    let text = String(Int64(scaled.magnitude))
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
    let sign = scaled < 0 ? "-" : ""
    return digits == 0
      ? sign + padded : sign + padded.dropLast(digits) + "." + padded.suffix(digits)
  }
}
