public import JSON

/// The value of a source that reports its changes step by step.
@usableFromInline
package enum SourceCollection: Equatable, Sendable {
  case list([JSONText])
  case map([String: JSONText])

  /// The approximate size of all elements in bytes.
  package var size: Int {
    switch self {
    case .list(let elements): elements.reduce(0) { $0 + $1.text.utf8.count + 1 }
    case .map(let members):
      members.reduce(0) { $0 + $1.key.utf8.count + $1.value.text.utf8.count + 4 }
    }
  }
}
