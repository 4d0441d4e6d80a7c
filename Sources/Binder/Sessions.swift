internal import API
package import Connections
internal import JSON
internal import Signals

/// An object for each client: made when it is first needed, and ended with the connection.
///
///     let carts = Sessions { caller in Cart(of: caller.uid) } end: { $0.close() }
///     catalog.command("shop.put", "Puts something into the cart.", Parameter("item")) {
///       (caller: Caller, item: Int) in carts[caller].put(item)
///     }
public final class Sessions<Session: AnyObject> {
  private let make: (Caller) -> Session
  private let end: ((Session) -> Void)?

  /// The objects by the number of their connection.
  private var sessions: [UInt64: Session] = [:]

  /// Creates the table of the sessions.
  ///
  /// - Parameters:
  ///   - make: Makes the object of a client; it may keep the caller.
  ///   - end: Ends it when the client has gone.
  public init(
    _ make: @escaping (Caller) -> Session, end: ((Session) -> Void)? = nil
  ) {
    (self.make, self.end) = (make, end)
  }

  /// The object of a client.
  public subscript(caller: Caller) -> Session {
    guard let connection = caller.context?.connection else { return make(caller) }
    if let known = sessions[connection.id] { return known }
    let session = make(caller)
    sessions[connection.id] = session
    connection.attach(
      .login,
      BlockDisposable { [self, id = connection.id] in
        sessions[id] = nil
        end?(session)
      })
    return session
  }

  /// Returns the object of a client that has needed one; `nil` for others.
  package func known(_ connection: Connection) -> Session? { sessions[connection.id] }
}

extension Catalog {
  /// Lets clients be logged in under names, which ``Caller/name`` and histories show.
  ///
  /// A login that was kept (``Caller/keepLogin(_:)``) goes on after a restart of the daemon.
  ///
  /// - Parameters:
  ///   - sessions: The sessions of the clients.
  ///   - name: Returns the name under which a client is logged in; `nil` if it is not.
  ///   - resume: Logs a client in again, with what was kept.
  ///
  /// A daemon has one such table.
  public func logins<Session, Login: Decodable>(
    in sessions: Sessions<Session>, name: @escaping (Session) -> String?,
    file: StaticString = #fileID, line: UInt = #line,
    resume: @escaping (Session, Login) -> Void
  ) {
    guard claim("table of logins", SourcePlace(file, line)) else { return }
    add { catalog in
      catalog.actor = { sessions.known($0).flatMap(name) }
      catalog.restore(.login) { context, items, _ throws(CannotRestore) in
        for item in items {
          guard let login: Login = try? JSONDecoder().decode(from: item.text) else {
            throw CannotRestore(unreadable: item)
          }
          resume(sessions[Caller(context)], login)
        }
      }
    }
  }
}

extension Caller {
  /// Keeps a login over a restart of the daemon, until the client has gone; `nil` ends that.
  ///
  /// See ``Catalog/logins(in:name:resume:)``.
  public func keepLogin(_ login: (some Encodable)?) {
    guard let connection = context?.connection, connection.isKept else { return }
    if let login, let text = try? JSONEncoder().text(login) {
      connection.keep(.login, "", text)
    } else {
      connection.drop(.login, "")
    }
  }

  /// Runs the command of the client again that has thrown a pending error; see
  /// ``Rejecting/isPending``.
  public func runAgain() { context?.connection.endWork() }
}
