extension Syntaxes {
  /// What fits on every terminal.
  private static let width = 80

  /// The whole help: what there is, in one screen.
  package func help(_ style: Style) -> String {
    var text = "\(program): \(summary)\n\n"
    text += "usage: \(style.bold(program)) [OPTION…] COMMAND [WORD…]\n\n"
    text += Self.list(commands.map { ($0.name, $0.summary) }, style)
    text += "\n\nFor all commands:\n\n" + Self.list(options.map { ($0.usage, $0.doc) }, style)
    text += "\n\n\(style.bold("\(program) help COMMAND")) says more; so does"
    text += " \(style.bold("\(program) help")) with one of these:\n\n"
    return text + Self.list(topics.map { ($0.name, $0.summary) }, style)
  }

  /// The help of a command or of a topic; `nil` when there is none of that name.
  package func help(on name: String, _ style: Style) -> String? {
    if let syntax = self[name] { return help(syntax, style) }
    return topics.first { $0.name == name }.map { style.bold($0.name) + "\n\n" + $0.text }
  }

  private func help(_ syntax: Syntax, _ style: Style) -> String {
    let words = [program, syntax.name] + (syntax.options.isEmpty ? [] : ["[OPTION…]"])
    var text = "usage: "
    text += (words + syntax.operands.map(\.usage)).joined(separator: " ") + "\n\n"
    text += syntax.summary.wrapped(width: Self.width).joined(separator: "\n")
    if !syntax.details.isEmpty {
      text += "\n\n" + syntax.details.wrapped(width: Self.width).joined(separator: "\n")
    }
    if !syntax.options.isEmpty {
      text += "\n\n" + Self.list(syntax.options.map { ($0.usage, $0.doc) }, style)
    }
    if !syntax.examples.isEmpty {
      text += "\n\n" + syntax.examples.map { "  $ \($0)" }.joined(separator: "\n")
    }
    return text
  }

  private static func list(_ rows: [(String, String)], _ style: Style) -> String {
    Glossary(rows).text(width: width, style)
  }
}

extension Option {
  /// As a list of options shows it.
  var usage: String {
    let short = letter.map { "-\($0), " } ?? "    "
    return short + "--" + name + (value.map { " " + $0 } ?? "")
  }
}
