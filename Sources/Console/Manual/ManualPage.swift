/// A manual page in the language mdoc(7).
///
/// ```swift
/// var page = ManualPage("bindctl", section: 1, "sets and watches values", date: "May 1, 2026")
/// page.section("DESCRIPTION")
/// page.text("Each sentence gets its own line, as mdoc wants it.")
/// print(page.source)
/// ```
package struct ManualPage {
  private var lines: [String]

  /// Whether the next paragraph needs a macro that separates it from the text before.
  private var followsText = false

  /// - Parameter date: The date as mdoc(7) writes it, for example `May 1, 2026`.
  package init(_ name: String, section: Int, _ summary: String, date: String) {
    lines = [
      ".Dd \(date)", ".Dt \(name.uppercased()) \(section)", ".Os", ".Sh NAME",
      ".Nm \(name)", ".Nd \(summary.escaped)",
    ]
  }

  /// The source of the page.
  package var source: String { lines.joined(separator: "\n") }

  // MARK: Headings

  package mutating func section(_ title: String) {
    lines.append(".Sh \(title.escaped)")
    followsText = false
  }

  package mutating func subsection(_ title: String) {
    lines.append(".Ss \(title.argument)")
    followsText = false
  }

  // MARK: Text

  /// Appends a paragraph of plain text.
  package mutating func text(_ text: String) {
    guard !text.isEmpty else { return }
    if followsText { lines.append(".Pp") }
    lines += text.sentences.flatMap { $0.escaped.wrapped(width: 78) }.map(\.asTextLine)
    followsText = true
  }

  /// Appends lines that keep their line breaks and spaces.
  package mutating func literal(_ text: String) {
    lines.append(".Bd -literal -offset indent")
    lines += text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0).escapedLiteral.asTextLine }
    lines.append(".Ed")
    followsText = true
  }

  /// Appends paragraphs; lines that begin with two spaces are literal, as in the help.
  package mutating func paragraphs(_ text: String) {
    for part in text.parts {
      switch part {
      case .prose(let words): self.text(words)
      case .literal(let words): literal(words)
      }
    }
  }

  /// Appends a list of terms and their meanings.
  package mutating func list(_ rows: [(term: ManualTerm, meaning: String)]) {
    list(rows.map { ManualEntry($0.term, $0.meaning) })
  }

  /// Appends a list of terms, their meanings and the lists below them.
  package mutating func list(_ entries: [ManualEntry]) {
    guard !entries.isEmpty else { return }
    lines.append(".Bl -tag -width Ds")
    for entry in entries {
      lines.append(".It \(entry.term.macros)")
      followsText = false
      text(entry.meaning)
      guard !entry.members.isEmpty else { continue }
      lines.append(".Bl -tag -width Ds -compact")
      for member in entry.members {
        lines.append(".It \(member.term.macros)")
        followsText = false
        text(member.meaning)
      }
      lines.append(".El")
    }
    lines.append(".El")
    followsText = true
  }

  // MARK: Synopsis and references

  /// Appends one line of a synopsis: the name of the program, then its words.
  package mutating func usage(_ name: String, _ words: String) {
    lines.append(".Nm \(name)")
    lines += words.escaped.wrapped(width: 78).map(\.asTextLine)
    followsText = true
  }

  /// Appends the section with other pages, sorted by section and name.
  package mutating func references(_ pages: [(name: String, section: Int)]) {
    section("SEE ALSO")
    let sorted = pages.sorted { ($0.section, $0.name) < ($1.section, $1.name) }
    for (i, page) in sorted.enumerated() {
      lines.append(".Xr \(page.name) \(page.section)\(i < sorted.count - 1 ? " ," : "")")
    }
  }
}

/// An entry of a list in a manual page.
package struct ManualEntry {
  fileprivate let term: ManualTerm
  fileprivate let meaning: String
  fileprivate let members: [(term: ManualTerm, meaning: String)]

  package init(
    _ term: ManualTerm, _ meaning: String, members: [(term: ManualTerm, meaning: String)] = []
  ) {
    (self.term, self.meaning, self.members) = (term, meaning, members)
  }
}

