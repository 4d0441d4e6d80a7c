/// A table: aligned with a header on a terminal, tabs and no header when piped.
///
/// A cell has one line, so that the text of a client makes neither a row nor a column.
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

  /// The narrowest last column whose text is wrapped; beside a wider table the terminal wraps it.
  private static let narrowest = 16

  /// Returns the lines of the table.
  ///
  /// - Parameters:
  ///   - width: The width of the terminal, into which words of the last column are wrapped; `nil`
  ///     for no limit.
  ///   - cell: Styles a cell, given its column.
  package func lines(
    isTerminal: Bool, width: Int? = nil, _ style: Style, cell: (Int, String) -> String = { $1 }
  ) -> [String] {
    let rows = rows.map { row in row.map(\.onOneLine) }
    guard isTerminal else { return rows.map { $0.joined(separator: "\t") } }
    // Escaped as they will be shown, so that the widths are right.
    let shown = rows.map { row in row.map { $0.harmless() } }
    let widths = header.indices.map { column in
      ([header] + shown).map { $0[column].columns }.max() ?? 0
    }
    let before = widths.dropLast().reduce(0) { $0 + $1 + 2 }
    let room = (width ?? .max) - before
    return [style.bold(align(header, widths))]
      + shown.flatMap { row in
        guard room >= Self.narrowest, let last = row.last, last.columns > room else {
          return [align(row, widths, cell)]
        }
        let parts = last.wrapped(width: room)
        let space = String(repeating: " ", count: before)
        return parts.enumerated().map { i, part in
          i == 0
            ? align(row.dropLast() + [part], widths, cell) : space + cell(row.count - 1, part)
        }
      }
  }

  private func align(
    _ cells: [String], _ widths: [Int], _ style: (Int, String) -> String = { $1 }
  ) -> String {
    var line = ""
    for (column, cell) in cells.enumerated() {
      let space = String(repeating: " ", count: widths[column] - cell.columns)
      let isLast = column == cells.count - 1
      let cell = style(column, cell)
      line += numbers.contains(column) ? space + cell : isLast ? cell : cell + space
      if !isLast { line += "  " }
    }
    return line
  }
}

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
    let cells = cells.map(\.onOneLine)
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

/// A two-column list of names and meanings; long meanings continue on the next line.
package struct Glossary {
  private let rows: [(name: String, meaning: String)]

  /// The least width of the names in columns, with which several lists are aligned.
  private let nameColumns: Int

  package init(_ rows: [(String, String)], nameColumns: Int = 0) {
    (self.rows, self.nameColumns) = (rows, nameColumns)
  }

  /// Returns the lines, without a line end after the last.
  ///
  /// - Parameter width: The width of a line in columns; `nil` for no limit.
  package func text(width: Int?, _ style: Style) -> String {
    let column = max(nameColumns, rows.map(\.name.columns).max() ?? 0) + 4
    // A very narrow column is harder to read than lines wrapped by the terminal.
    let room = width.map { $0 - column }.flatMap { $0 < 20 ? nil : $0 } ?? .max
    return rows.map { name, meaning in
      let space = String(repeating: " ", count: column - name.columns - 2)
      let lines = meaning.wrapped(width: room)
      guard let first = lines.first else { return "  " + style.bold(name) }
      let rest = lines.dropFirst().map { "\n" + String(repeating: " ", count: column) + $0 }
      return "  " + style.bold(name) + space + first + rest.joined()
    }.joined(separator: "\n")
  }
}

extension String {
  /// Wraps the text into lines of at most `width` columns; a longer word gets its own line.
  package func wrapped(width: Int) -> [String] {
    var lines: [String] = []
    for word in split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      if let last = lines.last, last.columns + 1 + String(word).columns <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
