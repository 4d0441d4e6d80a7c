internal import Connections
internal import Model
internal import Signals

/// The services whose providers or queued calls have changed because of one user.
///
/// Their providers are shown, and get queued calls, in the time of that user: once, also if many come
/// or go.
final class ServiceUpdates: SlicedWork {
  var isQueued = false
  private unowned let programs: Programs
  private let user: UInt32
  private var names = Queue<String>()

  /// Whether the providers have changed, by the names in the queue.
  private var waiting: [String: Bool] = [:]

  /// The service that gets queued calls, one a step.
  private var delivering: String?

  init(of programs: Programs, for user: UInt32) {
    (self.programs, self.user) = (programs, user)
  }

  /// Adds a service.
  ///
  /// - Parameter isShown: Whether its providers have changed.
  func add(_ name: String, isShown: Bool) {
    if waiting[name] == nil { names.append(name) }
    waiting[name] = isShown || waiting[name] ?? false
  }

  func step() -> Bool {
    if let name = delivering {
      if programs.deliverNext(of: name) { return true }
      delivering = nil
    } else if let name = names.popFirst() {
      if waiting.removeValue(forKey: name) == true { programs.show(name) }
      delivering = name
    }
    guard delivering == nil, names.isEmpty else { return true }
    programs.end(self, of: user)
    return false
  }
}

extension Programs {
  /// Shows the providers of a service, and gives them queued calls, in the time of a user.
  func showLater(_ service: Service, for connection: Connection) {
    update(service.definition.name, isShown: true, for: connection.peer.uid, connection.context)
  }

  /// Gives the providers of a service queued calls, in the time of a user.
  ///
  /// - Parameter user: The user; `nil` for that of the first provider.
  func deliverLater(_ service: Service, for user: UInt32? = nil) {
    // Without a provider there is nobody to get them.
    guard let connection = service.providers.first?.connection else { return }
    let name = service.definition.name
    update(name, isShown: false, for: user ?? connection.peer.uid, connection.context)
  }

  private func update(
    _ name: String, isShown: Bool, for user: UInt32, _ context: ConnectionContext
  ) {
    let work = updates[user] ?? ServiceUpdates(of: self, for: user)
    updates[user] = work
    work.add(name, isShown: isShown)
    context.add(work, for: user)
  }

  /// Forgets the updates of a user, which are done.
  func end(_ work: ServiceUpdates, of user: UInt32) {
    if updates[user] === work { updates[user] = nil }
  }
}
