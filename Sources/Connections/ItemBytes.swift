/// Estimates of the memory of what clients hold in the daemon, in bytes.
///
/// They are above the measured sizes (`Scripts/bench memory`), so that a user who
/// fills the quota `memory_user` fills no more memory than that. An estimate depends only on the
/// request, so that an item costs the same after a restart.
package enum ItemBytes {
  /// A subscription without a filter or a picked part.
  package static let subscription = 2048

  /// A view without arguments.
  package static let view = 20_480

  /// A binding of one source, and each further source.
  package static let binding = 12_288
  package static let source = 1536

  /// A transformer or operator of a binding, without the values that it holds.
  package static let transformer = 2048

  /// A call that is answered in a later turn, such as `wait`.
  package static let lateCall = 2048

  /// A provider of a service.
  package static let provider = 2048

  /// Each condition, pattern or value of a filter or of the condition of a `wait`.
  package static let condition = 192

  /// Each byte of a text that is split into parts, such as the JSON Pointer of `pick`.
  package static let pointerByte = 48

  /// The copies of each byte of the parameters, one of them in the memory that survives a restart.
  package static let copies = 3
}
