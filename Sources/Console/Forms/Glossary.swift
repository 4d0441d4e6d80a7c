/// A two-column list of names and meanings; long meanings continue on the next line.
package struct Glossary {
  private let rows: [(name: String, meaning: String)]

  package init(_ rows: [(String, String)]) {
    self.rows = rows
  }

  /// Returns the lines, without a line end after the last.
  ///
  /// - Parameter width: The width of a line in columns; `nil` for no limit.
  package func text(width: Int?, _ style: Style) -> String {
    let column = (rows.map(\.name.columns).max() ?? 0) + 4
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
