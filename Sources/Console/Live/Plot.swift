/// A curve in characters, with axes.
package struct Plot {
  /// The values in one interval of time.
  package struct Sample: Equatable, Sendable {
    package var low: Double
    package var high: Double

    /// The value at the end of the interval.
    package var last: Double

    package init(_ value: Double) {
      (low, high, last) = (value, value, value)
    }

    /// Adds a later value of the same interval.
    package mutating func add(_ value: Double) {
      low = min(low, value)
      high = max(high, value)
      last = value
    }
  }

  /// The samples of each curve.
  private let curves: [[Sample?]]
  private let bottom: Double
  private let top: Double

  /// The distance of two labels of the vertical axis.
  private let step: Double

  /// - Parameters:
  ///   - samples: The samples in the order of time, `nil` for an interval without a value. There
  ///     are two for each column of the curve, see ``columns(width:labels:)``.
  ///   - height: The number of lines.
  package init(_ samples: [Sample?], height: Int) { self.init(curves: [samples], height: height) }

  /// - Parameter curves: The samples of several curves, the same number of each.
  package init(curves: [[Sample?]], height: Int) {
    self.curves = curves
    let known = curves.flatMap { $0.compactMap(\.self) }
    let low = known.map(\.low).min() ?? 0
    let high = known.map(\.high).max() ?? 1
    step = Self.step(from: low, to: high, labels: max(2, height / 4))
    let bottom = (low / step).rounded(.down) * step
    let top = (high / step).rounded(.up) * step
    // A constant is a line in the middle.
    (self.bottom, self.top) = bottom < top ? (bottom, top) : (bottom - step, top + step)
  }

  /// Returns a step of 1, 2 or 5 times a power of ten, for about so many labels.
  private static func step(from low: Double, to high: Double, labels: Int) -> Double {
    let wanted = (high - low) / Double(labels)
    guard wanted > 0, wanted.isFinite else { return max(1, (low.magnitude / 10).rounded(.up)) }
    var power = 1.0
    while power * 10 <= wanted { power *= 10 }
    while power > wanted { power /= 10 }
    return [1, 2, 5].map { $0 * power }.first { $0 >= wanted } ?? 10 * power
  }

  /// The labels of the vertical axis, from the top.
  package var labels: [String] {
    let count = ((top - bottom) / step).rounded()
    // Beyond the precision of numbers.
    guard 1...100 ~= count else { return [label(top), label(bottom)] }
    return (0...Int(count)).reversed().map { label(bottom + Double($0) * step) }
  }

  private func label(_ value: Double) -> String {
    var (decimals, unit) = (0, step)
    while unit < 0.999, decimals < 9 {
      unit *= 10
      decimals += 1
    }
    guard value.magnitude < 1e9, decimals < 9 else { return "\(value)" }
    let scale = (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }
    let number = Int64((value * scale).rounded())
    guard decimals > 0 else { return Amount.number(Double(number)) }
    let digits = String(number.magnitude)
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    return (number < 0 ? "-" : "") + padded.dropLast(decimals) + "." + padded.suffix(decimals)
  }

  /// The last, the smallest and the largest value; empty if there is none.
  package var summary: String { Self.summary(curves.first ?? []) }

  /// The last, the smallest and the largest of some samples; empty if there is none.
  package static func summary(_ samples: [Sample?]) -> String {
    let known = samples.compactMap(\.self)
    guard let last = known.last?.last, let low = known.map(\.low).min(),
      let high = known.map(\.high).max()
    else { return "" }
    return "last \(short(last))  min \(short(low))  max \(short(high))"
  }

  /// Returns a number with at most two decimals.
  private static func short(_ value: Double) -> String {
    guard value.magnitude < 1e9, value != value.rounded() else { return Amount.number(value) }
    return "\((value * 100).rounded() / 100)"
  }

  /// Returns the lines: the curve and its axes.
  package func lines(height: Int, _ axis: TimeAxis, _ style: Style) -> [String] {
    let height = max(2, height)
    let columns = ((curves.first?.count ?? 0) + 1) / 2
    let names = labels
    let width = names.map(\.columns).max() ?? 0
    // The dots of each character, and the curve that has drawn there last.
    var rows = Array(
      repeating: Array(repeating: (dots: UInt32(0), curve: 0), count: columns), count: height)
    for (curve, samples) in curves.enumerated() {
      for (i, sample) in samples.enumerated() where i / 2 < columns {
        guard let sample else { continue }
        for dot in dot(sample.low, height)...dot(sample.high, height) {
          // Dots are counted from below, rows from above.
          rows[height - 1 - dot / 4][i / 2].dots |= Self.bit(column: i % 2, row: 3 - dot % 4)
          rows[height - 1 - dot / 4][i / 2].curve = curve
        }
      }
    }
    var lines: [String] = []
    for (row, cells) in rows.enumerated() {
      let label = name(ofRow: row, height, names)
      let axis = label == nil ? "│" : "┤"
      lines.append((label ?? "").leading(to: width) + " " + axis + Self.text(cells, style))
    }
    let space = String(repeating: " ", count: width + 1)
    for (mark, line) in zip(["└", " "], axis.lines) { lines.append(space + mark + line) }
    return lines
  }

  /// Returns the characters of a row, each in the colour of its curve.
  private static func text(_ cells: [(dots: UInt32, curve: Int)], _ style: Style) -> String {
    var (text, run, curve) = ("", "", 0)
    for cell in cells {
      if cell.dots != 0, cell.curve != curve {
        text += run.isEmpty ? "" : style.curve(curve, run)
        (run, curve) = ("", cell.curve)
      }
      run.unicodeScalars.append(cell.dots == 0 ? " " : Unicode.Scalar(0x2800 + cell.dots) ?? " ")
    }
    return text + style.curve(curve, run)
  }

  /// Returns a line for each curve: its title, and its last, smallest and largest value.
  package static func titles(
    _ curves: [(title: String, samples: [Sample?])], _ style: Style
  ) -> [String] {
    curves.enumerated().map { number, curve in
      let mark = curves.count > 1 ? style.curve(number, "━ ") : ""
      return mark + style.bold(curve.title) + "  " + summary(curve.samples)
    }
  }

  /// Returns the number of columns of the curve for a screen.
  package static func columns(width: Int, labels: [String]) -> Int {
    max(8, width - 2 - (labels.map(\.columns).max() ?? 0))
  }

  /// Returns the label of a row; `nil` if it has none.
  private func name(ofRow row: Int, _ height: Int, _ names: [String]) -> String? {
    let count = names.count - 1
    let index = (0...count).first { i in
      (height - 1) - dot(top - Double(i) * step, height) / 4 == row
    }
    return index.map { names[$0] }
  }

  /// Returns the place of a value, counted in dots from below.
  private func dot(_ value: Double, _ height: Int) -> Int {
    let dots = Double(height * 4 - 1)
    let place = ((value - bottom) / (top - bottom) * dots).rounded()
    return Int(max(0, min(dots, place.isFinite ? place : 0)))
  }

  /// Returns the bit of a dot in a braille character.
  private static func bit(column: Int, row: Int) -> UInt32 {
    [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]][column][row]
  }
}
