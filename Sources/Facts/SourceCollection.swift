package import JSON

/// The value of a source that reports its changes step by step.
package enum SourceCollection: Equatable, Sendable {
  case list([JSONText])
  case map([String: JSONText])
}
