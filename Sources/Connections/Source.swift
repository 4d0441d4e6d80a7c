package import JSON
package import Signals

/// Something with a value that clients can watch.
package struct StateSource {
  /// By which clients that watch the same are known: they share what is kept in memory.
  package let key: String

  /// Whether its changes are events in the journal and so have positions.
  package let isJournaled: Bool

  /// Whether its values are objects whose members stand in the frames themselves: what is loading.
  package let isLoading: Bool

  /// The value now; `nil` when there is none.
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

/// A source has another value.
package struct StateChange {
  package let source: String

  /// The position of the event that changed it; 0 for what is not journaled.
  package let seq: UInt64

  /// The value; `nil` when the source is gone.
  package let value: JSONText?

  /// Whether the value is to be asked for when it is needed, because it may be long.
  package let isAsked: Bool

  /// Whether the source had this value before.
  package let isRepeat: Bool

  /// Whether the source had no value before.
  package let isNew: Bool

  /// Whether the source has no value now.
  package let isGone: Bool

  /// - Parameter isGone: Left out, a source without a value that is not to be asked for is gone.
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
