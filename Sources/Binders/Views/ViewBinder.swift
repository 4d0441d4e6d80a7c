internal import Configuration
package import Connections
internal import JSON
package import Services
internal import Wire

/// A binder that fills a view, as clients can open it.
package struct ViewBinder {
  /// The name by which it is opened, for example `"profile"`.
  let name: String
  let doc: String

  /// What it takes, by name.
  let arguments: Shape

  /// Fills a view for a client.
  ///
  /// - Throws: ``WireError`` when the arguments are not what it takes, or name what is not there.
  let bind: (View, Session, JSONText) throws(WireError) -> Void
}

extension Interface {
  /// Offers a view that clients can open by name.
  ///
  /// - Parameters:
  ///   - arguments: A type whose members are what is given to `open`.
  ///   - reads: The sources that it shows: without the right to read all of them it does not open.
  ///     When that is not said, it opens for those who may read everything.
  ///   - bind: The binder: assigns, binds and observes.
  package func offerView<Arguments: Decodable>(
    _ name: String, _ doc: String, _ arguments: Arguments.Type,
    reads: ((Arguments) -> [String])? = nil,
    bind: @escaping (View, Session, Arguments) throws -> Void
  ) {
    guard role.read.allowsAll || reads != nil else { return }
    let binder = ViewBinder(name: name, doc: doc, arguments: Shape(of: arguments)) {
      [unowned self] view, session, text throws(WireError) in
      do {
        let arguments: Arguments = try JSONDecoder().decode(from: text)
        try checkReadable(reads?(arguments) ?? [])
        try bind(view, session, arguments)
      } catch let fault as JSONDecodingError {
        throw WireError(fault.below("/args"))
      } catch let error as any ServiceError {
        throw WireError(error).below("/args")
      } catch {
        throw self.error(error)
      }
    }
    add(binder)
  }

  /// Offers a view that takes no arguments.
  package func offerView(
    _ name: String, _ doc: String, reads: [String]? = nil,
    bind: @escaping (View, Session) throws -> Void
  ) {
    guard role.read.allowsAll || reads?.allSatisfy(role.mayRead) == true else { return }
    offerView(name, doc, NoParameters.self, reads: { _ in [] }) { view, session, _ in
      try bind(view, session)
    }
  }
}
