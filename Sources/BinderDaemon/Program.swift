package import API
package import Configuration
package import Connections
package import EventLoop
package import EventSourcing

/// A daemon program: its name, and what clients can use besides the engine.
package struct Program {
  /// The name in messages, in the log, and in the reply to `hello`: `binderd`.
  let name: String

  /// The name of its directories and files: `binder` for `/run/binder/bus.sock`,
  /// `/var/lib/binder/journal.db` and `/etc/binder/binder.conf`.
  let directory: String

  /// The standard services that it has.
  let services: StandardServices

  /// The items of connections that its own features keep over a restart.
  let items: Set<HandoverKind>

  /// For each source that sums up others, their pattern.
  let summaries: [String: String]

  /// The items of connections that survive a restart.
  var keptItems: Set<HandoverKind> { services.items.union(items) }

  /// Creates its own features, once the loop and the journal exist.
  let features: (ProgramParts) throws -> [Feature]

  package init(
    _ name: String, directory: String? = nil, _ services: StandardServices = .all,
    items: Set<HandoverKind> = [], summaries: [String: String] = [:],
    features: @escaping (ProgramParts) throws -> [Feature] = { _ in [] }
  ) {
    (self.name, self.directory) = (name, directory ?? name)
    (self.services, self.items, self.summaries) = (services, items, summaries)
    self.features = features
  }
}

/// The parts of the engine that the features of a program need.
package struct ProgramParts {
  package let host: ServiceHost
  package let loop: Loop
  package let scheduler: LoopScheduler
  package let configuration: Configuration

  /// Whether the daemon asks nothing of the network.
  package let isOffline: Bool
}

/// The services that come with the engine; a program may leave some out.
package struct StandardServices: OptionSet, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let cells = Self(rawValue: 1 << 0)
  package static let lists = Self(rawValue: 1 << 1)
  package static let maps = Self(rawValue: 1 << 2)
  package static let leases = Self(rawValue: 1 << 3)

  /// A lock is held through a lease.
  package static let locks: Self = [Self(rawValue: 1 << 4), leases]

  /// The services of programs outside the daemon.
  package static let programs = Self(rawValue: 1 << 5)
  package static let bindings = Self(rawValue: 1 << 6)

  /// The state of the machine.
  package static let system = Self(rawValue: 1 << 7)

  /// The services in files.
  package static let scripts = Self(rawValue: 1 << 8)

  package static let all: Self = [
    .cells, .lists, .maps, .leases, .locks, .programs, .bindings, .system, .scripts,
  ]

  /// The items of connections that survive a restart, of these services and of the engine.
  var items: Set<HandoverKind> {
    var items: Set<HandoverKind> = [.acting, .hello, .subscription, .work, .view]
    if contains(.leases) { items.insert(.lease) }
    if contains(.programs) { items.formUnion([.provider, .call]) }
    if contains(.bindings) { items.insert(.binding) }
    return items
  }
}
