package import Wire

/// The ticks of a horizontal axis of time, at round local times.
package struct TimeAxis: Equatable {
  /// A tick with its label.
  package struct Tick: Equatable {
    package let column: Int
    package let label: String

    package init(column: Int, label: String) {
      (self.column, self.label) = (column, label)
    }
  }

  package let ticks: [Tick]
  private let columns: Int

  /// The distances of two ticks, in seconds.
  private static let steps: [Int64] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    172_800, 604_800, 1_209_600, 2_592_000, 7_776_000, 31_536_000, 315_360_000,
  ]

  /// The columns between two labels.
  private static let gap = 6

  /// - Parameters:
  ///   - from: The local time at the left end, expressed as if it were UTC.
  ///   - to: The local time at the right end.
  ///   - columns: The number of columns between them.
  package init(from: Timestamp, to: Timestamp, columns: Int) {
    let (begin, span) = (from.microseconds, to.microseconds - from.microseconds)
    self.columns = max(0, columns)
    guard span > 0, columns > 0 else {
      ticks = []
      return
    }
    let wanted = { (step: Int64) in Self.label(from, step).count + Self.gap }
    let step =
      Self.steps.first { step in
        Double(step) * 1e6 / Double(span) * Double(columns) >= Double(wanted(step))
      } ?? .max / 2_000_000
    let unit = step * 1_000_000
    // The first multiple that is not before the beginning, also before 1970.
    var time = begin / unit * unit
    while time < begin { time += unit }
    var ticks: [Tick] = []
    while time <= to.microseconds {
      let column = Int(Double(time - begin) / Double(span) * Double(columns - 1))
      ticks.append(Tick(column: column, label: Self.label(Timestamp(microseconds: time), step)))
      time += unit
    }
    self.ticks = ticks
  }

  /// Returns the label of a time: hours and minutes, with seconds or the date if the step needs it.
  private static func label(_ time: Timestamp, _ step: Int64) -> String {
    let text = time.text
    let (date, clock) = (text.dropFirst(5).prefix(5), text.dropFirst(11))
    if step >= 31_536_000 { return String(text.prefix(10)) }
    if step >= 86_400 { return String(date) }
    if step < 60 { return String(clock.prefix(8)) }
    // Midnight begins another day.
    return clock.hasPrefix("00:00:00") ? String(date) : String(clock.prefix(5))
  }

  /// Returns the axis and the line with the labels.
  package var lines: [String] {
    var axis = Array(repeating: Character("─"), count: columns)
    var labels = Array(repeating: Character(" "), count: columns)
    var free = 0
    for tick in ticks where tick.column < columns {
      axis[tick.column] = "┬"
      let start = max(0, min(tick.column - tick.label.count / 2, columns - tick.label.count))
      guard start >= free, start + tick.label.count <= columns else { continue }
      for (i, character) in tick.label.enumerated() { labels[start + i] = character }
      free = start + tick.label.count + 1
    }
    return [String(axis), String(labels)]
  }
}
