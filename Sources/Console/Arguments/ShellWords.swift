/// A line of words as a shell reads them: with quotes and backslashes, but no expansion.
package struct ShellWords: Equatable {
  /// The words without their quotes.
  package private(set) var words: [String] = []

  /// The last word as far as it was typed; `nil` if the line ends between words.
  package private(set) var partial: String?

  /// The quote that is still open at the end; `nil` for none.
  package private(set) var openQuote: Character?

  /// Splits a line; a `#` at the beginning of a word begins a comment.
  package init(_ line: String) {
    var word: String?
    var quote: Character?
    var rest = line[...]
    while let character = rest.popFirst() {
      switch (quote, character) {
      case (let open?, _) where character == open: quote = nil
      case ("'"?, _): word = (word ?? "") + String(character)
      case (_, "\\"):
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
        word = word ?? ""
      case (nil, _) where character.isWhitespace:
        if let word { words.append(word) }
        word = nil
      case (nil, "#") where word == nil: rest = ""
      default: word = (word ?? "") + String(character)
      }
    }
    (partial, openQuote) = (word, quote)
    if let word { words.append(word) }
  }
}
