/// An error in a configuration file, with its position.
package struct ConfigurationFault: Error, Equatable, Sendable {
  package let file: String

  /// The line, counted from 1; 0 means the whole file.
  package let line: Int

  /// The column in characters, counted from 1.
  package let column: Int

  /// The violated rule and the value found.
  package let message: String

  package init(file: String, line: Int = 0, column: Int = 0, message: String) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }
}

extension ConfigurationFault {
  /// The message about a file that begins with a byte order mark, as some editors write it.
  package static let byteOrderMark = "the file begins with a byte order mark; save it without"

  /// Returns the fault of a text that begins with a byte order mark; `nil` if it does not.
  package static func byteOrderMark(in text: String, of file: String) -> ConfigurationFault? {
    guard text.utf8.starts(with: [0xef, 0xbb, 0xbf]) else { return nil }
    return ConfigurationFault(file: file, line: 1, column: 1, message: byteOrderMark)
  }
}

extension ConfigurationFault: CustomStringConvertible {
  /// The message in the form that compilers use: `file:line:column: message`.
  package var description: String {
    line > 0 ? "\(file):\(line):\(column): \(message)" : "\(file): \(message)"
  }
}

/// All errors in a configuration file; at least one.
package struct ConfigurationFaults: Error, Equatable, Sendable, CustomStringConvertible {
  package let faults: [ConfigurationFault]

  package init(_ faults: [ConfigurationFault]) {
    self.faults = faults
  }

  /// The errors, one per line.
  package var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// The result of a configuration reload.
package struct ReloadReport: Equatable, Sendable {
  /// The configuration file; `nil` if there is none and the defaults apply.
  package var file: String?

  /// The names of the changed settings that now apply.
  package var changed: [String]

  /// The names of the changed settings that apply only after a restart.
  package var needsRestart: [String]

  package var warnings: [ConfigurationFault]

  package init(
    file: String?, changed: [String], needsRestart: [String], warnings: [ConfigurationFault]
  ) {
    self.file = file
    self.changed = changed
    self.needsRestart = needsRestart
    self.warnings = warnings
  }
}
