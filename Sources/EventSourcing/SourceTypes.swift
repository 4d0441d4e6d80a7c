package import JSON
package import Model

/// A type that a file or a user has declared for sources.
package struct DeclaredType: Equatable, Sendable {
  package let pattern: Pattern
  package let type: ValueType

  /// The place in a file; `nil` if it is in the journal.
  package let file: String?
  package let line: Int?

  package init(_ pattern: Pattern, _ type: ValueType, file: String? = nil, line: Int? = nil) {
    (self.pattern, self.type, self.file, self.line) = (pattern, type, file, line)
  }
}

/// The declared types of sources.
///
/// A source without a type costs a look into a dictionary and at the patterns with wildcards, and
/// nothing while no type is declared.
@usableFromInline
package final class SourceTypes {
  /// All types, the most special pattern first.
  package private(set) var all: [DeclaredType] = []

  /// Whether some type is declared.
  @usableFromInline
  package private(set) var isOn = false

  /// The types of single sources, by name, and the others.
  private var named: [String: DeclaredType] = [:]
  private var patterns: [DeclaredType] = []

  /// Those that are of keys of maps too, or only: `maps/NAME/KEY`.
  fileprivate private(set) var keyNames: [String: DeclaredType] = [:]
  fileprivate private(set) var keyPatterns: [DeclaredType] = []

  /// The most types.
  package static let maxCount = 2000

  package init() {}

  /// Replaces all types, from now on.
  package func use(_ types: [DeclaredType]) {
    all = types.sorted { one, other in
      let (first, second) = (one.pattern.rank, other.pattern.rank)
      return first != second ? first > second : one.pattern.text < other.pattern.text
    }
    named = Dictionary(
      all.filter(\.pattern.isLiteral).map { ($0.pattern.text, $0) },
      uniquingKeysWith: { first, _ in first })
    patterns = all.filter { !$0.pattern.isLiteral }
    keyNames = named.filter { $0.key.isKeyOfMap }
    keyPatterns = patterns.filter {
      $0.pattern.text.hasPrefix("maps/") || $0.pattern.text.hasPrefix("*")
    }
    isOn = !types.isEmpty
  }

  /// Returns the type of a source.
  package func type(of source: String) -> DeclaredType? {
    named[source] ?? patterns.first { $0.pattern.matches(source) }
  }
}

/// The types of the parts of a list or a map: of each element or value, and of the keys of a map that
/// have a type of their own, `maps/NAME/KEY`.
package struct PartTypes {
  private let source: String
  private let each: DeclaredType?

  /// The types of single keys, by `maps/NAME/KEY`.
  private let named: [String: DeclaredType]

  /// The patterns that keys may match, the most special one first.
  private let patterns: [DeclaredType]

  fileprivate init(
    _ source: String, _ each: DeclaredType?, named: [String: DeclaredType],
    patterns: [DeclaredType]
  ) {
    (self.source, self.each, self.named, self.patterns) = (source, each, named, patterns)
  }

  /// Returns how an element of a list breaks its type; `nil` if it fits.
  package func mismatch(of value: JSONText) -> TypeMismatch? {
    each.flatMap { TypeMismatch($0, source, value) }
  }

  /// Returns how the value of a key breaks its type; `nil` if it fits.
  package func mismatch(of value: JSONText, for key: String) -> TypeMismatch? {
    if !named.isEmpty || !patterns.isEmpty {
      let path = source + "/" + key
      if let own = named[path] ?? patterns.first(where: { isOfKey($0) && $0.pattern.matches(path) })
      {
        return TypeMismatch(own, path, value)
      }
    }
    return mismatch(of: value)
  }

  /// Returns whether a type comes before that of all values: its pattern names a key, or is not less
  /// special.
  private func isOfKey(_ type: DeclaredType) -> Bool {
    guard let each, type.pattern.text.hasSuffix("*") else { return true }
    return type.pattern.rank >= each.pattern.rank
  }
}

extension SourceTypes {
  /// Returns the types of the parts of a list or a map; `nil` if nothing is declared for them.
  ///
  /// - Parameter count: The number of keys to check; for many, patterns that match none are left out.
  package func parts(of source: String, count: Int = 1) -> PartTypes? {
    guard isOn else { return nil }
    let each = type(of: source)
    guard source.hasPrefix("maps/"), !keyNames.isEmpty || !keyPatterns.isEmpty else {
      return each.map { PartTypes(source, $0, named: [:], patterns: []) }
    }
    let patterns =
      count < 8 ? keyPatterns : keyPatterns.filter { $0.pattern.mayMatch(below: source) }
    return PartTypes(source, each, named: keyNames, patterns: patterns)
  }

  /// Returns how the value of a source breaks its type, or an element of a list or map; `nil` if it
  /// fits.
  package func mismatch(of value: JSONText, for source: String) -> TypeMismatch? {
    guard isOn else { return nil }
    if source.hasPrefix("lists/") {
      guard let parts = parts(of: source) else { return nil }
      return value.elements?.lazy.compactMap { parts.mismatch(of: $0) }.first
    }
    if source.hasPrefix("maps/") {
      guard let members = value.members, let parts = parts(of: source, count: members.count)
      else { return nil }
      return members.lazy.compactMap { parts.mismatch(of: $1, for: $0) }.first
    }
    guard !source.isDescriptionOfProgram, let declared = type(of: source) else { return nil }
    return TypeMismatch(declared, source, value)
  }
}

/// The error of a value that does not fit the type of its source.
package struct TypeMismatch: ServiceError, Equatable {
  package let source: String
  package let rule: String
  package let place: String?

  package init?(_ declared: DeclaredType, _ source: String, _ value: JSONText) {
    guard let rule = declared.type.fault(of: value) else { return nil }
    self.source = source
    self.rule = rule
    place = declared.file.map { "\($0):\(declared.line ?? 0)" }
  }

  package var kind: ServiceErrorKind { .rejected(reason: "wrong_type") }

  package var description: String {
    "'\(source)' takes \(rule)" + (place.map { ", says \($0)" } ?? "")
  }
}

extension Ledger {
  /// Lets the running command fail if the newest value of a source does not fit its type.
  @usableFromInline
  func checkType(of stream: Int) {
    let source = self.stream(stream).name
    // The elements of lists and maps are checked one by one, before they are recorded.
    guard !source.isCollection, sourceTypes.type(of: source) != nil,
      let value = pendingValue(of: source),
      let mismatch = sourceTypes.mismatch(of: value, for: source)
    else { return }
    host.refuse(.service(mismatch))
  }
}

extension String {
  /// Whether it is the name of a key of a map, `maps/NAME/KEY`; a map can have such a name too.
  package var isKeyOfMap: Bool {
    hasPrefix("maps/") && utf8.count { $0 == UInt8(ascii: "/") } > 1
  }

  /// Whether it is a list or a map.
  fileprivate var isCollection: Bool { hasPrefix("lists/") || hasPrefix("maps/") }

  /// Whether it is a source `services/NAME`: the description of a service of programs, which the daemon
  /// writes.
  fileprivate var isDescriptionOfProgram: Bool {
    hasPrefix("services/") && utf8.count { $0 == UInt8(ascii: "/") } == 1
  }
}
