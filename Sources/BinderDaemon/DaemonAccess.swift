import API
import Configuration
import Connections
import EventLoop
import EventSourcing
import Wire

/// The access of clients: the catalogue, the rights of each role, and the choice of the role.
struct DaemonAccess {
  let catalog: Catalog
  let rights: RightsTable
  let control: AccessControl

  /// Logs refused connections and requests.
  let refusals: RefusalLog

  private let roleLimits: RoleLimits

  init(_ engine: Engine, _ configuration: Configuration, _ log: Log) {
    catalog = Catalog(over: engine.host)
    catalog.clock = { Process.milliseconds }
    catalog.internalErrors.onError = { ref, detail in
      log.write(.error, "\(ref): \(detail)", .internalError)
    }
    rights = RightsTable(for: catalog)
    refusals = RefusalLog(on: engine.scheduler) { text, uid, pid in
      let fields = [uid.map { ("BINDER_UID", "\($0)") }, pid.map { ("BINDER_PID", "\($0)") }]
      log.write(.warning, text, .refused, fields: fields.compactMap(\.self))
    }
    control = AccessControl(configuration.roles, rights, refusals)
    roleLimits = engine.host.roleLimits
    applyLimits(of: configuration.roles)
  }

  /// Uses the limits of roles.
  private func applyLimits(of roles: Roles) {
    roleLimits.ofUser =
      roles.haveLimits ? { [unowned control] in control.limits(ofUser: $0) } : nil
  }

  /// Applies the roles of a new configuration to the clients.
  func change(to configuration: Configuration, in engine: Engine) {
    control.change(to: configuration.roles, for: engine.table.connections.values)
    applyLimits(of: configuration.roles)
  }

  /// Returns the warnings about the roles of a configuration.
  ///
  /// - Parameter file: The path of its file.
  func warnings(
    of configuration: Configuration, socket: String, file: String
  ) -> [ConfigurationFault] {
    catalog.warnings(of: configuration.roles, file: file)
      + socketWarnings(of: configuration.roles, socket: socket, file)
  }

  func end() {
    // The methods retain the reload action, which retains the catalog.
    rights.keep(only: [])
    catalog.end()
  }
}
