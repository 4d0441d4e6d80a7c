import Configuration
import Console
import EventLoop

/// Returns warnings about users with a role who may not open the socket, in the order of the file.
///
/// Members of groups are not examined: the system does not list them for certain.
func socketWarnings(of roles: Roles, socket: String, _ file: String) -> [ConfigurationFault] {
  var warnings: [ConfigurationFault] = []
  for entry in roles.entries {
    for user in entry.members.users.sorted() where user != Process.user {
      guard
        let obstacle = SocketAdmission.obstacle(
          to: socket, user: user, groups: Process.groups(ofUser: user))
      else { continue }
      let name = SocketAdmission.Obstacle.name(ofUser: user)
      let step = obstacle.command(for: name).map { "; type: \($0)" } ?? ": \(obstacle.text)"
      warnings.append(
        ConfigurationFault(
          file: file, line: entry.line, column: 1,
          message: "role '\(entry.role.name)': user \(name) may not open \(socket)\(step)"))
    }
  }
  return warnings
}
