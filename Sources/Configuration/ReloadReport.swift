/// What has come of reading the configuration again.
package struct ReloadReport: Equatable, Sendable {
  /// The file; `nil` when there is none, and the defaults hold.
  package var file: String?

  /// What holds from now on.
  package var changed: [String]

  /// What is in the file and holds after a restart.
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
