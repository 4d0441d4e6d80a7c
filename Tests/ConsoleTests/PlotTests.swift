import Console
import Testing

struct PlotTests {
  private let plain = Style(isOn: false)

  @Test
  func `a rising line goes from the bottom to the top`() {
    let plot = Plot((0..<16).map { .init(Double($0)) }, height: 4)
    #expect(
      plot.lines(height: 4, from: "a", to: "b", plain) == [
        "20 ┤        ",
        "10 ┤     ⣀⠔⠉",
        "   │  ⢀⠤⠊   ",
        " 0 ┤⡠⠒⠁     ",
        "   └────────",
        "   a       b",
      ])
  }

  @Test(arguments: [
    ([0.0, 1], ["1.0", "0.5", "0.0"]), ([0.0, 100], ["100", "50", "0"]),
    ([-5.0, 5], ["5", "0", "-5"]),
    ([20.1, 20.4], ["20.4", "20.2", "20.0"]), ([7.0, 7], ["8", "7", "6"]),
    ([0.001, 0.002], ["0.0020", "0.0015", "0.0010"]),
    ([0.0, 1e12], ["1000000000000.0", "500000000000.0", "0"]),
    ([1e6, 2e6], ["2,000,000", "1,500,000", "1,000,000"]), ([0.0, 0], ["1", "0", "-1"]),
  ])
  func `labels are round numbers around all values`(values: [Double], labels: [String]) {
    #expect(Plot(values.map { .init($0) }, height: 8).labels == labels)
  }

  @Test
  func `a sample shows its smallest and its largest value`() {
    var sample = Plot.Sample(1)
    sample.add(4)
    sample.add(0)
    #expect((sample.low, sample.high, sample.last) == (0, 4, 0))
    let lines = Plot([sample, nil], height: 2).lines(height: 2, from: "", to: "", plain)
    #expect(lines.prefix(2).allSatisfy { $0.hasSuffix("⡇") })
  }

  @Test
  func `intervals without a value are empty, and odd numbers of them fit`() {
    let lines = Plot([nil, nil, .init(1)], height: 4).lines(height: 4, from: "", to: "", plain)
    #expect(lines.count == 6)
    #expect(lines.prefix(4).allSatisfy { !$0.contains("⠁⠁") })
    #expect(Plot([], height: 4).lines(height: 4, from: "from", to: "to", plain).count == 6)
  }

  @Test(arguments: [-1e300, 1e300, 1e-300, .greatestFiniteMagnitude, .infinity])
  func `extreme numbers do not trap`(value: Double) {
    #expect(
      Plot([.init(value), .init(0)], height: 8).lines(height: 8, from: "", to: "", plain).count
        == 10)
  }
}
