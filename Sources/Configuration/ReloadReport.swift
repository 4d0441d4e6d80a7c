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
