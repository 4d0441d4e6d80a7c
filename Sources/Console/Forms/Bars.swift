/// A horizontal bar with a precision of an eighth of a column.
package struct Bar {
  private static let parts = Array(" ▏▎▍▌▋▊▉█")

  private let low: Double
  private let high: Double

  /// - Parameter values: The values to compare; the bars are scaled from 0, or from the smallest value
  ///   if it is negative, to the largest one.
  package init?(for values: [Double]) {
    guard let low = values.min(), let high = values.max(), low.isFinite, high.isFinite else {
      return nil
    }
    (self.low, self.high) = (min(0, low), max(0, high))
  }

  /// Returns the bar of a value, without spaces at its end.
  package func text(_ value: Double, width: Int) -> String {
    guard high > low, value.isFinite, width > 0 else { return "" }
    let part = max(0, min(1, (value - low) / (high - low)))
    let eighths = Int((part * Double(width * 8)).rounded())
    let rest = eighths % 8
    return String(repeating: "█", count: eighths / 8) + (rest == 0 ? "" : String(Self.parts[rest]))
  }
}

/// A small curve of one line.
package enum Sparkline {
  private static let blocks = Array("▁▂▃▄▅▆▇█")

  /// Returns one character for each value, scaled from the smallest to the largest one; a space for
  /// a missing one.
  package static func text(between values: [Double?]) -> String {
    let known = values.compactMap(\.self).filter(\.isFinite)
    let (low, high) = (known.min() ?? 0, known.max() ?? 0)
    return String(
      values.map { value in
        guard let value, value.isFinite else { return " " }
        // A constant is a line in the middle.
        let part = high > low ? (value - low) / (high - low) : 0.5
        return blocks[min(blocks.count - 1, Int((part * Double(blocks.count - 1)).rounded()))]
      })
  }

  /// Returns one character for each of the last values, scaled from 0 to the largest of them.
  ///
  /// A value that is not finite or is negative counts as 0.
  package static func text(_ values: some BidirectionalCollection<Double>, width: Int) -> String {
    let shown = values.suffix(max(0, width)).map { $0.isFinite ? max(0, $0) : 0 }
    let top = shown.max() ?? 0
    return String(
      shown.map { value in
        let part = top > 0 ? value / top : 0
        return blocks[min(blocks.count - 1, Int((part * Double(blocks.count - 1)).rounded()))]
      })
  }
}
