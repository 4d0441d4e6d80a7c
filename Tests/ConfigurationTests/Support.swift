import Configuration
import Model

/// A machine with three users and two groups.
let accounts = Accounts(
  user: { ["alice": 1001, "bob": 1002, "carol": 1003][$0] },
  group: { ["binder": 900, "adm": 4][$0] })

func configuration(_ text: String) throws(ConfigurationFaults) -> Configuration {
  try Configuration(parsing: Array(text.utf8), file: "binder.conf", accounts)
}

/// Returns the faults of a text, without the file name; empty if there are none.
func faults(_ text: String) -> [String] {
  do throws(ConfigurationFaults) {
    _ = try configuration(text)
    return []
  } catch {
    return error.faults.map { String($0.description.dropFirst("binder.conf:".count)) }
  }
}

/// Returns the role that a configuration gives to a user, or `nil`.
func role(_ uid: UInt32, _ groups: [UInt32] = [], in text: String) throws -> Role? {
  try configuration(text).roles.entry(for: Peer(uid: uid, groups: groups), owner: 500)?.role
}
