package import JSON
package import Signals

/// A source with a value that clients can watch.
package struct StateSource {
  /// The key of the shared feed.
  ///
  /// Sources with the same key share their data.
  package let key: String

  /// Whether the changes are events in the journal, so that they have positions.
  package let isJournaled: Bool

  /// Whether the value has a loading state: an object whose members are inlined into the frames.
  package let isLoading: Bool

  /// Returns the current value; `nil` if there is none.
  package let value: () -> JSONText?

  /// Every change from now on.
  package let changes: Signal<StateChange, Never>

  package init(
    key: String, isJournaled: Bool, isLoading: Bool = false, value: @escaping () -> JSONText?,
    changes: Signal<StateChange, Never>
  ) {
    self.key = key
    self.isJournaled = isJournaled
    self.isLoading = isLoading
    self.value = value
    self.changes = changes
  }
}

/// A change of a source's value.
package struct StateChange {
  package let source: String

  /// The position of the event that caused the change; 0 if the source is not journaled.
  package let seq: UInt64

  /// The value; `nil` if there is none or ``isAsked`` is set.
  package let value: JSONText?

  /// Whether the value, which may be long, must be fetched when it is needed.
  package let isAsked: Bool

  /// Whether the source had an equal value before.
  package let isRepeat: Bool

  /// Whether the source had no value before.
  package let isNew: Bool

  /// Whether the source has no value now.
  package let isGone: Bool

  /// - Parameter isGone: `nil` to derive it: a change without a value that need not be fetched is a
  ///   removal.
  package init(
    source: String, seq: UInt64, value: JSONText?, isAsked: Bool = false, isRepeat: Bool = false,
    isNew: Bool = false, isGone: Bool? = nil
  ) {
    self.source = source
    self.seq = seq
    self.value = value
    self.isAsked = isAsked
    self.isRepeat = isRepeat
    self.isNew = isNew
    self.isGone = isGone ?? (value == nil && !isAsked)
  }
}
