package import JSON

/// A source with the value that an undo gives back to it.
package struct PastSource {
  package let source: String

  /// The value; `nil` for none.
  package let value: JSONText?

  /// The value of its companion at the same position; see ``SourceUndo/companion(of:)``.
  package let companion: JSONText?

  package init(_ source: String, _ value: JSONText?, companion: JSONText? = nil) {
    (self.source, self.value, self.companion) = (source, value, companion)
  }
}

/// A source that has got its past value back, if its command succeeds.
package struct RestoredSource {
  /// Called when the command has succeeded, with its last position.
  package let onAccept: (_ seq: UInt64) -> Void

  /// Called when the command has failed.
  package let onFailure: () -> Void

  package init(
    onAccept: @escaping (_ seq: UInt64) -> Void = { _ in },
    onFailure: @escaping () -> Void = {}
  ) {
    (self.onAccept, self.onFailure) = (onAccept, onFailure)
  }
}
