package import Configuration
internal import Model
internal import Wire

/// The first parts of names that no program may provide, besides the services of the daemon.
private let reserved: Set = ["rpc", "events", "binder", "daemon"]

extension Catalog {
  /// Whether no program may use a name for its service.
  package func isReserved(_ name: String) -> Bool {
    service(named: name) != nil || reserved.contains(name)
  }

  /// Returns a warning for each pattern in a role's `methods` that matches no method.
  ///
  /// There is none for a service that a program may provide later.
  ///
  /// - Parameter file: The configuration file.
  /// - Returns: The warnings in the order of the file.
  package func warnings(of roles: Roles, file: String) -> [ConfigurationFault] {
    let names = methods.methods.map(\.name)
    var warnings: [ConfigurationFault] = []
    for entry in roles.entries {
      let rules = entry.role.methods
      for rule in (rules.allow + rules.deny).sorted(by: { $0.line < $1.line }) {
        let pattern = rule.pattern
        let service = pattern.text.contains(".") ? pattern.text.prefix { $0 != "." } : nil
        guard service.map({ isReserved(String($0)) }) ?? true,
          !names.contains(where: pattern.matches)
        else { continue }
        let guess = nearest(to: pattern.text, among: names).map { "; did you mean '\($0)'?" }
        warnings.append(
          ConfigurationFault(
            file: file, line: rule.line, column: 1,
            message: "role '\(entry.role.name)': there is no method '\(pattern.text)'"
              + (guess ?? "")))
      }
    }
    return warnings
  }
}
