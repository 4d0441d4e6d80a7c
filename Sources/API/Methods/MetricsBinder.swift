internal import Connections
internal import JSON
package import Model

/// A metric of the daemon with its samples, as in OpenMetrics.
package struct Metric: Codable {
  /// The type of a metric, named as in OpenMetrics.
  package enum Kind: String {
    /// A number that only grows until a restart.
    case counter
    /// A number that goes up and down.
    case gauge
    /// The distribution of a quantity, with cumulative buckets.
    case histogram
  }

  /// One measured value, or one distribution, of a metric.
  package struct Sample: Codable {
    /// Distinguishes the samples of a metric; `nil` if there is only one.
    let labels: [String: String]?

    /// The value; `nil` for a histogram.
    let value: Double?

    /// The number of observations and their sum; `nil` unless it is a histogram.
    let count: UInt64?
    let sum: Double?
    let buckets: [Bucket]?
  }

  /// The number of observations up to a bound.
  package struct Bucket: Codable {
    let le: Double
    let count: UInt64
  }

  /// The name without the suffix `_total` of counters.
  let name: String
  let type: String

  /// The unit, which is also the end of the name; `nil` if there is none.
  let unit: String?
  let help: String
  let samples: [Sample]

  private init(_ name: String, _ kind: Kind, _ unit: String?, _ help: String, _ samples: [Sample]) {
    self.name = unit.map { "\(name)_\($0)" } ?? name
    (type, self.unit, self.help, self.samples) = (kind.rawValue, unit, help, samples)
  }

  /// Creates a metric with one sample.
  package init(
    _ name: String, _ kind: Kind, unit: String? = nil, _ help: String, _ value: some BinaryInteger
  ) {
    self.init(name, kind, unit: unit, help, Double(value))
  }

  package init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String, _ value: Double) {
    self.init(
      name, kind, unit, help,
      [Sample(labels: nil, value: value, count: nil, sum: nil, buckets: nil)])
  }

  /// Creates a metric with a sample for each value of a label.
  package init(
    _ name: String, _ kind: Kind, unit: String? = nil, _ help: String, by label: String,
    _ samples: [(label: String, value: UInt64)]
  ) {
    self.init(
      name, kind, unit, help,
      samples.map {
        Sample(
          labels: [label: $0.label], value: Double($0.value), count: nil, sum: nil, buckets: nil)
      })
  }

  /// Creates a metric of durations with a histogram for each value of a label.
  package init(
    _ name: String, _ help: String, by label: String, _ samples: [(label: String, Histogram)]
  ) {
    self.init(
      name, .histogram, "seconds", help,
      samples.map { value, histogram in
        Sample(
          labels: [label: value], value: nil, count: histogram.count,
          sum: Double(histogram.nanoseconds) / 1e9,
          buckets: histogram.buckets.map {
            Bucket(le: Double($0.bound) / 1e9, count: $0.count)
          })
      })
  }
}

/// Offers the metrics of the daemon to clients.
package func bindMetrics(_ catalog: Catalog, _ measure: @escaping () -> [Metric]) {
  catalog.query(
    "metrics", "Returns cumulative counters, gauges and histograms for a monitoring system.",
    NoParameters.self
  ) { _, _, _ in measure() }
}
