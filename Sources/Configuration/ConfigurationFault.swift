/// What is wrong in a configuration file, and where.
package struct ConfigurationFault: Error, Equatable, Sendable {
  package let file: String

  /// Where it begins, counted from 1; 0 is the file as a whole.
  package let line: Int

  /// In characters, as an editor shows it.
  package let column: Int

  /// The rule that is broken, and what is there instead.
  package let message: String

  package init(file: String, line: Int = 0, column: Int = 0, message: String) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }
}

extension ConfigurationFault: CustomStringConvertible {
  /// `file:line:column: message`, as compilers say it.
  package var description: String {
    line > 0 ? "\(file):\(line):\(column): \(message)" : "\(file): \(message)"
  }
}

/// All that is wrong in a configuration file; at least one.
package struct ConfigurationFaults: Error, Equatable, Sendable, CustomStringConvertible {
  package let faults: [ConfigurationFault]

  package init(_ faults: [ConfigurationFault]) {
    self.faults = faults
  }

  /// One a line.
  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
