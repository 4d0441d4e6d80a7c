internal import Wire

/// A parsed command line.
package struct Invocation: Equatable, Sendable {
  /// The command; `nil` if there is none.
  package var command: String?

  /// The operands in order.
  package var operands: [String] = []

  /// The number of operands before `--`; `nil` if the line has none.
  package internal(set) var operandsBeforeDashes: Int?

  private var values: [String: [String]] = [:]

  package init() {}

  /// Returns whether an option is present.
  package func has(_ option: String) -> Bool { values[option] != nil }

  /// Returns the value of an option, the last one if it is repeated; `nil` if it is absent.
  package func value(_ option: String) -> String? { values[option]?.last }

  /// Returns all values of an option.
  package func values(_ option: String) -> [String] { values[option] ?? [] }

  mutating func add(_ option: Option, _ value: String) {
    values[option.name, default: []].append(value)
  }
}

/// An invalid command line.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  /// One sentence that names the argument and the problem.
  package let description: String

  /// The command whose help is relevant; `nil` for the general help.
  package let command: String?

  package init(_ description: String, command: String? = nil) {
    self.description = description
    self.command = command
  }
}

extension Syntaxes {
  /// Parses a command line, without the program name.
  package func parse(_ words: [String]) throws(UsageError) -> Invocation {
    var parser = Parser(syntaxes: self, rest: words[...])
    return try parser.run()
  }
}

private struct Parser {
  let syntaxes: Syntaxes
  var rest: ArraySlice<String>
  var syntax: Syntax?
  var invocation = Invocation()

  mutating func run() throws(UsageError) -> Invocation {
    var isOver = false
    while let word = rest.popFirst() {
      if isOver || !isOption(word) {
        try parse(word)
        if syntax?.endsOptionsAtOperand == true, !invocation.operands.isEmpty { isOver = true }
      } else if word == "--" {
        isOver = true
        invocation.operandsBeforeDashes = invocation.operands.count
      } else if word.hasPrefix("--") {
        try parseLong(word.dropFirst(2))
      } else {
        try parseShort(word.dropFirst())
      }
    }
    if let syntax, !invocation.has("help"), !invocation.has("version") { try check(syntax) }
    return invocation
  }

  /// Returns whether a word is an option; a lone dash and a negative number are operands.
  private func isOption(_ word: String) -> Bool {
    guard word.hasPrefix("-"), let next = word.dropFirst().first else { return false }
    return !next.isNumber
  }

  private mutating func parse(_ word: String) throws(UsageError) {
    guard syntax == nil else {
      invocation.operands.append(word)
      return
    }
    guard let found = syntaxes[word] else {
      let guess =
        syntaxes.synonyms[word].map { ": did you mean '\($0)'?" }
        ?? guess(word, among: syntaxes.commands.map(\.name))
      throw UsageError("unknown command '\(word)'" + guess)
    }
    syntax = found
    invocation.command = word
  }

  // MARK: Options

  private var options: [Option] { (syntax?.options ?? []) + syntaxes.options }

  private mutating func parseLong(_ text: Substring) throws(UsageError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = options.first(where: { $0.name == name }) else {
      throw unknown("--" + name, among: options.map(\.name))
    }
    guard option.value != nil else {
      guard parts.count == 1 else { throw misuse("option '--\(name)' takes no value") }
      invocation.add(option, "")
      return
    }
    invocation.add(option, parts.count == 2 ? String(parts[1]) : try value(of: option, "--" + name))
  }

  /// Parses the letters after one dash: several flags, or one option with its value.
  private mutating func parseShort(_ text: Substring) throws(UsageError) {
    var text = text
    while let letter = text.popFirst() {
      guard let option = options.first(where: { $0.letter == letter }) else {
        throw unknown("-\(letter)", among: [])
      }
      guard option.value != nil else {
        invocation.add(option, "")
        continue
      }
      invocation.add(option, text.isEmpty ? try value(of: option, "-\(letter)") : String(text))
      return
    }
  }

  private mutating func value(of option: Option, _ word: String) throws(UsageError) -> String {
    guard let value = rest.popFirst() else {
      throw misuse("missing value \(option.value ?? "") of option '\(word)'")
    }
    return value
  }

  // MARK: Operands

  private func check(_ syntax: Syntax) throws(UsageError) {
    var left = invocation.operands[...]
    for operand in syntax.operands {
      switch operand.count {
      case .one, .some:
        guard let word = left.popFirst() else {
          throw misuse("missing argument \(operand.name)" + choices(operand))
        }
        try check(word, operand)
        if operand.count == .some { left = [] }
      case .optional:
        if let word = left.popFirst() { try check(word, operand) }
      case .any: left = []
      }
    }
    if let word = left.first { throw misuse("unexpected argument '\(word)'") }
  }

  private func check(_ word: String, _ operand: Operand) throws(UsageError) {
    guard !operand.choices.isEmpty, !operand.choices.contains(word) else { return }
    if operand.choices.count == 1 {
      throw misuse("expected '\(operand.choices[0])', not '\(word)'")
    }
    let choices = operand.choices.joined(separator: " or ")
    throw misuse(
      "unknown \(operand.name) '\(word)' (\(choices))" + guess(word, among: operand.choices))
  }

  private func choices(_ operand: Operand) -> String {
    // A single choice is its name.
    operand.choices.count < 2 ? "" : ": " + operand.choices.joined(separator: " or ")
  }

  // MARK: Errors

  private func unknown(_ word: String, among names: [String]) -> UsageError {
    misuse("unknown option '\(word)'" + guess(word, among: names))
  }

  private func misuse(_ text: String) -> UsageError {
    UsageError(text, command: syntax?.name)
  }

  /// - Parameter word: The word with its dashes, which do not count for the similarity.
  private func guess(_ word: String, among names: [String]) -> String {
    let dashes = word.prefix { $0 == "-" }
    return nearest(to: String(word.dropFirst(dashes.count)), among: names)
      .map { ": did you mean '\(dashes)\($0)'?" } ?? ""
  }
}
