package import API
package import Connections
package import EventSourcing
package import Features
package import Signals

/// The standard services of a program, and the features in which clients can use them.
package struct StandardFeatures {
  /// `nil` if the program does not have the service; so are the others.
  let leases: LeasesService?
  let programs: Programs?
  let bindings: BindingsService?
  package let liveBindings: LiveBindings?
  let readers: ReaderHolders
  let types: TypesService

  /// The features: a new one adds one line to the initializer.
  package let features: [Feature]

  /// - Parameter nanoseconds: A clock that advances while a method runs.
  package init(
    _ services: StandardServices, in host: ServiceHost, on scheduler: any Scheduler,
    _ context: ConnectionContext, nanoseconds: @escaping () -> UInt64
  ) {
    let has = services.contains
    var features: [Feature] = []
    if has(.cells) { features.append(.cells(CellsService(in: host))) }
    if has(.lists) { features.append(.lists(ListsService(in: host))) }
    if has(.maps) { features.append(.maps(MapsService(in: host))) }
    leases = has(.leases) ? LeasesService(in: host, on: scheduler, clock: nanoseconds) : nil
    if let leases {
      let clientLeases = ClientLeases(leases)
      features.append(.leases(leases, clientLeases))
      if has(.locks) { features.append(.locks(LocksService(in: host), clientLeases)) }
    }
    programs = has(.programs) ? Programs(in: host) : nil
    if let programs { features.append(.programs(programs)) }
    types = TypesService(in: host)
    features.append(.types(types, SilenceWatch(in: host, on: scheduler)))
    bindings = has(.bindings) ? BindingsService(in: host) : nil
    liveBindings = has(.bindings) ? LiveBindings(on: scheduler, in: context) : nil
    if let bindings, let liveBindings { features.append(.bindings(bindings, liveBindings)) }
    readers = ReaderHolders(ReadersService(in: host))
    features.append(.readers(readers, on: scheduler))
    self.features = features
  }

  /// Adds to the catalogue what clients of every daemon can use.
  package func bindEngine(
    _ catalog: Catalog, _ server: ServerInfo, stats: @escaping () -> DaemonStats
  ) {
    bindProtocol(catalog, server, stats: stats)
    bindSources(catalog, readers)
    bindViews(catalog)
    bindHistory(catalog)
    bindUndo(catalog)
    bindWhy(catalog, liveBindings)
  }
}
