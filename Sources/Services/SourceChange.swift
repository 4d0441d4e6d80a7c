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

  /// The value before; `nil` when there was none, and where it is not known: for a collection, for
  /// what is not journaled, and in the past.
  package let before: JSONText?

  /// Whether the source had this value before.
  package let isRepeat: Bool

  /// Whether the source had no value before.
  package let isNew: Bool

  /// Whether the source has no value now.
  package let isGone: Bool

  /// A change from an unknown value.
  package init(source: String, seq: UInt64, value: JSONText?) {
    self.source = source
    self.seq = seq
    self.value = value
    (before, step, isRepeat, isNew, isGone) = (nil, nil, false, false, value == nil)
  }

  /// A change from one value to another.
  package init(source: String, seq: UInt64, value: JSONText?, before: JSONText?) {
    self.source = source
    self.seq = seq
    self.value = value
    self.before = before
    (step, isRepeat, isNew, isGone) = (nil, value == before, before == nil, value == nil)
  }

  /// The change of a part of the value.
  ///
  /// - Parameter find: Finds the part in a value.
  package func picking(_ find: (JSONText) -> JSONText?) -> SourceChange {
    SourceChange(source: source, seq: seq, value: value.flatMap(find), before: before.flatMap(find))
  }

  /// About how many bytes it takes to tell.
  var size: Int { value?.text.utf8.count ?? step?.size ?? 0 }

  /// A change of a collection.
  package init(
    source: String, seq: UInt64, step: CollectionChange, isNew: Bool = false, isGone: Bool = false
  ) {
    self.source = source
    self.seq = seq
    self.step = step
    (self.isNew, self.isGone) = (isNew, isGone)
    (value, before, isRepeat) = (nil, nil, false)
  }
}
