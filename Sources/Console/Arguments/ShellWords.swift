package import JSON
internal import Model

/// A line of words as a shell reads them: with quotes and backslashes, but no expansion.
package struct ShellWords: Equatable {
  /// The words without their quotes.
  package private(set) var words: [String] = []

  /// The indices of the words that were typed without quotes and backslashes.
  package private(set) var plain: Set<Int> = []

  /// The last word as far as it was typed; `nil` if the line ends between words.
  package private(set) var partial: String?

  /// The quote that is still open at the end; `nil` for none.
  package private(set) var openQuote: Character?

  /// Splits a line; a `#` at the beginning of a word begins a comment.
  package init(_ line: String) {
    var word: String?
    var quote: Character?
    var isPlain = true
    var rest = line[...]
    func append(_ words: inout [String], _ plain: inout Set<Int>) {
      guard let word else { return }
      if isPlain { plain.insert(words.count) }
      words.append(word)
    }
    while let character = rest.popFirst() {
      switch (quote, character) {
      case (let open?, _) where character == open: quote = nil
      case ("'"?, _): word = (word ?? "") + String(character)
      case (_, "\\"):
        isPlain = false
        guard let next = rest.popFirst() else {
          word = (word ?? "") + "\\"
          break
        }
        // Within double quotes, a backslash quotes only these, as in sh.
        let isKept = quote == "\"" && !["\"", "\\", "$", "`"].contains(next)
        word = (word ?? "") + (isKept ? "\\" : "") + String(next)
      case ("\""?, _): word = (word ?? "") + String(character)
      case (nil, "'"), (nil, "\""):
        quote = character
        isPlain = false
        word = word ?? ""
      case (nil, _) where character.isWhitespace:
        append(&words, &plain)
        (word, isPlain) = (nil, true)
      case (nil, "#") where word == nil: rest = ""
      default: word = (word ?? "") + String(character)
      }
    }
    (partial, openQuote) = (word, quote)
    append(&words, &plain)
  }

  /// Returns the words with `_` replaced by a value: a word `_`, and one that ends with `=_`, unless it
  /// is quoted.
  ///
  /// After `:=` the value is written as JSON, otherwise a string without quotes; alone, with quotes if
  /// it would be read as another value.
  package func words(replacing last: JSONText?) -> [String] {
    guard let last else { return words }
    return words.enumerated().map { i, word in
      guard plain.contains(i) else { return word }
      if word.hasSuffix(":=_") { return word.dropLast() + last.text }
      if word.hasSuffix("=_") { return word.dropLast() + last.value.bare }
      guard word == "_" else { return word }
      let bare = last.value.bare
      return JSONText(typed: bare) == last ? bare : last.text
    }
  }
}
