public import JSON

/// A change of a source's value, as services report it and subscriptions deliver it.
@usableFromInline
package struct SourceChange: Equatable, Sendable {
  /// The full name of the source, for example `"cells/lamp"`.
  @usableFromInline
  package let source: String

  /// The position of the event that changed it; 0 if it is not journaled.
  package let seq: UInt64

  /// The new value; `nil` if the source was removed, and for collections, which have a ``step``.
  package let value: JSONText?

  /// The step of a collection, whose whole value must be fetched if it is needed; `nil` for plain
  /// values.
  package let step: CollectionChange?

  /// The previous value; `nil` if there was none or it is unknown.
  ///
  /// It is unknown for collections, for values that are not journaled, and for past changes.
  package let before: JSONText?

  /// Whether the value equals the previous one.
  package let isRepeat: Bool

  /// Whether the source had no value before.
  package let isNew: Bool

  /// Whether the source has no value now.
  package let isGone: Bool

  /// Creates a change from an unknown value.
  @usableFromInline
  package init(source: String, seq: UInt64, value: JSONText?) {
    self.source = source
    self.seq = seq
    self.value = value
    (before, step, isRepeat, isNew, isGone) = (nil, nil, false, false, value == nil)
  }

  /// Creates a change from one value to another.
  @usableFromInline
  package init(source: String, seq: UInt64, value: JSONText?, before: JSONText?) {
    self.source = source
    self.seq = seq
    self.value = value
    self.before = before
    (step, isRepeat, isNew, isGone) = (nil, value == before, before == nil, value == nil)
  }

  /// Returns the change of a part of the value.
  ///
  /// - Parameter find: Returns the part of a value.
  package func picking(_ find: (JSONText) -> JSONText?) -> SourceChange {
    SourceChange(source: source, seq: seq, value: value.flatMap(find), before: before.flatMap(find))
  }

  /// The same change from an unknown value.
  package var fromUnknown: SourceChange {
    guard let step else { return SourceChange(source: source, seq: seq, value: value) }
    return SourceChange(source: source, seq: seq, step: step, isGone: isGone)
  }

  /// The approximate size in bytes when sent.
  package var size: Int { value?.text.utf8.count ?? step?.size ?? 0 }

  /// Creates a change of a collection.
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

/// The kind of a source or of a view's property, which determines the form of its changes.
@usableFromInline
package enum SourceKind: String, Sendable {
  /// A single value, replaced as a whole.
  case state
  /// An array, changed step by step.
  case list
  /// A dictionary, changed step by step.
  case map
  /// A loaded value: loading, loaded, reloading or failed.
  case loading
}
