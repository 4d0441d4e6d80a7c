import Console
import JSON
import Testing

struct MetricsTextTests {
  private static let metrics = #"""
    [{"name":"a_bytes","type":"counter","unit":"bytes","help":"Bytes \\ of\nall.",
      "samples":[{"labels":{"of":"x\"y\\z"},"value":12}]},
     {"name":"b_seconds","type":"histogram","unit":"seconds","help":"Times.",
      "samples":[{"count":3,"sum":2.5,"buckets":[{"le":0.001,"count":1},{"le":1,"count":2}]}]},
     {"name":7,"type":"gauge","help":"","samples":[]}]
    """#

  private func text(_ format: MetricsText.Format) throws -> [String] {
    guard case .array(let metrics) = try JSONValue(parsing: Self.metrics) else { return [] }
    return MetricsText(format).text(metrics).split(separator: "\n").map(String.init)
  }

  @Test
  func `OpenMetrics names a counter without its suffix, shows units and ends with EOF`() throws {
    #expect(
      try text(.openMetrics).dropFirst(3) == [
        "# TYPE a_bytes counter", "# UNIT a_bytes bytes", #"# HELP a_bytes Bytes \\ of\nall."#,
        #"a_bytes_total{of="x\"y\\z"} 12"#,
        "# TYPE b_seconds histogram", "# UNIT b_seconds seconds", "# HELP b_seconds Times.",
        #"b_seconds_bucket{le="0.001"} 1"#, #"b_seconds_bucket{le="1.0"} 2"#,
        #"b_seconds_bucket{le="+Inf"} 3"#, "b_seconds_sum 2.5", "b_seconds_count 3",
        "# EOF",
      ])
  }

  @Test
  func `Prometheus names a counter with its suffix and shows no units`() throws {
    let lines = try text(.prometheus)
    #expect(lines.contains("# TYPE a_bytes_total counter"))
    #expect(!lines.contains { $0.hasPrefix("# UNIT") || $0 == "# EOF" })
  }

  @Test
  func `without a daemon only binderd_up is written`() {
    #expect(
      MetricsText(.prometheus).text(isUp: false)
        == "# TYPE binderd_up gauge\n# HELP binderd_up 1 if the daemon answers, otherwise 0.\n"
        + "binderd_up 0")
  }
}
