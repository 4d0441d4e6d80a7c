package import Configuration
package import Connections
package import EventSourcing
internal import JSON
package import Model
package import Wire

/// Parameters that name the source to write.
///
/// A role that may not write it is refused before any other check.
///
/// A method that creates something names all sources that it may create, for example `threads/*`.
/// So only a role that may write all of them may create one.
package protocol SourceParameters {
  var source: String { get }
}

/// Work for a client that needs rights for as long as it lasts.
package protocol RoleDependent {
  /// Returns why a role no longer allows the work; `nil` if it does.
  func denial(by access: Access) -> WireError?
}

/// Parameters of a command whose result may reveal the value of a source.
///
/// A role that may not read that source is refused.
package protocol ReadingParameters {
  /// The revealed source; `nil` if the command reveals only what it removes.
  var readSource: String? { get }
}

/// A client or the daemon itself with its rights; passed to everything that acts for it.
package struct Access {
  package let rights: Rights
  package let caller: Peer

  package init(_ rights: Rights, by caller: Peer) {
    (self.rights, self.caller) = (rights, caller)
  }

  package var catalog: Catalog { rights.catalog }
  package var host: ServiceHost { rights.catalog.host }
  package var role: Role { rights.role }
  package func mayKnow(_ source: String) -> Bool { rights.mayKnow(source) }

  // MARK: Refusals

  package func reportRefusal(_ what: String) { catalog.onRefusal(caller, role, what) }

  /// Returns the error for a source that does not exist or may not be read.
  package func notFound(_ source: String) -> WireError {
    notReadable(source)
      ?? .notFound("source", source, didYouMean: rights.nearest(toSource: source))
  }

  /// Returns the error for a source that the role may not write: `permission_denied` if the role
  /// may read it, otherwise `not_found`.
  package func notWritable(_ source: String) -> WireError {
    reportRefusal("to write \(source)")
    guard role.mayRead(source) else { return .notFound("source", source) }
    return .permissionDenied(of: role, need: "write \(source)")
  }

  /// Returns the error for a source that exists but may not be read.
  ///
  /// - Returns: `nil` if the source does not exist or may not be written either.
  private func notReadable(_ source: String) -> WireError? {
    guard rights.sources(of: source)?.hides(source) == true else { return nil }
    reportRefusal("to read \(source)")
    guard role.mayWrite(source) else { return nil }
    return .permissionDenied(of: role, need: "read \(source)")
  }

  /// Returns the error for a method that does not exist or may not be called.
  func methodNotFound(_ name: String) -> WireError {
    if rights.withholds(name) { reportRefusal("to call \(name)") }
    var data: JSONObject = ["method": .string(name)]
    if let guess = nearest(to: name, among: rights.methodNames(near: name)) {
      data["did_you_mean"] = .string(guess)
    }
    return WireError(.methodNotFound, "no method '\(name)'", data)
  }

  /// Checks the rights for the sources that the parameters name.
  ///
  /// - Throws: An error if the role may not write the target, or not read a source that the result
  ///   reveals.
  @inlinable
  package func checkTarget(_ parameters: some Any) throws(WireError) {
    if !rights.writesAll, let target = parameters as? any SourceParameters {
      try checkWritable(target.source)
    }
    if !rights.readsAll, let source = (parameters as? any ReadingParameters)?.readSource,
      !role.mayRead(source)
    {
      reportRefusal("to read \(source)")
      throw .permissionDenied(of: role, need: "read \(source)")
    }
  }

  /// Checks that the role may write a source.
  ///
  /// - Throws: The error of ``notWritable(_:)``.
  package func checkWritable(_ source: String) throws(WireError) {
    if !role.mayWrite(source) { throw notWritable(source) }
  }

  /// Checks that the role may read all of some sources.
  ///
  /// - Throws: The error for the first source that it may not read.
  package func checkReadable(_ sources: [String]) throws(WireError) {
    guard let source = sources.first(where: { !role.mayRead($0) }) else { return }
    throw notFound(source)
  }

  /// Checks that the role may know the version of a stream.
  ///
  /// - Throws: `permission_denied` if the role may neither read nor record its events.
  func checkVersions(of stream: String) throws(WireError) {
    guard !role.mayReadEvents(of: stream), !role.mayRecordEvents(in: stream) else { return }
    reportRefusal("to expect a version of \(stream)")
    throw .permissionDenied(of: role, need: "read \(stream)")
  }

  // MARK: Errors

  /// Maps a refusal to the error sent to the client.
  func error(_ refusal: Refusal) -> WireError {
    switch refusal {
    case .service(let error): WireError(error)
    case .conflict(let stream, let expected, let actual):
      .conflict(stream, expected: expected, actual: actual)
    case .reused(let seq): .reused(seq)
    case .denied(let stream): notWritable(stream)
    case .full(let scope, let max): .full(LimitName(scope), max)
    case .journal(let fault): catalog.error(fault)
    case .tooLong(let milliseconds): .tooLong(milliseconds)
    // The request runs again, so this error is never sent.
    case .pending: WireError(.internalError, "not decided yet")
    case .unexpected(let detail): catalog.internalError("the method has failed", detail)
    }
  }

  /// Maps any error of a service to the error sent to the client.
  package func error(_ error: any Error) -> WireError {
    switch error {
    case let refusal as Refusal: self.error(refusal)
    default: catalog.error(error)
    }
  }
}

/// The context of all calls of a client, its opened views and their intents: the client and its
/// rights.
///
/// A connection has one, until its rights change.
package final class CallContext {
  package let rights: Rights
  package let connection: Connection
  package let access: Access
  package let catalog: Catalog
  package let host: ServiceHost
  let methods: MethodTable

  /// The work of the request that was interrupted; `nil` if none was.
  var interrupted: PartialRequest?

  package init(_ rights: Rights, _ connection: Connection) {
    self.rights = rights
    methods = rights.methods
    self.connection = connection
    access = Access(rights, by: connection.peer)
    catalog = rights.catalog
    host = rights.catalog.host
  }

  package var role: Role { rights.role }
  package var caller: Peer { connection.peer }
  package func mayKnow(_ source: String) -> Bool { rights.mayKnow(source) }

  /// Whether the client may open a view.
  package func mayOpen(_ view: String) -> Bool { rights.view(named: view) != nil }
}

extension WireError {
  /// Returns the error for an operation that is not allowed on a source that the client may know.
  static func permissionDenied(of role: Role, need: String) -> WireError {
    WireError(
      .permissionDenied, "permission denied: role '\(role.name)' may not \(need)",
      ["need": .string(need)])
  }
}
