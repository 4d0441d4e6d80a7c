package import API
package import BinderDaemon
internal import EventSourcing
internal import Glibc

/// A daemon with services of your own.
public enum Daemon {
  /// Runs the daemon as its command line and its configuration say, until it is stopped.
  ///
  /// All options of `binderd` are its options; `--help` lists them. It ends the process.
  ///
  /// - Parameters:
  ///   - name: The name of the program, and of its directories: `/run/NAME/bus.sock`,
  ///     `/var/lib/NAME/journal.db`, `/etc/NAME/NAME.conf`.
  ///   - services: The standard services that it has besides its own.
  ///   - build: Makes the services, and binds clients to them. It runs once, before the journal is
  ///     replayed.
  public static func main(
    _ name: String, _ services: Services = .standard,
    _ build: @escaping (Host, Catalog) -> Void
  ) -> Never {
    let program = Program(name, StandardServices(rawValue: services.rawValue)) { parts in
      [try feature(parts, build)]
    }
    exit(runProgram(program))
  }

  /// Makes the services of a program, with a thread for their work.
  ///
  /// - Throws: ``ProgramMistakes``.
  package static func feature(
    _ parts: ProgramParts, _ build: (Host, Catalog) -> Void
  ) throws(ProgramMistakes) -> Feature {
    let jobs = LoopJobs(on: parts.loop)
    return try feature(
      Host(parts.host, on: parts.scheduler, jobs: jobs), close: jobs.close, build)
  }

  /// Makes the services of a program.
  ///
  /// - Throws: ``ProgramMistakes``.
  package static func feature(
    _ host: Host, close: @escaping () -> Void = {}, _ build: (Host, Catalog) -> Void
  ) throws(ProgramMistakes) -> Feature {
    let catalog = Catalog(host)
    build(host, catalog)
    guard host.mistakes.isEmpty else { throw ProgramMistakes(list: host.mistakes) }
    return Feature(
      removers: catalog.removers, begin: host.timers.begin, stop: host.timers.stop, close: close
    ) { catalog.fill($0) }
  }

  /// The standard services, which a daemon can do without.
  public struct Services: OptionSet, Sendable {
    /// A bit for each service.
    public let rawValue: UInt16

    /// Creates a set of services from bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    private init(_ services: StandardServices) { rawValue = services.rawValue }

    /// Values by name, which any client can set.
    public static let cells = Self(.cells)
    /// Lists by name.
    public static let lists = Self(.lists)
    /// Maps by name.
    public static let maps = Self(.maps)
    /// Values that end with their client or after a time.
    public static let leases = Self(.leases)
    /// Locks; they bring leases.
    public static let locks = Self(.locks)
    /// Services of programs outside the daemon.
    public static let programs = Self(.programs)
    /// Bindings between sources.
    public static let bindings = Self(.bindings)
    /// The state of the machine.
    public static let system = Self(.system)
    /// All of them.
    public static let standard = Self(.all)
  }
}

/// The mistakes of a program, which end its start.
package struct ProgramMistakes: Error, CustomStringConvertible {
  package let list: [ProgramMistake]

  package var description: String { list.map(\.description).joined(separator: "\n") }
}
