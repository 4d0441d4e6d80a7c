/// A table: aligned with a header on a terminal, tabs and no header when piped.
package struct Table {
  private let header: [String]
  private var rows: [[String]] = []

  /// The columns with numbers, which are aligned to the right.
  private let numbers: Set<Int>

  package init(_ header: [String], numbers: Set<Int> = []) {
    self.header = header
    self.numbers = numbers
  }

  package mutating func add(_ cells: [String]) {
    rows.append(cells)
  }

  /// Returns the lines of the table.
  package func lines(isTerminal: Bool, _ style: Style) -> [String] {
    guard isTerminal else { return rows.map { $0.joined(separator: "\t") } }
    // Escaped as they will be shown, so that the widths are right.
    let shown = rows.map { row in row.map { $0.harmless() } }
    let widths = header.indices.map { column in
      ([header] + shown).map { $0[column].columns }.max() ?? 0
    }
    return [style.bold(align(header, widths))] + shown.map { align($0, widths) }
  }

  private func align(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (column, cell) in cells.enumerated() {
      let space = String(repeating: " ", count: widths[column] - cell.columns)
      let isLast = column == cells.count - 1
      line += numbers.contains(column) ? space + cell : isLast ? cell : cell + space
      if !isLast { line += "  " }
    }
    return line
  }
}
