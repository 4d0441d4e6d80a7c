package import JSON

/// The way in which `undo` gives sources their past values back that clients do not set as a whole.
package protocol SourceUndo: AnyObject {
  /// The value of a source without entries, if its entries are undone one by one; otherwise `nil`.
  func emptyValue(of source: String) -> JSONText?

  /// Returns the source whose past value comes back together with that of another one; `nil` if there is
  /// none.
  func companion(of source: String) -> String?

  /// Returns why a source is not undone by itself; `nil` if it is.
  func obstacle(to source: String) -> String?

  /// Returns why a source does not take a past value; `nil` if it does.
  func refusal(of past: PastSource, _ context: CallContext) -> String?

  /// Gives a source a past value back, within the command of the undo.
  func restore(_ past: PastSource, _ context: CallContext) throws -> RestoredSource
}

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

extension Catalog {
  /// Offers the undo of sources that clients do not set.
  package func offerUndo(of service: String, _ undo: any SourceUndo) {
    line(.method) { [unowned self] in offered(service, for: "undo").undo = undo }
  }
}
