package import Configuration
package import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

/// A view that clients can open, with the function that fills it.
package struct ViewBinder {
  /// The name of the view, for example `"profile"`.
  let name: String

  /// The service that it shows.
  let service: String
  let doc: String

  /// The arguments, by name.
  let arguments: Shape

  /// The bytes charged to the user of an open view, besides those of any view.
  var weight = 0

  /// Whether a role may open the view with some arguments.
  let isOffered: (Role) -> Bool

  /// Whether the view depends on the local machine and cannot be forwarded.
  let isOfMachine: Bool

  /// Fills a view for a client.
  ///
  /// - Throws: ``WireError`` if the arguments are invalid or name something that does not exist.
  let bind: (View, CallContext, JSONText) throws(WireError) -> Void
}

/// The views of files, and what open ones share.
package final class FileViewRegistry {
  private final class Entry {
    weak var object: AnyObject?
    init(_ object: AnyObject) { self.object = object }
  }

  /// The views, and their texts, by name.
  var views: [String: ViewBinder] = [:]
  var texts: [String: String] = [:]

  /// Tells open views when a method that they offer was changed.
  package let methodChanges = MethodChanges()

  /// The objects that views share, by key; a transformer in it may have any text.
  private var shared: [ExactText: Entry] = [:]

  /// The number of objects that open views share, for tests.
  package var sharedCount: Int { shared.count }

  /// Returns an object that views share while one of them uses it; `nil` if none does.
  func object(_ key: String) -> AnyObject? { shared[ExactText(key)]?.object }

  /// Lets views share an object, until ``remove(_:)`` after its end.
  func share(_ object: AnyObject, as key: String) { shared[ExactText(key)] = Entry(object) }

  /// Removes the entry of an object that has ended.
  func remove(_ key: String) {
    let key = ExactText(key)
    if shared[key]?.object == nil { shared[key] = nil }
  }

  func removeAll() { (views, texts) = ([:], [:]) }
}

extension Catalog {
  /// Offers a view that clients can open by name.
  ///
  /// - Parameters:
  ///   - service: The service that the view shows.
  ///   - arguments: The type of the arguments of `open`.
  ///   - reads: Returns the sources that the view shows. The client must be allowed to read all of
  ///     them. If `nil`, only roles that may read everything can open the view.
  ///   - patterns: The sources that `reads` can return. A role that may read none of one pattern
  ///     cannot open the view, and is not offered it.
  ///   - isOffered: Whether a role may open the view at all.
  ///   - isOfMachine: Whether the view depends on the local machine and cannot be forwarded.
  ///   - bind: Fills the view for the client of the context.
  package func offerView<Arguments: Decodable>(
    _ name: String, of service: String, _ doc: String, _ arguments: Arguments.Type,
    reads: ((Arguments) -> [String])? = nil, within patterns: [String] = [],
    isOffered: @escaping (Role) -> Bool = { _ in true }, isOfMachine: Bool = false,
    bind: @escaping (View, CallContext, Arguments) throws -> Void
  ) {
    let read = patterns.compactMap { Pattern($0) }
    let mayOpen: (Role) -> Bool = { role in
      (role.read.allowsAll || reads != nil) && read.allSatisfy(role.read.mayAllow)
        && isOffered(role)
    }
    add(
      ViewBinder(
        name: name, service: service, doc: doc, arguments: Shape(of: arguments), isOffered: mayOpen,
        isOfMachine: isOfMachine
      ) {
        view, context, text throws(WireError) in
        do {
          let arguments: Arguments = try JSONDecoder().decode(from: text)
          try context.access.checkReadable(reads?(arguments) ?? [])
          try bind(view, context, arguments)
        } catch let fault as JSONDecodingError {
          throw WireError(fault.below("/args"))
        } catch let error as any ServiceError {
          throw WireError(error).below("/args")
        } catch {
          throw context.access.error(error)
        }
      })
  }

  /// Offers a view that takes no arguments.
  package func offerView(
    _ name: String, of service: String, _ doc: String, reads: [String]? = nil,
    isOfMachine: Bool = false, bind: @escaping (View, CallContext) throws -> Void
  ) {
    offerView(
      name, of: service, doc, NoParameters.self, reads: { _ in [] },
      isOffered: { role in role.read.allowsAll || reads?.allSatisfy(role.mayRead) == true },
      isOfMachine: isOfMachine
    ) { view, context, _ in try bind(view, context) }
  }
}
