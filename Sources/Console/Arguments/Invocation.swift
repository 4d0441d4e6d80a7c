/// The words of a command line, understood.
package struct Invocation: Equatable, Sendable {
  /// The command; `nil` when none was named.
  package var command: String?

  /// The operands in order.
  package var operands: [String] = []

  private var values: [String: [String]] = [:]

  package init() {}

  /// Whether an option stands.
  package func has(_ option: String) -> Bool { values[option] != nil }

  /// The value of an option; of several the last.
  package func value(_ option: String) -> String? { values[option]?.last }

  /// All values of an option.
  package func values(_ option: String) -> [String] { values[option] ?? [] }

  mutating func add(_ option: Option, _ value: String) {
    values[option.name, default: []].append(value)
  }
}

/// A command line that is not understood.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  /// One sentence that names the word and the rule.
  package let description: String

  /// The command whose help says more; `nil` for the whole help.
  package let command: String?

  package init(_ description: String, command: String? = nil) {
    self.description = description
    self.command = command
  }
}
