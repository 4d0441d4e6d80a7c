/// A word with a dash in front.
package struct Option: Equatable, Sendable {
  /// The name after two dashes.
  package let name: String

  /// The letter after one dash; `nil` for none.
  package let letter: Character?

  /// What its value is called; `nil` when it has none.
  package let value: String?

  /// What it does, in one line.
  package let doc: String

  package init(
    _ name: String, letter: Character? = nil, value: String? = nil, _ doc: String
  ) {
    self.name = name
    self.letter = letter
    self.value = value
    self.doc = doc
  }
}

/// A word without a dash in front.
package struct Operand: Equatable, Sendable {
  /// How often it may stand.
  package enum Count: Equatable, Sendable {
    case one, optional, some, any
  }

  /// What it is called, for example `SRC`.
  package let name: String

  package let count: Count

  /// The words that it may be; empty when it is free.
  package let choices: [String]

  package init(_ name: String, _ count: Count = .one, choices: [String] = []) {
    self.name = name
    self.count = count
    self.choices = choices
  }

  /// As a usage line shows it; of many choices there the name stands.
  package var usage: String {
    let name = 1...4 ~= choices.count ? choices.joined(separator: "|") : name
    return switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .some: "\(name)…"
    case .any: "[\(name)…]"
    }
  }
}

/// What the words of one command may be: a row of the table of which parser, help and completions
/// are made.
package struct Syntax: Equatable, Sendable {
  package let name: String

  /// What it does, in one line.
  package let summary: String

  package let operands: [Operand]
  package let options: [Option]

  /// More for those who ask; paragraphs, may be empty.
  package let details: String

  /// Lines that work as they stand.
  package let examples: [String]

  /// Whether everything after the first operand is an operand.
  package let endsOptionsAtOperand: Bool

  package init(
    _ name: String, _ summary: String, operands: [Operand] = [], options: [Option] = [],
    details: String = "", examples: [String] = [], endsOptionsAtOperand: Bool = false
  ) {
    self.name = name
    self.summary = summary
    self.operands = operands
    self.options = options
    self.details = details
    self.examples = examples
    self.endsOptionsAtOperand = endsOptionsAtOperand
  }
}

/// All commands of a program, and what can be said before and after each of them.
package struct Syntaxes: Sendable {
  /// The program.
  package let program: String

  /// What it is, in one line.
  package let summary: String

  /// The options that all commands take.
  package let options: [Option]

  package let commands: [Syntax]

  /// What help has beside the commands.
  package let topics: [HelpTopic]

  package init(
    program: String, summary: String, options: [Option], commands: [Syntax], topics: [HelpTopic]
  ) {
    self.program = program
    self.summary = summary
    self.options = options
    self.commands = commands
    self.topics = topics
  }

  package subscript(name: String) -> Syntax? {
    commands.first { $0.name == name }
  }
}

/// A chapter of the help that belongs to no single command.
package struct HelpTopic: Equatable, Sendable {
  package let name: String

  /// What it is about, in one line.
  package let summary: String

  package let text: String

  package init(_ name: String, _ summary: String, _ text: String) {
    self.name = name
    self.summary = summary
    self.text = text
  }
}
