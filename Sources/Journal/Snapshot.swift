/// The state of a service as of a position: what a replay may start from instead of from nothing.
package struct Snapshot: Equatable, Sendable {
  /// Whose state it is, for example `"cells"`.
  package let service: String

  /// The last event that is contained in it.
  package let seq: UInt64

  /// The form of ``data``, counted from 1; a service brings older ones to its own and passes over
  /// newer ones.
  package let schema: Int

  /// The state, compact JSON text.
  package let data: String

  package init(service: String, seq: UInt64, schema: Int, data: String) {
    self.service = service
    self.seq = seq
    self.schema = schema
    self.data = data
  }
}

/// What has become of a snapshot that was to be kept.
package struct SnapshotReport: Equatable, Sendable {
  package let service: String
  package let seq: UInt64

  /// Why it is not kept; `nil` when it is.
  package let failure: String?

  package init(service: String, seq: UInt64, failure: String? = nil) {
    (self.service, self.seq, self.failure) = (service, seq, failure)
  }
}
