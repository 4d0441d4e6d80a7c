package import Facts
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
  package let changes: Signal<SourceChange, Never>

  package init(
    key: String, isJournaled: Bool, isLoading: Bool = false, value: @escaping () -> JSONText?,
    changes: Signal<SourceChange, Never>
  ) {
    self.key = key
    self.isJournaled = isJournaled
    self.isLoading = isLoading
    self.value = value
    self.changes = changes
  }
}
