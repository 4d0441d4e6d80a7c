package import API
internal import Configuration
internal import Connections
internal import Model

/// The client of a call.
public struct Caller {
  private let context: CallContext

  package init(_ context: CallContext) { self.context = context }

  /// The user of the process that has connected, as the kernel says.
  public var uid: UInt32 { context.caller.uid }

  /// The process that has connected, as the kernel says; 0 if it is unknown.
  public var pid: Int32 { context.caller.pid }

  /// The name under which the client is logged in; `nil` if it is not.
  public var name: String? { context.catalog.actor(context.connection) }

  /// Whether the role of the client may know that a source exists: it may read or write it.
  public func mayKnow(_ source: String) -> Bool { context.mayKnow(source) }

  /// Counts and logs that the client was refused something that it may not know.
  ///
  /// - Parameter what: What it has tried: `to refresh feeds/7`.
  public func reportRefusal(_ what: String) { context.access.reportRefusal(what) }

  /// Whether the role of the client may read a source.
  public func mayRead(_ source: String) -> Bool { context.role.mayRead(source) }
}
