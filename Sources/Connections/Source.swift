package import JSON
package import Signals

/// Something with a value that clients can watch.
package struct StateSource {
  /// The whole name, for example `"cells/lamp"`.
  package let name: String

  /// Whether its changes are events in the journal and so have positions.
  package let isJournaled: Bool

  /// Whether its values are objects whose members stand in the frames themselves: what is loading.
  package let isLoading: Bool

  /// The value now; `nil` when there is none.
  package let value: () -> JSONText?

  /// Every change from now on.
  package let changes: Signal<StateChange, Never>

  package init(
    name: String, isJournaled: Bool, isLoading: Bool = false, value: @escaping () -> JSONText?,
    changes: Signal<StateChange, Never>
  ) {
    self.name = name
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

  package init(
    source: String, seq: UInt64, value: JSONText?, isAsked: Bool = false, isRepeat: Bool = false
  ) {
    self.source = source
    self.seq = seq
    self.value = value
    self.isAsked = isAsked
    self.isRepeat = isRepeat
  }
}
