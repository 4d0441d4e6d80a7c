internal import Journal
package import Signals

/// The rates at which streams are written, counted only while observed.
///
/// The memory for counting is limited: beyond ``maxNames`` streams in an interval, the events of
/// others count only in the totals.
package final class StreamMeter {
  private struct Count {
    var events = 0
    var bytes = 0
  }

  private let host: ServiceHost
  private let nanoseconds: () -> UInt64
  private var counts: [String: Count] = [:]
  private var total = Count()
  private var begun: UInt64 = 0

  private static let maxNames = 20_000

  /// The most streams by events, and the most by bytes, in a result.
  private static let maxShown = 50

  /// - Parameter nanoseconds: Returns the time of a monotonic clock.
  package init(_ host: ServiceHost, nanoseconds: @escaping () -> UInt64) {
    (self.host, self.nanoseconds) = (host, nanoseconds)
  }

  /// Counts durable events until the result is disposed.
  package func count() -> any Disposable {
    begun = nanoseconds()
    let observation = host.committed.observeNext { [unowned self] events in
      for record in events.records { add(record) }
    }
    return BlockDisposable { [unowned self] in
      observation.dispose()
      (counts, total) = ([:], Count())
    }
  }

  private func add(_ record: Record) {
    let bytes = record.data.utf8.count
    total.events += 1
    total.bytes += bytes
    guard counts.count < Self.maxNames || counts[record.stream] != nil else { return }
    counts[record.stream, default: Count()].events += 1
    counts[record.stream, default: Count()].bytes += bytes
  }

  /// Returns the rates since the previous call, and begins the next interval.
  package func beginInterval() -> StreamRates {
    let now = nanoseconds()
    let seconds = max(0.001, Double(now - begun) / 1e9)
    defer { (begun, counts, total) = (now, [:], Count()) }
    let rates = counts.map { name, count in
      StreamRate(
        stream: name, eventsPerSecond: Self.rate(count.events, seconds),
        bytesPerSecond: Self.rate(count.bytes, seconds))
    }
    let byEvents = rates.sorted {
      ($0.eventsPerSecond, $1.stream) > ($1.eventsPerSecond, $0.stream)
    }
    let byBytes = rates.sorted { ($0.bytesPerSecond, $1.stream) > ($1.bytesPerSecond, $0.stream) }
    let shown = Set(byEvents.prefix(Self.maxShown).map(\.stream))
    return StreamRates(
      count: rates.count, eventsPerSecond: Self.rate(total.events, seconds),
      bytesPerSecond: Self.rate(total.bytes, seconds),
      streams: byEvents.prefix(Self.maxShown)
        + byBytes.prefix(Self.maxShown).filter { !shown.contains($0.stream) })
  }

  /// Returns a rate per second with one decimal.
  private static func rate(_ count: Int, _ seconds: Double) -> Double {
    (Double(count) / seconds * 10).rounded() / 10
  }
}

/// The rates of all streams, and of the busiest ones.
package struct StreamRates: Codable, Equatable {
  /// The number of streams that were written.
  package let count: Int
  package let eventsPerSecond: Double

  /// The bytes of event data per second.
  package let bytesPerSecond: Double

  /// The streams with the most events, then others with the most bytes; at most 100.
  package let streams: [StreamRate]

  private enum CodingKeys: String, CodingKey {
    case count, streams
    case eventsPerSecond = "events_per_second"
    case bytesPerSecond = "bytes_per_second"
  }
}

/// The rates of one stream.
package struct StreamRate: Codable, Equatable {
  package let stream: String
  package let eventsPerSecond: Double

  /// The bytes of event data per second.
  package let bytesPerSecond: Double

  private enum CodingKeys: String, CodingKey {
    case stream
    case eventsPerSecond = "events_per_second"
    case bytesPerSecond = "bytes_per_second"
  }
}
