/// A command-line option.
package struct Option: Equatable, Sendable {
  /// The name after two dashes.
  package let name: String

  /// The letter after one dash; `nil` for none.
  package let letter: Character?

  /// The name of its value; `nil` if it takes none.
  package let value: String?

  /// The description, one line.
  package let doc: String

  /// The words that can complete its value.
  package let completion: CompletionSource

  package init(
    _ name: String, letter: Character? = nil, value: String? = nil, _ doc: String,
    completes completion: CompletionSource = .nothing
  ) {
    self.name = name
    self.letter = letter
    self.value = value
    self.doc = doc
    self.completion = completion
  }
}

/// The words that can complete an argument.
package enum CompletionSource: Hashable, Sendable {
  /// Words that only the user knows, or names of files.
  case nothing
  case words([String])
  /// The sources of the daemon.
  case sources
  /// The sources of a service, without its name.
  case names(of: String)
  case services
  case methods
  /// Services, methods and sources.
  case paths
  case views
  /// The arguments of the method or of the view before.
  case arguments
  case bindings
  case connections
  case daemons
  /// The commands and topics of the help.
  case topics
}

/// A positional argument of a command.
package struct Operand: Equatable, Sendable {
  /// The number of arguments that an operand takes.
  package enum Count: Equatable, Sendable {
    case one, optional, some, any
  }

  /// The name, for example `SRC`.
  package let name: String

  package let count: Count

  /// The allowed words; empty if any word is allowed.
  package let choices: [String]

  /// The words that can complete it.
  package let completion: CompletionSource

  /// - Parameter completion: The words that can complete it; `nil` for those that its name or its
  ///   choices imply.
  package init(
    _ name: String, _ count: Count = .one, choices: [String] = [],
    completes completion: CompletionSource? = nil
  ) {
    self.name = name
    self.count = count
    self.choices = choices
    self.completion =
      completion ?? (choices.isEmpty ? Self.implied[name] ?? .nothing : .words(choices))
  }

  private static let implied: [String: CompletionSource] = [
    "SRC": .sources, "PATTERN": .sources, "METHOD": .methods, "PATH": .paths, "VIEW": .views,
    "ARG": .arguments, "ID": .connections,
  ]

  /// The operand as a usage line shows it: its choices if there are at most four, otherwise its
  /// name.
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

/// The syntax of a command.
///
/// The parser, the help and the completions are all made from it.
package struct Syntax: Equatable, Sendable {
  package let name: String

  /// The description, one line.
  package let summary: String

  package let operands: [Operand]
  package let options: [Option]

  /// Additional paragraphs of help; may be empty.
  package let details: String

  /// Complete commands that work as shown.
  package let examples: [String]

  /// Whether every word after the first operand is an operand.
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

/// The syntax of a program: its commands and global options.
package struct Syntaxes: Sendable {
  /// The name of the program.
  package let program: String

  /// The description of the program, one line.
  package let summary: String

  /// The options of all commands.
  package let options: [Option]

  package let commands: [Syntax]

  /// The groups of the general help, with the names of their commands; a command without a group is
  /// shown first.
  package let groups: [(title: String, commands: [String])]

  /// The help topics besides the commands.
  package let topics: [HelpTopic]

  /// The commands that other programs call by another name, for suggestions.
  package var synonyms: [String: String] = [:]

  package init(
    program: String, summary: String, options: [Option], commands: [Syntax],
    groups: [(title: String, commands: [String])] = [], topics: [HelpTopic]
  ) {
    self.program = program
    self.summary = summary
    self.options = options
    self.commands = commands
    self.groups = groups
    self.topics = topics
  }

  package subscript(name: String) -> Syntax? {
    commands.first { $0.name == name }
  }
}

/// A help topic that belongs to no single command.
package struct HelpTopic: Equatable, Sendable {
  package let name: String

  /// The description, one line.
  package let summary: String

  package let text: String

  package init(_ name: String, _ summary: String, _ text: String) {
    self.name = name
    self.summary = summary
    self.text = text
  }
}
