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
