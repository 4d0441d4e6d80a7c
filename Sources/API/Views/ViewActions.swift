package import Connections
internal import EventSourcing
package import JSON
package import Wire

// The methods and views that a view leads to, by name, with the rights of its client.
extension CallContext {
  /// The context of the client with its present rights.
  package var now: CallContext { connection.handler as? CallContext ?? self }

  /// Returns the arguments of a view that the client may open; `nil` if it may not.
  package func parameters(ofView name: String) -> [Shape.Member]? {
    rights.view(named: name)?.arguments.members
  }

  /// Returns the closure that runs a command of the daemon or of a program.
  ///
  /// - Throws: `method_not_found` if the client may not call it any more, or no program declares it;
  ///   the errors of its parameters.
  package func step(
    of name: String, _ parameters: JSONText
  ) throws(WireError) -> () throws -> JSONText? {
    guard let method = rights.method(named: name), let step = method.step else {
      throw access.methodNotFound(name)
    }
    return try step(self, Request(parameters: parameters), parameters.text.utf8.span)
  }

  /// Fills a tab; it is closed if the client may not see it.
  package func fill(_ view: View, as name: String, with arguments: JSONText) {
    fill(view, as: name, nil, with: arguments)
  }

  /// Fills a tab, with a view that the client has brought if there is one.
  func fill(_ view: View, as name: String, _ own: ViewBinder?, with arguments: JSONText) {
    guard let binder = own ?? rights.view(named: name) else { return view.close("failed") }
    do throws(WireError) {
      try binder.bind(view, self, arguments)
    } catch {
      view.close("failed")
    }
  }

  /// Opens a view from another one.
  ///
  /// - Throws: The error for arguments that do not fit, or sources that the client may not read.
  package func open(
    _ name: String, as style: View.Style, with arguments: JSONText, from view: View
  ) throws(WireError) {
    try open(name, nil, as: style, with: arguments, from: view)
  }

  /// Opens a view from another one, one that the client has brought if there is one.
  func open(
    _ name: String, _ own: ViewBinder?, as style: View.Style, with arguments: JSONText,
    from view: View
  ) throws(WireError) {
    guard let binder = own ?? rights.view(named: name) else { throw .notFound("view", name) }
    var failure: WireError?
    let child = view.open(name, as: style, with: arguments, weighing: binder.weight) { child in
      do throws(WireError) {
        try binder.bind(child, self, arguments)
      } catch {
        failure = error
      }
    }
    guard let failure else { return }
    child?.close("failed")
    throw failure
  }
}

extension WireError {
  /// The error of a parameter, as that of an argument of an intent.
  package var inArguments: WireError { below("/args") }
}

extension IntentField {
  /// Creates the field of a parameter.
  package init(of parameter: Method.Parameter) {
    self.init(doc: parameter.doc, parameter.shape)
  }

  /// Creates a field of a shape, with the words or the format of another where it has none.
  init(doc: String?, _ shape: Shape, or other: Shape = .any, from member: String? = nil) {
    var (format, words): (String?, [String]?) = (nil, nil)
    if case .text(let text) = shape { format = text.rawValue }
    if case .words(let known) = shape { words = known }
    if case .words(let known) = other, words == nil { words = known }
    self.init(doc: doc, format: format, words: words, from: member)
  }
}
