package import API
internal import Configuration
internal import Connections
package import Model

/// The client of a call.
public struct Caller {
  /// `nil` if no client is connected.
  package let context: CallContext?

  /// The process of the client.
  package let peer: Peer

  package init(_ context: CallContext) { (self.context, peer) = (context, context.caller) }

  /// Creates a caller that is not connected and may do everything.
  package init(_ peer: Peer) { (context, self.peer) = (nil, peer) }

  /// The user of the process that has connected, as the kernel says.
  public var uid: UInt32 { peer.uid }

  /// The process that has connected, as the kernel says; 0 if it is unknown.
  public var pid: Int32 { peer.pid }

  /// The name under which the client is logged in; `nil` if it is not.
  public var name: String? { context.flatMap { $0.catalog.actor($0.connection) } }

  /// Whether the role of the client is that of the owner of the daemon, who may do everything.
  public var isOwner: Bool { context.map { $0.role == .owner } ?? true }

  /// Counts and logs that the client was refused something that it may not know.
  ///
  /// - Parameter what: What it has tried: `to refresh feeds/7`.
  public func reportRefusal(_ what: String) { context?.access.reportRefusal(what) }

  /// Whether the role of the client may read a source.
  public func mayRead(_ source: String) -> Bool { context?.role.mayRead(source) ?? true }

  /// Checks that the role of the client may read a source.
  ///
  /// - Throws: The error of a source that does not exist, so that the client does not learn of it.
  public func checkReadable(_ source: String) throws {
    try context?.access.checkReadable([source])
  }

  /// Whether the client may open a view, by its name.
  public func mayOpen(_ view: String) -> Bool { context?.mayOpen(view) ?? true }

  /// Whether the role that the client has now may know that a source exists: it may read or write it.
  public func mayKnow(_ source: String) -> Bool { context?.now.mayKnow(source) ?? true }

  /// Whether the role that the client has now may cause events in a stream.
  public func mayRecord(in stream: String) -> Bool {
    context?.now.rights.mayRecord?(stream) ?? true
  }
}
