package import JSON

/// A source has another value.
package struct SourceChange: Equatable, Sendable {
  /// The whole name of the source, for example `"cells/lamp"`.
  package let source: String

  /// The position of the event that changed it; 0 for what is not journaled.
  package let seq: UInt64

  /// The value; `nil` when the source is gone, and for a collection, which tells its ``step``.
  package let value: JSONText?

  /// How a collection has changed; `nil` for what is none.
  package let step: CollectionChange?

  /// Whether the source had this value before.
  package let isRepeat: Bool

  package init(source: String, seq: UInt64, value: JSONText?, isRepeat: Bool = false) {
    self.source = source
    self.seq = seq
    self.value = value
    self.isRepeat = isRepeat
    step = nil
  }

  /// About how many bytes it takes to tell.
  var size: Int { value?.text.utf8.count ?? step?.size ?? 0 }

  /// A change of a collection.
  package init(source: String, seq: UInt64, step: CollectionChange) {
    self.source = source
    self.seq = seq
    self.step = step
    value = nil
    isRepeat = false
  }
}
