package import JSON

/// A source has another value.
package struct SourceChange: Equatable, Sendable {
  /// The whole name of the source, for example `"cells/lamp"`.
  package let source: String

  /// The position of the event that changed it; 0 for what is not journaled.
  package let seq: UInt64

  /// The value; `nil` when the source is gone.
  package let value: JSONText?

  /// Whether the source had this value before.
  package let isRepeat: Bool

  package init(source: String, seq: UInt64, value: JSONText?, isRepeat: Bool = false) {
    self.source = source
    self.seq = seq
    self.value = value
    self.isRepeat = isRepeat
  }
}
