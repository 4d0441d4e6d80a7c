extension Syntaxes {
  /// Returns the manual page of the program, made from the tables of the help.
  ///
  /// - Parameters:
  ///   - date: The date as mdoc(7) writes it.
  ///   - references: The pages of the section `SEE ALSO`.
  package func manual(
    date: String, _ references: [(name: String, section: Int)]
  ) -> ManualPage {
    var page = ManualPage(program, section: 1, summary, date: date)
    page.section("SYNOPSIS")
    page.usage(program, "[OPTION ...] COMMAND [WORD ...]")
    page.section("DESCRIPTION")
    page.text(
      "Options may stand before or after COMMAND. They may also be given to any command. "
        + "A word after -- is never an option.")
    page.list(options.map { (.option($0), $0.doc.asSentence) })
    page.section("COMMANDS")
    for syntax in commands { add(syntax, to: &page) }
    for topic in topics where topic.name != "exit" {
      page.section(topic.name.uppercased())
      add(topic, to: &page)
    }
    if let topic = topics.first(where: { $0.name == "exit" }) {
      page.section("EXIT STATUS")
      add(topic, to: &page)
    }
    page.references(references)
    return page
  }

  private func add(_ syntax: Syntax, to page: inout ManualPage) {
    let words = (syntax.options.isEmpty ? [] : ["[OPTION…]"]) + syntax.operands.map(\.usage)
    page.subsection(syntax.name)
    page.usage(program, ([syntax.name] + words).joined(separator: " "))
    page.text(syntax.summary)
    page.paragraphs(syntax.details)
    page.list(syntax.options.map { (.option($0), $0.doc.asSentence) })
    if !syntax.examples.isEmpty {
      page.literal(syntax.examples.map { "$ " + $0 }.joined(separator: "\n"))
    }
  }

  private func add(_ topic: HelpTopic, to page: inout ManualPage) {
    page.text(topic.summary.asSentence)
    page.literal(topic.text)
  }
}

extension String {
  /// The text with a capital letter at its beginning and a full stop at its end.
  ///
  /// A first word that is no plain word, such as `--force` or `always:`, stays as it is.
  package var asSentence: String {
    guard let last else { return self }
    let isPlain = prefix { $0 != " " }.allSatisfy(\.isLetter)
    let start = isPlain ? prefix(1).uppercased() + dropFirst() : self
    return start + (".!?…".contains(last) ? "" : ".")
  }
}
