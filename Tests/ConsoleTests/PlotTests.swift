import Console
import JSON
import Testing
import Wire

struct PlotTests {
  private let plain = Style(isOn: false)

  @Test
  func `a rising line goes from the bottom to the top`() {
    let plot = Plot((0..<16).map { .init(Double($0)) }, height: 4)
    #expect(
      plot.lines(height: 4, axis(8), plain) == [
        "20 ┤        ",
        "10 ┤     ⣀⠔⠉",
        "   │  ⢀⠤⠊   ",
        " 0 ┤⡠⠒⠁     ",
        "   └┬───────",
        "    12:00   ",
      ])
    #expect(plot.summary == "last 15  min 0  max 15")
    #expect(Plot([nil], height: 4).summary.isEmpty)
    #expect(Plot([.init(1.257)], height: 4).summary == "last 1.26  min 1.26  max 1.26")
  }

  private func axis(_ columns: Int) -> TimeAxis {
    TimeAxis(
      from: Timestamp(microseconds: 43_200_000_000),
      to: Timestamp(microseconds: 43_260_000_000), columns: columns)
  }

  @Test(arguments: [
    (
      "2026-11-24T10:00:20Z", "2026-11-24T10:02:20Z", 60,
      ["10:00:30", "10:01:00", "10:01:30", "10:02:00"]
    ),
    ("2026-11-24T10:07:00Z", "2026-11-24T11:07:00Z", 60, ["10:15", "10:30", "10:45", "11:00"]),
    (
      "2026-11-24T10:07:00Z", "2026-11-24T11:07:00Z", 200,
      [
        "10:10", "10:15", "10:20", "10:25", "10:30", "10:35", "10:40", "10:45", "10:50", "10:55",
        "11:00",
        "11:05",
      ]
    ),
    (
      "2026-11-23T20:00:00Z", "2026-11-24T08:00:00Z", 60,
      ["21:00", "11-24", "03:00", "06:00"]
    ),
    ("2026-11-01T00:00:00Z", "2026-11-29T00:00:00Z", 60, ["11-05", "11-12", "11-19", "11-26"]),
    (
      "2020-06-01T00:00:00Z", "2024-06-01T00:00:00Z", 80,
      ["2020-12-19", "2021-12-19", "2022-12-19", "2023-12-19"]
    ),
    ("2026-11-24T10:00:00Z", "2026-11-24T10:00:00Z", 60, []),
    ("2026-11-24T10:00:00Z", "2026-11-24T11:00:00Z", 0, []),
  ])
  func `the ticks of an axis are at round times`(
    from: String, to: String, columns: Int, labels: [String]
  ) throws {
    let axis = TimeAxis(
      from: try #require(Timestamp(from)), to: try #require(Timestamp(to)), columns: columns)
    #expect(axis.ticks.map(\.label) == labels)
    #expect(axis.ticks.allSatisfy { 0..<columns ~= $0.column })
    #expect(axis.lines.allSatisfy { $0.count == columns })
  }

  @Test
  func `a curve in place moves with time, and holds the last value`() throws {
    let begin = Timestamp(microseconds: 43_200_000_000)
    var screen = PlotScreen(
      [("cells/t", "cells/t", [nil, nil, .init(1), .init(1)])], from: begin,
      now: Timestamp(microseconds: begin.microseconds + 4_000_000), pointer: nil, shown: { $0 })
    func samples(at now: UInt64) -> String {
      screen.lines(width: 40, height: 9, plain, status: nil, at: now)[0]
    }
    #expect(samples(at: 100_000) == "cells/t  last 1  min 1  max 1")
    screen.update("cells/t", try JSONText(parsing: "5"), isPresent: false, at: 100_500)
    #expect(samples(at: 100_500) == "cells/t  last 5  min 1  max 5")
    screen.update("cells/t", try JSONText(parsing: "2"), isPresent: false, at: 102_500)
    #expect(samples(at: 102_500) == "cells/t  last 2  min 1  max 5")
    #expect(samples(at: 104_600) == "cells/t  last 2  min 2  max 5", "the first ones are gone")
    #expect(samples(at: 900_000) == "cells/t  last 2  min 2  max 2", "the last value holds")
    for (width, height) in [(1, 1), (5, 3), (200, 50)] {
      let lines = screen.lines(width: width, height: height, plain, status: "lost", at: 900_000)
      #expect(lines.count == height)
      #expect(lines.allSatisfy { $0.columns <= width })
    }
  }

  @Test
  func `several curves share the axes, each with its colour and its title`() {
    let low: [Plot.Sample?] = [.init(0), .init(0), nil, nil]
    let high: [Plot.Sample?] = [nil, nil, .init(10), .init(10)]
    let plot = Plot(curves: [low, high], height: 2)
    #expect(plot.labels == ["10", "5", "0"] || plot.labels == ["10", "0"])
    let colored = Style(isOn: true)
    let lines = plot.lines(height: 2, axis(2), colored)
    #expect(lines[0].contains(colored.curve(1, "⠉")))
    #expect(lines[1].contains(colored.curve(0, "⣀ ")))
    #expect(
      Plot.titles([("a", low), ("b", high)], plain)
        == ["━ a  last 0  min 0  max 0", "━ b  last 10  min 10  max 10"])
    var screen = PlotScreen(
      [("cells/a", "A", low), ("cells/b", "B", high)], from: Timestamp(microseconds: 0),
      now: Timestamp(microseconds: 4_000_000), pointer: nil, shown: { $0 })
    screen.update("cells/b", JSONText(7), isPresent: false, at: 100)
    let shown = screen.lines(width: 40, height: 12, plain, status: nil, at: 100)
    #expect(shown[0] == "━ A  last 0  min 0  max 0")
    #expect(shown[1] == "━ B  last 7  min 7  max 10")
    #expect(shown.count == 12)
  }

  @Test
  func `a curve of one line is scaled from its smallest to its largest value`() {
    #expect(Sparkline.text(between: [18, nil, 19, 25]) == "▁ ▂█")
    #expect(Sparkline.text(between: [3, 3]) == "▅▅")
    #expect(Sparkline.text(between: [nil, .nan, .infinity]) == "   ")
  }

  @Test
  func `a bar has a precision of an eighth`() throws {
    let bar = try #require(Bar(for: [0, 8, 2.5]))
    #expect([0, 8, 2.5, 1].map { bar.text($0, width: 4) } == ["", "████", "█▎", "▌"])
    let negative = try #require(Bar(for: [-1, 1]))
    #expect([-1, 0, 1].map { negative.text($0, width: 4) } == ["", "██", "████"])
    #expect(Bar(for: []) == nil)
    #expect(Bar(for: [.infinity]) == nil)
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
    let lines = Plot([sample, nil], height: 2).lines(height: 2, axis(1), plain)
    #expect(lines.prefix(2).allSatisfy { $0.hasSuffix("⡇") })
  }

  @Test
  func `intervals without a value are empty, and odd numbers of them fit`() {
    let lines = Plot([nil, nil, .init(1)], height: 4).lines(height: 4, axis(2), plain)
    #expect(lines.count == 6)
    #expect(lines.prefix(4).allSatisfy { !$0.contains("⠁⠁") })
    #expect(Plot([], height: 4).lines(height: 4, axis(0), plain).count == 6)
  }

  @Test(arguments: [-1e300, 1e300, 1e-300, .greatestFiniteMagnitude, .infinity])
  func `extreme numbers do not trap`(value: Double) {
    #expect(
      Plot([.init(value), .init(0)], height: 8).lines(height: 8, axis(1), plain).count == 10)
    #expect(!Plot([.init(value)], height: 8).summary.isEmpty)
  }
}
