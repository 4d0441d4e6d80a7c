package import JSON
package import Signals
internal import Wire

/// What a client may ask of a view, whatever it takes.
package final class ViewIntent {
  package let name: String

  /// What it takes, by name.
  let shape: Shape

  /// The binder of the view that it opens; `nil` when it opens none.
  fileprivate(set) var opens: String?

  /// Whether its answer is kept with the `cmd` of a client, so that it is not run twice.
  package fileprivate(set) var isKept = true

  /// Whether a client asks it with each key that is typed.
  fileprivate(set) var isLive = false

  /// Whether a client asks who uses it before it asks for it.
  fileprivate(set) var isDestructive = false

  /// The intent by its type.
  let typed: AnyObject

  private let take: (JSONText) throws(JSONDecodingError) -> () throws -> JSONText?

  init<Arguments: Decodable>(_ name: String, _ intent: Intent<Arguments>) {
    self.name = name
    shape = Shape(of: Arguments.self)
    typed = intent
    take = { text throws(JSONDecodingError) in try intent.ready(for: text) }
    intent.intent = self
  }

  /// The client asks.
  ///
  /// - Returns: What is to be run; it throws what the service throws and returns what that returns,
  ///   `nil` for nothing.
  /// - Throws: When the arguments are not what it takes.
  package func ready(
    for arguments: JSONText
  ) throws(JSONDecodingError) -> () throws -> JSONText? {
    try take(arguments)
  }
}

/// What a client may ask of a view, and with which arguments.
///
/// Either a method of a service is called, which may say no, or what the client gives is observed
/// as a signal; or both.
package final class Intent<Arguments: Decodable>: SignalProtocol {
  private unowned let view: View
  fileprivate weak var intent: ViewIntent?
  private let values = PassthroughSubject<Arguments, Never>()
  private var call: ((Arguments) throws -> JSONText?)?
  private var isDismissing = false

  init(on view: View) {
    self.view = view
  }

  /// The arguments, each time that the client asks.
  package func observe(with observer: @escaping Observer<Arguments, Never>) -> any Disposable {
    values.observe(with: observer)
  }

  /// Calls a method of a service; what that throws is the answer, what it returns as well.
  @discardableResult
  package func calls<Value: Encodable>(
    _ method: @escaping (Arguments) throws -> Value
  ) -> Self {
    let encoder = view.connection.hub.encoder
    return calls { arguments -> JSONText? in
      let value = try method(arguments)
      return try encoder.text(value)
    }
  }

  /// Calls a method of a service that returns nothing.
  @discardableResult
  package func calls(_ method: @escaping (Arguments) throws -> Void) -> Self {
    calls { arguments -> JSONText? in
      try method(arguments)
      return nil
    }
  }

  private func calls(_ method: @escaping (Arguments) throws -> JSONText?) -> Self {
    precondition(call == nil, "an intent of \(view.binder) calls two methods")
    call = method
    return self
  }

  /// Opens a view each time.
  @discardableResult
  package func opens(
    _ binder: String, as style: View.Style = .push, _ bind: @escaping (View, Arguments) -> Void
  ) -> Self {
    intent?.opens = binder
    values.bind(to: view) { view, arguments in
      view.open(binder, as: style) { bind($0, arguments) }
    }
    return self
  }

  /// Says that it does more than it records: to the session, or with a secret.
  ///
  /// It is run whenever it is asked, and its answer is kept nowhere; so it takes no `_meta.cmd`.
  @discardableResult
  package func unkept() -> Self {
    intent?.isKept = false
    return self
  }

  /// Closes the view each time, after what it calls has not said no.
  @discardableResult
  package func dismisses() -> Self {
    isDismissing = true
    return self
  }

  /// Is to be asked with each key that is typed, and not when somebody is done with typing: what is
  /// asked last takes the place of what was asked before.
  @discardableResult
  package func live() -> Self {
    intent?.isLive = true
    return self
  }

  /// Takes something away that it does not bring back: a client makes sure that this is wanted.
  @discardableResult
  package func destructive() -> Self {
    intent?.isDestructive = true
    return self
  }

  fileprivate func ready(for text: JSONText) throws(JSONDecodingError) -> () throws -> JSONText? {
    let arguments = try view.connection.hub.decoder.decode(Arguments.self, from: text)
    return { [self] in
      let value = try call?(arguments)
      values.send(arguments)
      if isDismissing { view.dismiss() }
      return value
    }
  }
}
