import API
import Connections
import EventLoop
import EventSourcing
internal import Features

/// Lets clients survive a restart of the daemon: takes back those that an earlier daemon has left
/// with the service manager, and leaves the present ones to the next daemon.
///
/// The manager holds the sockets, and one memory that describes the connections; see ``Handover``.
final class ReturningClients {
  /// The beginning of the name of a memory.
  private static let memoryPrefix = "memory-"

  private let manager: ServiceManager
  private let store: ManagerQueue?
  private let log: Log

  /// The memories of earlier daemons, and the one that counts.
  private var formerNames: [String] = []
  private var former: HandoverConnections?

  /// The sockets of clients, by the numbers of their connections.
  private var sockets: [UInt64: CInt] = [:]

  /// The number of clients that had to be closed.
  private var closed = 0

  /// - Parameter store: `nil` if the manager holds no descriptors.
  init(_ manager: ServiceManager, _ store: ManagerQueue?, _ log: Log) {
    (self.manager, self.store, self.log) = (manager, store, log)
    for (name, descriptor) in manager.stored {
      if let id = Handover.id(in: name) {
        sockets[id] = descriptor
      } else if name.hasPrefix(Self.memoryPrefix) {
        read(name, descriptor)
      }
    }
  }

  private func read(_ name: String, _ descriptor: CInt) {
    formerNames.append(name)
    do {
      let found = try HandoverConnections(in: SharedMemory(adopting: descriptor))
      generation = max(generation, found.generation)
      // A daemon that died while it took clients back has left an incomplete one.
      guard found.isComplete, found.generation > former?.generation ?? 0 else { return }
      former = found
    } catch {
      log.write(.warning, "the clients of the former daemon cannot be read: \(error)")
    }
  }

  /// The number of daemons so far that have kept the same clients.
  private(set) var generation: UInt64 = 0

  /// Takes the clients back, before new ones are accepted.
  ///
  /// The services must be at the end of the journal.
  func restore(
    _ table: ConnectionTable, _ server: SocketServer, _ host: ServiceHost, _ programs: Programs?
  ) throws {
    // A provider may still answer the calls of an earlier daemon.
    programs?.skipCalls(of: generation)
    generation += 1
    if let store {
      let handover = try Handover(
        slots: manager.storeSize, generation: generation, epoch: host.epoch,
        scheduler: table.context.scheduler)
      table.context.handover = handover
      programs?.onExistence { [weak handover] in handover?.update($0, exists: $1) }
      store.store(handover.shared.descriptor, as: "\(Self.memoryPrefix)\(generation)")
    }
    table.skipIDs(upTo: former?.lastID ?? 0)
    let clients = sockets.sorted { $0.key < $1.key }.compactMap { id, descriptor in
      readmit(id, descriptor, server, epoch: host.epoch)
    }
    let restoration = Restoration(in: host, formerNames: former?.names ?? [])
    let failures = restoration.run(clients.map { ($0.connection, $0.kept) }) { [former] in
      former?.blame($0.id)
    }
    for client in clients { client.attach() }
    close(clients, because: failures)
    for client in clients { client.connection.keepNow() }
    table.context.handover?.complete()
    former?.retire()
    former = nil
    for name in formerNames { manager.queue?.remove(name) }
    for client in clients { client.start() }
    report(clients.count { !$0.connection.isEnded })
  }

  /// Closes the connections that would not be the same as before.
  private func close(_ clients: [ReturnedClient], because failures: [UInt64: CannotRestore]) {
    for client in clients {
      guard let reason = failures[client.connection.id] else { continue }
      log.write(.warning, "connection \(client.connection.id) cannot go on: \(reason)")
      former?.blame(client.connection.id, isSending: true)
      client.connection.close(.restart)
      closed += 1
    }
    former?.blame(nil)
  }

  /// Returns a client that goes on; closes others with a reason.
  private func readmit(
    _ id: UInt64, _ descriptor: CInt, _ server: SocketServer, epoch: String
  ) -> ReturnedClient? {
    former?.blame(id, isSending: true)
    guard let socket = try? StreamSocket(inherited: descriptor, on: server.loop) else {
      manager.queue?.remove(Handover.name(of: id))
      return nil
    }
    if var kept = former?.connection(id) {
      // Nothing of another journal can be restored, but the last line is completed.
      if store == nil || former?.epoch != epoch { kept.cannotGoOn() }
      if let client = server.readmit(socket, kept) { return client }
    } else {
      server.dismiss(socket)
    }
    manager.queue?.remove(Handover.name(of: id))
    closed += 1
    return nil
  }

  private func report(_ count: Int) {
    if count > 0 { log.write(.notice, "clients of the former daemon that go on: \(count)") }
    if closed > 0 {
      log.write(
        .notice, "clients of the former daemon that were closed and must reconnect: \(closed)")
    }
  }
}
