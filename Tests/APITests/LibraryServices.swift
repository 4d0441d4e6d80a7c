import API
import Binder
import EventSourcing
import Model
import Signals
import Testing

/// Services that use the library, for a catalogue of the engine.
struct LibraryServices {
  private let feature: Feature?

  /// - Parameter build: Makes the services and binds clients to them, as for ``Daemon/main(_:_:_:)``.
  init(
    in host: ServiceHost, on scheduler: any Scheduler,
    _ build: @escaping (Host, Binder.Catalog) -> Void
  ) {
    do {
      feature = try Daemon.feature(Host(host, on: scheduler), build)
    } catch {
      Issue.record("\(error)")
      feature = nil
    }
  }

  func bind(_ catalog: API.Catalog) { feature?.bind(catalog) }
}

extension Binder.Ledger {
  /// Checks the index of source names against the sources.
  func checkNames() throws {
    var found: Set<String> = []
    try engine.search(.everything) { name in
      found.insert(name)
      return true
    }
    #expect(found == Set(engine.committed.sources), "\(service)")
  }
}
