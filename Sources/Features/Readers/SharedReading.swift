internal import JSON
internal import Wire

/// The progress of a shared reader after its position.
package struct SharedReading: Codable, Equatable, Sendable {
  /// An event that nobody could finish.
  package struct Parked: Codable, Equatable, Sendable {
    package let reason: String
    package let deliveries: Int

    /// The time in microseconds since 1970.
    package let since: Int64
  }

  /// The finished events after the position.
  package fileprivate(set) var finished: Set<UInt64> = []

  /// The parked events, by position.
  package fileprivate(set) var parked: [UInt64: Parked] = [:]

  /// The events that were parked and are to be delivered again.
  package fileprivate(set) var retried: Set<UInt64> = []

  /// The most parked events of a reader.
  package static let maxParked = 1000

  /// The most bytes of a reason.
  package static let maxReasonBytes = 256

  package init() {}

  /// Returns whether an event after the position needs no delivery.
  package func isSettled(_ seq: UInt64) -> Bool {
    finished.contains(seq) || parked[seq] != nil || retried.contains(seq)
  }

  mutating func finish(_ seq: UInt64, floor: UInt64) {
    retried.remove(seq)
    if seq > floor { finished.insert(seq) }
    rise(to: floor)
  }

  mutating func park(_ seq: UInt64, _ parked: Parked, floor: UInt64) {
    retried.remove(seq)
    self.parked[seq] = parked
    rise(to: floor)
  }

  mutating func retry(_ seqs: [UInt64]) {
    for seq in seqs where parked.removeValue(forKey: seq) != nil { retried.insert(seq) }
  }

  mutating func drop(_ seqs: [UInt64], floor: UInt64) {
    for seq in seqs where parked.removeValue(forKey: seq) != nil {
      if seq > floor { finished.insert(seq) }
    }
  }

  private mutating func rise(to floor: UInt64) {
    guard !finished.isEmpty else { return }
    finished = finished.filter { $0 > floor }
  }

  /// The most parked events in a value.
  private static let maxListed = 32

  func write(to buffer: inout ByteBuffer) {
    buffer.member("share", true)
    buffer.array("parked") {
      for (seq, parked) in parked.sorted(by: { $0.key < $1.key }).prefix(Self.maxListed) {
        $0.separate()
        $0.object {
          $0.member("seq", seq)
          $0.member("reason", parked.reason)
          $0.member("deliveries", parked.deliveries)
          $0.member("since", Timestamp(microseconds: parked.since).text)
        }
      }
    }
    buffer.member("parked_count", parked.count)
  }
}
