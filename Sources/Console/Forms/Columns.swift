/// Lines of a stream, with cells under each other on a terminal and tabs when piped.
///
/// A column becomes as wide as its widest cell so far, because those to come are not known.
package struct Columns {
  private var widths: [Int]
  private let isTerminal: Bool

  /// - Parameter widths: How wide the columns are at least; the last one needs none.
  package init(widths: [Int], isTerminal: Bool) {
    self.widths = widths
    self.isTerminal = isTerminal
  }

  /// Makes the columns as wide as the cells of a line that is still to come.
  package mutating func widen(for cells: [String]) {
    for (column, cell) in cells.enumerated() where column < widths.count {
      widths[column] = max(widths[column], cell.harmless().columns)
    }
  }

  /// One line.
  ///
  /// - Parameter style: Styles a cell by its column.
  package mutating func line(_ cells: [String], style: (Int, String) -> String) -> String {
    guard isTerminal else { return cells.joined(separator: "\t") }
    var line = ""
    // As it will be shown, so that it is as wide as that.
    for (column, cell) in cells.map({ $0.harmless() }).enumerated() {
      line += style(column, cell)
      guard column < cells.count - 1 else { break }
      widths[column] = max(widths[column], cell.columns)
      line += String(repeating: " ", count: widths[column] - cell.columns + 2)
    }
    return line
  }
}
