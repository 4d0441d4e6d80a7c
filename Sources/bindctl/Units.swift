import BinderClient

/// The units of systemd of a daemon.
struct Units {
  /// The command that manages them: `systemctl`, for a user with `--user`.
  let shown: String

  /// The properties of both units, by name; empty if they cannot be read.
  let socket: [String: String]
  let service: [String: String]

  /// The name of the units.
  let name: String

  /// Finds the units of a daemon that listen at a path; `nil` if there are none.
  init?(of daemon: String, at path: String) {
    name = daemon
    for manager in [["systemctl"], ["systemctl", "--user"]] {
      let socket = Self.properties("\(daemon).socket", manager)
      guard socket["Listen"]?.hasPrefix("\(path) ") == true else { continue }
      self.socket = socket
      shown = manager.joined(separator: " ")
      service = Self.properties("\(daemon).service", manager)
      return
    }
    return nil
  }

  /// The finding that the daemon does not start at boot.
  var bootWarning: String {
    "\(name).service is not enabled: after a boot, bindings run only after the first client"
  }

  /// The command that lets the daemon start at boot; `nil` if it does so already.
  var bootFix: String? {
    service["UnitFileState"] == "disabled" ? "\(shown) enable \(name).service" : nil
  }

  /// Returns the properties of a unit; empty if they cannot be read.
  private static func properties(_ unit: String, _ manager: [String]) -> [String: String] {
    let names = "LoadState,ActiveState,Result,NRestarts,Listen,UnitFileState"
    guard
      let (code, text) = try? Child.output(
        of: manager + ["show", unit, "--no-pager", "--property", names], errorsTo: "/dev/null"),
      code == 0
    else { return [:] }
    var properties: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { properties[String(parts[0])] = String(parts[1]) }
    }
    return properties
  }
}

extension Context {
  /// The units of the daemon in use; `nil` if it has none, or is on another machine.
  var units: Units? {
    guard remote == nil, let connection = try? client.connected() else { return nil }
    return Units(of: connection.greeting.server.name, at: connection.path)
  }
}
