/// The state of a service as of a position, from which a replay can start.
package struct Snapshot: Equatable, Sendable {
  /// The name of the service, for example `"cells"`.
  package let service: String

  /// The last event that the state contains.
  package let seq: UInt64

  /// The format version of ``data``, counted from 1.
  ///
  /// A service upgrades older formats and ignores newer ones.
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

/// The result of saving a snapshot.
package struct SnapshotReport: Equatable, Sendable {
  package let service: String
  package let seq: UInt64

  /// The reason why it was not saved; `nil` if it was saved.
  package let failure: String?

  package init(service: String, seq: UInt64, failure: String? = nil) {
    (self.service, self.seq, self.failure) = (service, seq, failure)
  }
}
