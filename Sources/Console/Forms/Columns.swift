/// Lines of a stream: aligned columns on a terminal, tabs when piped.
///
/// A column is as wide as its widest cell so far, because later cells are unknown.
package struct Columns {
  private var widths: [Int]
  private let isTerminal: Bool

  /// - Parameter widths: The minimum widths of the columns; the last column needs none.
  package init(widths: [Int], isTerminal: Bool) {
    self.widths = widths
    self.isTerminal = isTerminal
  }

  /// Widens the columns for the cells of a later line.
  package mutating func widen(for cells: [String]) {
    for (column, cell) in cells.enumerated() where column < widths.count {
      widths[column] = max(widths[column], cell.harmless().columns)
    }
  }

  /// Returns one line.
  ///
  /// - Parameter style: Styles a cell, given its column.
  package mutating func line(_ cells: [String], style: (Int, String) -> String) -> String {
    guard isTerminal else { return cells.joined(separator: "\t") }
    var line = ""
    // Escaped as they will be shown, so that the widths are right.
    for (column, cell) in cells.map({ $0.harmless() }).enumerated() {
      line += style(column, cell)
      guard column < cells.count - 1 else { break }
      widths[column] = max(widths[column], cell.columns)
      line += String(repeating: " ", count: widths[column] - cell.columns + 2)
    }
    return line
  }
}
