package import Connections
package import EventSourcing
package import JSON
internal import Model
internal import Signals
internal import Wire

/// Restores what connections had when an earlier daemon stopped.
///
/// Each binder offers the way to restore its part of a connection; see ``Catalog/restore(_:by:)``.
package final class Restoration {
  private let host: ServiceHost

  /// The changes of the sources of a service after a position.
  private var changes: [ChangesKey: [String: [SourceChange]]?] = [:]

  private struct ChangesKey: Hashable {
    let service: String
    let position: UInt64
  }

  /// The names of the sources that had values with the earlier daemon and are not journaled.
  let formerNames: [String]

  /// - Parameters:
  ///   - host: The services, at the end of the journal.
  ///   - names: The names of the sources that had values and are not journaled.
  package init(in host: ServiceHost, formerNames names: [String] = []) {
    (self.host, formerNames) = (host, names)
  }

  /// Restores connections, in the order of ``ConnectionPart`` for all of them.
  ///
  /// So the providers of services exist before there are subscriptions to them.
  ///
  /// - Parameter onEach: Called with each connection before a part of it is restored.
  /// - Returns: The reasons why connections cannot be restored, by their numbers. These must be
  ///   closed: without the missing part, they would not be the same connections.
  package func run(
    _ connections: [(connection: Connection, kept: HandoverConnection)],
    onEach: (Connection) -> Void = { _ in }
  ) -> [UInt64: CannotRestore] {
    var failures: [UInt64: CannotRestore] = [:]
    for kind in ConnectionPart.items {
      for (connection, kept) in connections where failures[connection.id] == nil {
        let items = kept.items(kind)
        guard !items.isEmpty, !connection.isEnded else { continue }
        onEach(connection)
        do throws(CannotRestore) {
          try restore(kind, items, of: connection, kept)
        } catch {
          failures[connection.id] = error
        }
      }
    }
    return failures
  }

  private func restore(
    _ kind: HandoverKind, _ items: [HandoverItem], of connection: Connection,
    _ kept: HandoverConnection
  ) throws(CannotRestore) {
    guard let context = connection.handler as? CallContext,
      let restore = context.catalog.restorers[kind]
    else { throw CannotRestore("there is no way to restore its \(kind)") }
    try restore(context, items, HandoverSlot(self, kept))
  }

  /// Returns the changes of the sources of a service after a position; `nil` if they are not known.
  func changes(in service: String, after seq: UInt64) -> [String: [SourceChange]]? {
    let key = ChangesKey(service: service, position: seq)
    if let known = changes[key] { return known }
    let found = host.missedChanges(in: service, after: seq)
    changes[key] = .some(found)
    return found
  }
}

/// The reason why a connection cannot be restored as it was.
package struct CannotRestore: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }

  /// The error of an item that cannot be read.
  package init(unreadable item: HandoverItem) {
    self.init("its \(item.kind) \(item.key) cannot be read")
  }
}

/// A connection that is being restored, and how far it was.
package struct HandoverSlot {
  let restoration: Restoration
  let kept: HandoverConnection

  init(_ restoration: Restoration, _ kept: HandoverConnection) {
    (self.restoration, self.kept) = (restoration, kept)
  }

  /// The cursor of a subscription, if it has one of its own.
  func cursor(of handle: String) -> HandoverCursor? { kept.cursors.first { $0.handle == handle } }
}

extension Catalog {
  /// Restores the items of one kind of a connection.
  ///
  /// It tells the client of an item that cannot be restored, or throws; then the connection is closed.
  package typealias Restorer = (CallContext, [HandoverItem], HandoverSlot) throws(CannotRestore) ->
    Void

  /// Offers the way to restore a kind of items.
  package func restore(_ kind: HandoverKind, by restorer: @escaping Restorer) {
    precondition(restorers[kind] == nil, "two ways to restore a \(kind)")
    restorers[kind] = restorer
  }

  /// Returns whether there is a way to restore a kind of items.
  package func restores(_ kind: HandoverKind) -> Bool { restorers[kind] != nil }

  /// Offers a query whose effect on the connection survives a restart of the daemon.
  ///
  /// For the parameters see ``query(_:_:_:_:kind:unknownParameters:reader:body:)``.
  ///
  /// - Parameter body: Gets also the parameters as JSON, by name; `nil` if the connection ends with
  ///   the daemon.
  package func keptQuery<Parameters: Decodable>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type, _ result: ResultShape,
    kind: Method.Kind = .query, site: Method.Site? = nil,
    unknownParameters: JSONDecoder.UnknownMembers = .refused,
    body: @escaping (CallContext, Call, Parameters, JSONText?) throws -> Void
  ) {
    let names = Shape(of: parameters).members.map(\.name)
    offer(
      name, doc, kind, parameters, result, [], [], takesUnknown: unknownParameters == .ignored,
      site: site
    ) { context, call, request, line in
      do {
        let (parameters, options) =
          try context.decode(
            request, line, names, unknownParameters) as (Parameters, CallOptions?)
        let call = try options?.applied(to: call) ?? call
        let text = context.connection.isKept ? request.named(names, in: line) : nil
        try body(context, call, parameters, text)
      } catch {
        if error is Postponed { return .turn }
        context.endParts()
        call.refuse(context.access.error(error))
      }
      return nil
    }
  }
}

extension Request {
  /// Returns the parameters as JSON by name, without `_meta`.
  fileprivate func named(_ names: [String], in line: Span<UInt8>) -> JSONText {
    switch params.map({ JSONText(scanned: line.extracting($0)).value }) {
    case .object(var object)?:
      object[CallOptions.name] = nil
      return JSONValue.object(object).text
    case .array(let values)?:
      var object = JSONObject()
      for (name, value) in zip(names, values) { object[name] = value }
      return JSONValue.object(object).text
    default: return JSONText(members: [:])
    }
  }
}
