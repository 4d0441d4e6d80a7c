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

  /// The most types.
  package static let maxCount = 2000

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
    isOn = !types.isEmpty
  }

  /// Returns the type of a source.
  package func type(of source: String) -> DeclaredType? {
    named[source] ?? patterns.first { $0.pattern.matches(source) }
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
    guard let declared = sourceTypes.type(of: source), !source.isDescriptionOfProgram,
      let value = pendingValue(of: source),
      let mismatch = TypeMismatch(declared, source, value)
    else { return }
    host.refuse(.service(mismatch))
  }
}

extension String {
  /// Whether it is a source `services/NAME`: the description of a service of programs, which the daemon
  /// writes.
  fileprivate var isDescriptionOfProgram: Bool {
    hasPrefix("services/") && utf8.count { $0 == UInt8(ascii: "/") } == 1
  }
}
