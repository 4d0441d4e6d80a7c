extension Syntaxes {
  /// Returns the words that can complete the last word of a line, sorted.
  ///
  /// It uses the same table as the completion scripts of the shells.
  ///
  /// - Parameters:
  ///   - words: The words of the line without the name of the program; the last one is completed,
  ///     and may be empty.
  ///   - ask: Runs a command of the program, given as words, and returns its lines.
  package func candidates(for words: [String], ask: ([String]) -> [String]) -> [String] {
    guard let partial = words.last else { return [] }
    var rest = words.dropLast()[...]
    var syntax: Syntax?
    while let word = rest.popFirst(), syntax == nil {
      if let option = option(word, of: nil), option.value != nil, !word.contains("=") {
        _ = rest.popFirst()
      } else if !word.hasPrefix("-") {
        syntax = self[word]
        guard syntax != nil else { return [] }
      }
    }
    let all: [String]
    if partial.hasPrefix("-") {
      all = ((syntax?.options ?? []) + options).map { "--" + $0.name }
    } else if let previous = words.dropLast().last, let option = option(previous, of: syntax),
      option.value != nil, !previous.contains("=")
    {
      // The value of an option.
      all = []
    } else if let syntax {
      let (fixed, question) = choices(syntax)
      all = fixed + (question.map { ask(ShellWords($0).words).filter(Self.isName) } ?? [])
    } else {
      all = commands.map(\.name)
    }
    return Set(all.filter { $0.hasPrefix(partial) }).sorted()
  }

  private func option(_ word: String, of syntax: Syntax?) -> Option? {
    guard word.hasPrefix("-"), word.count > 1 else { return nil }
    let known = (syntax?.options ?? []) + options
    if word.hasPrefix("--") {
      let name = word.dropFirst(2).prefix { $0 != "=" }
      return known.first { $0.name == name }
    }
    return word.count == 2 ? known.first { $0.letter == word.last } : nil
  }

  /// Whether a text is a valid name that does not begin like an option.
  private static func isName(_ text: String) -> Bool {
    text.utf8.count <= 200 && text.first != "-"
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
          UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
