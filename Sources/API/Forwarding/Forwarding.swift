package import Connections
internal import JSON
package import Signals

/// Commands that clients send to a daemon that follows, and that the active daemon runs.
package final class Forwarding {
  fileprivate let forwarder: Forwarder
  private let clients: ForwardedClients
  private let table: ConnectionTable
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  /// - Parameters:
  ///   - patienceMilliseconds: How long no daemon may take commands before they are refused.
  ///   - bind: Connects a new connection to the services, or closes it if the user has no role.
  ///   - send: Sends a message to the daemon with an address; messages to one daemon arrive in order,
  ///     and may be lost.
  package init(
    in table: ConnectionTable, on scheduler: any Scheduler, patienceMilliseconds: UInt64,
    bind: @escaping (Connection) -> Void,
    send: @escaping (_ message: String, _ address: String) -> Void
  ) {
    self.table = table
    let encoder = encoder
    let post = { (frame: ForwardedFrame, address: String) in
      if let text = try? encoder.text(frame) { send(text.text, address) }
    }
    forwarder = Forwarder(
      on: scheduler, now: table.context.now, patienceMilliseconds: patienceMilliseconds, send: post)
    clients = ForwardedClients(in: table, bind: bind, send: post)
  }

  /// The number of commands that were passed on since the start.
  package var forwardedCount: UInt64 { forwarder.count }

  /// The number of clients of other daemons for which this one runs commands.
  package var clientCount: Int { clients.count }

  /// Takes a message of the daemon with an address.
  package func receive(_ message: String, from address: String) {
    guard let text = try? JSONText(parsing: message),
      let frame: ForwardedFrame = try? decoder.decode(from: text)
    else { return }
    if frame.isForActive {
      clients.receive(frame, from: address)
    } else {
      forwarder.receive(frame, from: address, appliedUpTo: table.context.position)
    }
  }

  /// Applies a change of the active daemon, or of the daemons that live.
  ///
  /// - Parameters:
  ///   - active: The address of the active daemon; `nil` while it is not known, or out of reach.
  ///   - addresses: The daemons that live; `nil` if they are not known now.
  package func change(isActive: Bool, active: String?, addresses: Set<String>?) {
    forwarder.isFollowing = !isActive
    if let addresses { clients.keep(ofDaemons: isActive ? addresses : []) }
    forwarder.change(to: active, isAway: addresses == nil)
  }

  /// Notes that messages to this daemon may have been lost.
  package func messagesWereLost(toldTo addresses: some Sequence<String>) {
    clients.messagesWereLost(of: addresses)
    forwarder.messagesWereLost()
  }

  /// Notes that this daemon has applied all events up to a position.
  package func advance(to position: UInt64) { forwarder.advance(to: position) }
}

extension Catalog {
  /// Lets another daemon run the commands of clients while this one follows.
  package func forward(by forwarding: Forwarding) { forwarder = forwarding.forwarder }
}
