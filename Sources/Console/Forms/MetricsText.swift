package import JSON

/// The text of metrics, for a monitoring system.
package struct MetricsText {
  /// A text format.
  ///
  /// They differ in the name that describes a counter, in units and in the last line.
  package enum Format {
    /// OpenMetrics 1.0.
    case openMetrics
    /// The text format of Prometheus, version 0.0.4, which node_exporter and promtool read.
    case prometheus
  }

  private let format: Format

  package init(_ format: Format) {
    self.format = format
  }

  /// Returns the text of the metrics that the method `metrics` has returned, without the last line
  /// feed.
  ///
  /// Ignores metrics without a name or a type.
  package func text(_ metrics: [JSONValue]) -> String {
    var lines = up(true)
    for case .object(let metric) in metrics {
      guard let name = metric.word("name"), let type = metric.word("type") else { continue }
      lines += head(name, type, unit: metric.word("unit"), metric.word("help") ?? "")
      guard case .array(let samples)? = metric["samples"] else { continue }
      for case .object(let sample) in samples {
        lines += self.lines(name, isCounter: type == "counter", sample)
      }
    }
    return (lines + end).joined(separator: "\n")
  }

  /// Returns the text that only says whether a daemon answers.
  package func text(isUp: Bool) -> String { (up(isUp) + end).joined(separator: "\n") }

  private var end: [String] { format == .openMetrics ? ["# EOF"] : [] }

  private func up(_ isUp: Bool) -> [String] {
    head("binderd_up", "gauge", unit: nil, "1 if the daemon answers, otherwise 0.")
      + ["binderd_up \(isUp ? 1 : 0)"]
  }

  private func head(_ name: String, _ type: String, unit: String?, _ help: String) -> [String] {
    let isTotal = type == "counter" && format == .prometheus
    let shown = isTotal ? name + "_total" : name
    var lines = ["# TYPE \(shown) \(type)"]
    if let unit, format == .openMetrics { lines.append("# UNIT \(shown) \(unit)") }
    lines.append("# HELP \(shown) \(Self.escaped(help))")
    return lines
  }

  private func lines(_ name: String, isCounter: Bool, _ sample: JSONObject) -> [String] {
    var labels: [String] = []
    if case .object(let object)? = sample["labels"] {
      for member in object.members {
        guard case .string(let value) = member.value else { continue }
        labels.append("\(member.name)=\"\(Self.escaped(value, quotes: true))\"")
      }
    }
    func line(_ suffix: String, _ value: JSONValue?, _ more: [String] = []) -> String {
      let all = (labels + more).joined(separator: ",")
      let braces = all.isEmpty ? "" : "{\(all)}"
      return "\(name)\(suffix)\(braces) \(value?.number ?? "NaN")"
    }
    guard case .array(let buckets)? = sample["buckets"] else {
      return [line(isCounter ? "_total" : "", sample["value"])]
    }
    return buckets.compactMap { bucket in
      guard case .object(let bucket) = bucket, let bound = bucket["le"]?.number else { return nil }
      return line("_bucket", bucket["count"], ["le=\"\(Self.float(bound))\""])
    } + [
      line("_bucket", sample["count"], ["le=\"+Inf\""]), line("_sum", sample["sum"]),
      line("_count", sample["count"]),
    ]
  }

  /// Returns a bound as a floating-point number, as OpenMetrics requires.
  private static func float(_ number: String) -> String {
    number.contains { ".eE".contains($0) } ? number : number + ".0"
  }

  private static func escaped(_ text: String, quotes: Bool = false) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.append(character)
      }
    }
    return escaped
  }
}

extension JSONObject {
  fileprivate func word(_ name: String) -> String? {
    guard case .string(let text)? = self[name] else { return nil }
    return text
  }
}

extension JSONValue {
  fileprivate var number: String? {
    guard case .number = self else { return nil }
    return text.text
  }
}
