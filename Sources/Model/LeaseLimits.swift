/// The limits of leases, for the daemon and its clients.
package enum LeaseLimits {
  /// The allowed TTLs in milliseconds: up to 31 days.
  ///
  /// Messages and documentation name them too.
  package static let ttls: ClosedRange<Int> = 100...2_678_400_000
}
