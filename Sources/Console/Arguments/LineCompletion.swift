internal import Wire

/// A word that can complete a line.
package struct Candidate: Equatable, Sendable {
  package let word: String

  /// The description, one line; empty for none.
  package let doc: String

  package init(_ word: String, _ doc: String = "") {
    (self.word, self.doc) = (word, doc)
  }
}

/// A question to the daemon about words that can complete a line.
package enum CompletionQuestion: Hashable, Sendable {
  /// The sources that match a pattern.
  case sources(String)
  /// The services and methods, with their descriptions.
  case names
  case views
  /// The arguments of a method, as a user types them: `name=` or `name:=`.
  case methodArguments(String)
  case viewArguments(String)
  case bindings
  case connections
  /// The daemons whose sockets are where those of daemons usually are.
  case daemons
}

/// The place of the last word of a line, and what can complete it.
package struct LineCompletion: Equatable {
  /// The last word as far as it was typed.
  package let partial: String

  /// The values of `--socket`, `-n` and `--host` in the line; `nil` if they are absent.
  package private(set) var socket: String?
  package private(set) var daemon: String?
  package private(set) var host: String?

  /// The command; `nil` if the last word is, or is before, the command.
  private var syntax: Syntax?
  private var operands: [String] = []

  /// The option whose value the last word is; `nil` for none.
  private var option: Option?
  private var isAfterDashes = false

  /// - Parameter words: The words of the line without the name of the program; the last one is
  ///   completed, and may be empty.
  package init(_ words: [String], _ syntaxes: Syntaxes) {
    partial = words.last ?? ""
    var rest = words.dropLast()[...]
    while let word = rest.popFirst() {
      if isAfterDashes || !word.hasPrefix("-") || word.count < 2 {
        if syntax == nil { syntax = syntaxes[word] } else { operands.append(word) }
        if syntax?.endsOptionsAtOperand == true, !operands.isEmpty { isAfterDashes = true }
      } else if word == "--" {
        isAfterDashes = true
      } else if let option = Self.option(word, syntax, syntaxes), option.value != nil,
        !Self.hasValue(word)
      {
        guard let value = rest.popFirst() else {
          self.option = option
          break
        }
        apply(option, value)
      } else if let option = Self.option(word, syntax, syntaxes), option.value != nil,
        let value = word.split(separator: "=", maxSplits: 1).dropFirst().first
      {
        apply(option, String(value))
      }
    }
  }

  private mutating func apply(_ option: Option, _ value: String) {
    if option.name == "socket" { socket = value }
    if option.name == "daemon-name" { daemon = value }
    if option.name == "host" { host = value }
  }

  /// Returns whether the word of an option has its value: `--at=5`, `-n5`.
  private static func hasValue(_ word: String) -> Bool {
    word.hasPrefix("--") ? word.contains("=") : word.count > 2
  }

  private static func option(
    _ word: String, _ syntax: Syntax?, _ syntaxes: Syntaxes
  ) -> Option? {
    let known = (syntax?.options ?? []) + syntaxes.options
    if word.hasPrefix("--") {
      let name = word.dropFirst(2).prefix { $0 != "=" }
      return known.first { $0.name == name }
    }
    return known.first { $0.letter == word.dropFirst().first }
  }

  /// Returns the words that can complete the last one, sorted.
  ///
  /// - Parameter ask: Returns the answer of the daemon; empty if there is none.
  package func candidates(
    _ syntaxes: Syntaxes, ask: (CompletionQuestion) -> [Candidate]
  ) -> [Candidate] {
    // The daemon's answers only as far as they are names.
    func safe(_ question: CompletionQuestion) -> [Candidate] {
      ask(question).filter { Self.isSafe($0.word) }
    }
    var all: [Candidate]
    if let option {
      all = candidates(option.completion, syntaxes, safe)
    } else if partial.hasPrefix("-"), !isAfterDashes {
      all = ((syntax?.options ?? []) + syntaxes.options).map { Candidate("--" + $0.name, $0.doc) }
    } else if let syntax {
      all = place(in: syntax).map { candidates($0.completion, syntaxes, safe) } ?? []
    } else {
      all = syntaxes.commands.map { Candidate($0.name, $0.summary) }
    }
    all = all.filter { $0.word.hasPrefix(partial) }
    var seen: Set<String> = []
    return all.filter { seen.insert($0.word).inserted }.sorted { $0.word < $1.word }
  }

  /// Returns the operand that the last word is; `nil` if the command takes no more.
  private func place(in syntax: Syntax) -> Operand? {
    var left = operands.count
    for operand in syntax.operands {
      if left == 0 || [.some, .any].contains(operand.count) { return operand }
      left -= 1
    }
    return nil
  }

  private func candidates(
    _ source: CompletionSource, _ syntaxes: Syntaxes, _ ask: (CompletionQuestion) -> [Candidate]
  ) -> [Candidate] {
    switch source {
    case .nothing: []
    case .words(let words): words.map { Candidate($0) }
    case .sources: ask(.sources(pattern))
    case .names(let service):
      ask(.sources(service + "/**")).map {
        Candidate(String($0.word.dropFirst(service.count + 1)), $0.doc)
      }
    case .services: ask(.names).filter { !$0.word.contains(".") }
    case .methods: ask(.names).filter { $0.word.contains(".") }
    case .paths: ask(.names) + ask(.sources(pattern))
    case .views: ask(.views)
    case .arguments:
      operands.first.map { first in
        let given = operands.dropFirst().compactMap { word in
          word.firstIndex(of: "=").map { String(word[...$0]) }
        }
        let all = ask(
          syntax?.name == "open" ? .viewArguments(first) : .methodArguments(first))
        return all.filter { !given.contains($0.word) }
      } ?? []
    case .bindings: ask(.bindings)
    case .connections: ask(.connections)
    case .daemons: ask(.daemons)
    case .topics:
      syntaxes.commands.map { Candidate($0.name, $0.summary) }
        + syntaxes.topics.map { Candidate($0.name, $0.summary) }
    }
  }

  /// The pattern of the sources that can complete the last word, as few as possible.
  private var pattern: String {
    let service = partial.prefix { $0 != "/" }
    let isName =
      !service.isEmpty && service.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    return partial.contains("/") && isName ? service + "/**" : "**"
  }

  /// Returns whether a word is a name of the protocol, or that of an argument before its value.
  ///
  /// A shell would execute other text when the user presses enter.
  private static func isSafe(_ word: String) -> Bool {
    1...200 ~= word.utf8.count && word.utf8.first != UInt8(ascii: "-")
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
          UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "="):
          true
        default: false
        }
      }
  }
}
