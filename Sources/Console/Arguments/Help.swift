extension Syntaxes {
  /// A width that fits every terminal.
  private static let width = 80

  /// Returns the general help, with the commands in groups.
  package func help(_ style: Style) -> String {
    var text = "\(program): \(summary)\n\n"
    text += "usage: \(style.bold(program)) [OPTION…] COMMAND [WORD…]\n\n"
    let grouped = Set(groups.flatMap(\.commands))
    let others = commands.filter { !grouped.contains($0.name) }
    let lists =
      (others.isEmpty ? [] : [summaries(of: others, style)])
      + groups.map { group in
        let commands = commands.filter { group.commands.contains($0.name) }
        return "\(style.bold(group.title))\n" + summaries(of: commands, style)
      }
    text += lists.joined(separator: "\n\n")
    text += "\n\nFor all commands:\n\n" + Self.list(options.map { ($0.usage, $0.doc) }, style)
    text += "\n\n\(style.bold("\(program) help COMMAND")) shows more;"
    text += " \(style.bold("\(program) help TOPIC")) explains one of these:\n\n"
    return text + Self.list(topics.map { ($0.name, $0.summary) }, style)
  }

  /// Returns the help on a command or a topic; `nil` if there is none with that name.
  ///
  /// - Parameter words: The name, then optional operands of the command, as in `journal backup`.
  ///   They select the help on the command.
  package func help(on words: [String], _ style: Style) -> String? {
    guard let name = words.first else { return help(style) }
    if let syntax = self[name] {
      let isKnown = zip(words.dropFirst(), syntax.operands).allSatisfy { $1.choices.contains($0) }
      return isKnown && words.count <= syntax.operands.count + 1 ? help(syntax, style) : nil
    }
    guard words.count == 1 else { return nil }
    return topics.first { $0.name == name }.map { style.bold($0.name) + "\n\n" + $0.text }
  }

  private func help(_ syntax: Syntax, _ style: Style) -> String {
    let words = [program, syntax.name] + (syntax.options.isEmpty ? [] : ["[OPTION…]"])
    var text = "usage: "
    text += (words + syntax.operands.map(\.usage)).joined(separator: " ") + "\n\n"
    text += syntax.summary.wrapped(width: Self.width).joined(separator: "\n")
    if !syntax.details.isEmpty {
      text += "\n\n" + syntax.details.paragraphs(width: Self.width)
    }
    if !syntax.options.isEmpty {
      text += "\n\n" + Self.list(syntax.options.map { ($0.usage, $0.doc) }, style)
    }
    if !syntax.examples.isEmpty {
      text += "\n\n" + syntax.examples.map { "  $ \($0)" }.joined(separator: "\n")
    }
    return text
  }

  /// Returns a line for each command; all lists are aligned.
  private func summaries(of commands: [Syntax], _ style: Style) -> String {
    Glossary(
      commands.map { ($0.name, $0.summary) },
      nameColumns: self.commands.map(\.name.columns).max() ?? 0
    )
    .text(width: Self.width, style)
  }

  private static func list(_ rows: [(String, String)], _ style: Style) -> String {
    Glossary(rows).text(width: width, style)
  }
}

extension String {
  /// Returns the text with each paragraph wrapped.
  ///
  /// Blank lines separate paragraphs. Lines that begin with two spaces are not changed.
  fileprivate func paragraphs(width: Int) -> String {
    var lines: [String] = []
    var words = ""
    func wrap() {
      lines += words.wrapped(width: width)
      words = ""
    }
    for line in split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty || line.hasPrefix("  ") {
        wrap()
        lines.append(String(line))
      } else {
        words += line + "\n"
      }
    }
    wrap()
    return lines.joined(separator: "\n")
  }
}

extension Option {
  /// The option as a list of options shows it.
  var usage: String {
    let short = letter.map { "-\($0), " } ?? "    "
    return short + "--" + name + (value.map { " " + $0 } ?? "")
  }
}
