/// Names and what they mean, in two columns; what is too long for a line goes on under itself.
package struct Glossary {
  private let rows: [(name: String, meaning: String)]

  package init(_ rows: [(String, String)]) {
    self.rows = rows
  }

  /// The lines, without a line end after the last.
  ///
  /// - Parameter width: Of a line, in characters; `nil` for lines of any length.
  package func text(width: Int?, _ style: Style) -> String {
    let column = (rows.map(\.name.columns).max() ?? 0) + 4
    // Narrow columns would be harder to read than lines that the terminal breaks.
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
  /// The words of the text in lines of at most a width; a word that is longer has its own.
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
