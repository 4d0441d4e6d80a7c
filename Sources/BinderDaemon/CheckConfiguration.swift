import API
import Configuration
import Console
import EventLoop
import EventSourcing
import Features
import Glibc
internal import Model
import Wire

/// Checks the configuration file and prints the resulting settings.
///
/// - Returns: The exit code: 0 if it is valid, otherwise 78.
func reportConfiguration(_ options: Options) -> CInt {
  let file = ConfigurationFile(options)
  do throws(ConfigurationFaults) {
    let configuration = try file.read()
    let settings = Settings(options: options, configuration: configuration)
    let files = try DeclaredFiles(settings)
    try files.checkAll()
    for warning in configuration.warnings { print("warning: \(warning)") }
    guard !options.isQuiet else { return EXIT_SUCCESS }
    print(file.state)
    describe(settings)
    print("bindings    \(settings.bindDirectory.shown)")
    for binding in files.bindings.bindings {
      print("binding     \(binding.name): \(binding.expression)")
    }
    print("types       \(settings.typeDirectory.shown)")
    for declared in files.types.types {
      print("type        \(declared.pattern.text): \(declared.type)")
    }
    print("views       \(settings.viewDirectory.shown)")
    for (name, entry) in files.views.entries.sorted(by: { $0.key < $1.key }) {
      print("view        \(name): \(entry.view.doc)")
    }
    print("services    \(settings.serviceDirectory.shown)")
    for (name, script) in files.scripts.scripts.sorted(by: { $0.key < $1.key }) {
      print("service     \(name): \(script.declaration.doc ?? "")")
    }
    return EXIT_SUCCESS
  } catch {
    print("\(error)")
    return EX_CONFIG
  }
}

extension ConfigurationFile {
  /// A sentence about a file that was read without faults.
  fileprivate var state: String {
    guard let path else { return "no home directory is known; using the defaults" }
    return isMissing ? "\(path) does not exist; using the defaults" : "\(path) is valid"
  }
}

private func describe(_ settings: Settings) {
  let configuration = settings.configuration
  let access = configuration.socketAccess(user: Process.user, .system)
  let mode = String(access.mode, radix: 8) + (access.group == nil ? "" : " for group binder")
  print("socket      \(settings.socketPath), mode 0\(mode), unless systemd passes one")
  do throws(JournalError) {
    print("journal     \(try settings.journal.name)")
  } catch {
    print("journal     \(error)")
  }
  let durability = settings.options.durability ?? configuration.durability ?? .always
  print("durability  \(settings.options.isReadOnly ? "read only" : durability.text)")
  for name in LimitName.allCases where configuration.limits[name] != Limits()[name] {
    print("limit       \(name.rawValue) \(configuration.limits[name])")
  }
  for retention in configuration.retention { print("retention   \(retention.text)") }
  let (web, feeds) = (configuration.web, configuration.feeds)
  print("web         \(web.allowsLocal ? "also" : "no") addresses of this machine and its network")
  print("feeds       every \(feeds.interval) s, \(feeds.unwatched ? "also" : "not") unwatched")
  let slow = configuration.slowLog
  print("slow log    \(slow.milliseconds == 0 ? "off" : "from \(slow.milliseconds) ms")")
  print("role        owner: root and the user of the daemon, everything")
  for entry in configuration.roles.entries { print("role        \(entry.text)") }
  for gateway in configuration.roles.gateways.list {
    let names = gateway.names.map { "\($0.name) as user \($0.user)" }.joined(separator: ", ")
    print("gateway     user \(gateway.user): \(names)")
  }
}

extension Retention {
  fileprivate var text: String {
    let limits = [
      maxAge.map { "\($0) s" }, maxCount.map { "\($0) events" }, maxBytes.map { "\($0) bytes" },
      maxStreamBytes.map { "\($0) bytes of each stream" },
    ]
    return "\(streams.text), at most " + limits.compactMap(\.self).joined(separator: ", ")
  }
}

extension Roles.Entry {
  fileprivate var text: String {
    var who = members.isEverybody ? ["everybody"] : []
    if !members.users.isEmpty { who.append("users \(list(members.users))") }
    if !members.groups.isEmpty { who.append("groups \(list(members.groups))") }
    return "\(role.name): \(who.isEmpty ? "nobody" : who.joined(separator: ", "));"
      + " methods \(role.methods.text); read \(role.read.text); write \(role.write.text)"
      + (role.limits.isEmpty ? "" : "; limits \(limits)")
  }

  private var limits: String {
    role.limits.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
  }

  private func list(_ numbers: Set<UInt32>) -> String {
    numbers.sorted().map { "\($0)" }.joined(separator: " ")
  }
}

extension Rules {
  fileprivate var text: String {
    guard !allow.isEmpty else { return "none" }
    let names = allow.map(\.pattern.text).joined(separator: " ")
    return deny.isEmpty ? names : names + " but " + deny.map(\.pattern.text).joined(separator: " ")
  }
}

extension DeclarationDirectory {
  fileprivate var shown: String {
    guard let path else { return "none" }
    return isMissing ? "\(path) does not exist" : path
  }
}

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
      warnings.append(
        ConfigurationFault(
          file: file, line: entry.line, column: 1,
          message: "role '\(entry.role.name)': user \(obstacle.denial(of: user, to: socket))"))
    }
  }
  return warnings
}
