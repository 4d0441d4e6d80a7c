/// A parsed command line.
package struct Invocation: Equatable, Sendable {
  /// The command; `nil` if there is none.
  package var command: String?

  /// The operands in order.
  package var operands: [String] = []

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
