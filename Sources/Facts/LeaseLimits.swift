/// The limits of leases, for the daemon and its clients.
package enum LeaseLimits {
  /// The allowed TTLs in milliseconds: up to 31 days.
  package static let ttls: ClosedRange<Int> = 100...2_678_400_000
}