/// The term of an entry in a list of a manual page.
package enum ManualTerm {
  case option(Option)
  case word(String)

  fileprivate var macros: String {
    switch self {
    case .option(let option):
      let short = option.letter.map { "Fl \($0) , " } ?? ""
      return short + "Fl \\-\(option.name.escaped)"
        + (option.value.map { " Ar \($0.argument)" } ?? "")
    case .word(let word): return "Ic \(word.argument)"
    }
  }
}

extension String {
  /// The text with mdoc's special characters escaped; the result is ASCII.
  fileprivate var escaped: String {
    var text = ""
    var before: Character = " "
    for character in self {
      switch character {
      case "\\": text += "\\e"
      // Within a word it is a hyphen, otherwise the beginning of an option or a minus sign.
      case "-": text += before.isLetter ? "-" : "\\-"
      default: text += character.ascii
      }
      before = character
    }
    return text
  }

  /// The text escaped so that a reader can copy it to a shell.
  fileprivate var escapedLiteral: String {
    var text = ""
    for character in self {
      switch character {
      case "\\": text += "\\e"
      case "-": text += "\\-"
      case "'": text += "\\(aq"
      case "`": text += "\\(ga"
      case "^": text += "\\(ha"
      case "~": text += "\\(ti"
      default: text += character.ascii
      }
    }
    return text
  }

  /// The text as one argument of a macro.
  fileprivate var argument: String {
    let text = escapedLiteral.split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\\(dq")
    // Two letters such as `At` would be a macro.
    let isMacro = count == 2 && first?.isUppercase == true && last?.isLowercase == true
    return "\"\(isMacro ? "\\&" : "")\(text)\""
  }

  /// The line, protected if it begins like a macro.
  fileprivate var asTextLine: String {
    hasPrefix(".") || hasPrefix("'") ? "\\&" + self : self
  }

  /// The sentences, because mdoc wants each on its own line.
  fileprivate var sentences: [String] {
    var sentences: [String] = []
    var words: [Substring] = []
    let all = split { $0 == " " || $0 == "\n" }
    for (i, word) in all.enumerated() {
      words.append(word)
      let ends =
        word.last.map { ".?!:".contains($0) || ($0 == ")" && word.hasSuffix(".)")) } ?? false
      let next = i + 1 < all.count ? all[i + 1].first : nil
      guard ends, next.map({ !$0.isLowercase }) ?? true else { continue }
      sentences.append(words.joined(separator: " "))
      words = []
    }
    if !words.isEmpty { sentences.append(words.joined(separator: " ")) }
    return sentences
  }

  fileprivate enum Part {
    case prose(String)
    case literal(String)
  }

  /// The paragraphs of a help text, and the runs of literal lines between them.
  fileprivate var parts: [Part] {
    var parts: [Part] = []
    var prose: [Substring] = []
    var literal: [Substring] = []
    func end() {
      if !prose.isEmpty { parts.append(.prose(prose.joined(separator: "\n"))) }
      while literal.last?.isEmpty == true { literal.removeLast() }
      // The list of mdoc indents the lines, so the two spaces of the help go.
      if !literal.isEmpty {
        parts.append(.literal(literal.map { $0.dropFirst(2) }.joined(separator: "\n")))
      }
      (prose, literal) = ([], [])
    }
    for line in split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("  ") {
        if !prose.isEmpty { end() }
        literal.append(line)
      } else if line.isEmpty {
        if literal.isEmpty { end() } else { literal.append(line) }
      } else {
        if !literal.isEmpty { end() }
        prose.append(line)
      }
    }
    end()
    return parts
  }
}

extension Character {
  /// The character in ASCII, or mdoc's escape for it.
  fileprivate var ascii: String {
    unicodeScalars.map { scalar in
      if scalar.isASCII { return String(scalar) }
      let digits = String(scalar.value, radix: 16, uppercase: true)
      return "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
    }.joined()
  }
}
