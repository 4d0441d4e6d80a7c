internal import Configuration
package import Connections
internal import EventSourcing
internal import JSON
internal import Wire

/// A view that clients can open, with the function that fills it.
package struct ViewBinder {
  /// The name of the view, for example `"profile"`.
  let name: String
  let doc: String

  /// The arguments, by name.
  let arguments: Shape

  /// Fills a view for a client.
  ///
  /// - Throws: ``WireError`` if the arguments are invalid or name something that does not exist.
  let bind: (View, Session, JSONText) throws(WireError) -> Void
}

extension Interface {
  /// Offers a view that clients can open by name.
  ///
  /// - Parameters:
  ///   - arguments: The type of the arguments of `open`.
  ///   - reads: Returns the sources that the view shows. The client must be allowed to read all of
  ///     them. If `nil`, only roles that may read everything can open the view.
  ///   - bind: Fills the view.
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
