internal import Facts
internal import Wire

extension Configuration {
  /// Denies each role the summary sources that include sources it may not read, and adds a warning.
  ///
  /// - Parameters:
  ///   - summaries: The summary sources, each with the pattern of the sources that it summarizes.
  ///   - file: The configuration file, for the warnings.
  package mutating func hideSummaries(_ summaries: [String: String], file: String) {
    for (source, pattern) in summaries.sorted(by: { $0.key < $1.key }) {
      guard let summary = Pattern(source), let all = Pattern(pattern) else { continue }
      roles = Roles(
        roles.entries.map { entry in
          let role = entry.role
          guard role.mayRead(source), let line = role.read.lineOfGap(in: all, entry) else {
            return entry
          }
          warnings.append(
            ConfigurationFault(
              file: file, line: line, column: 1,
              message: "role '\(role.name)' may not read all of \(pattern), and so not \(source),"
                + " which summarizes them"))
          var read = role.read
          read.deny.append(Rule(summary, line: line))
          let narrowed = Role(
            name: role.name, methods: role.methods, read: read, write: role.write)
          return Roles.Entry(narrowed, entry.members, line: entry.line)
        }, gateways: roles.gateways)
    }
  }
}

extension Rules {
  /// Returns the line of the rule that excludes some names of a pattern; `nil` if all are allowed.
  fileprivate func lineOfGap(in pattern: Pattern, _ entry: Roles.Entry) -> Int? {
    if let rule = deny.first(where: { $0.pattern.overlaps(pattern) }) { return rule.line }
    return allow.contains { $0.pattern.covers(pattern) } ? nil : entry.line
  }
}
