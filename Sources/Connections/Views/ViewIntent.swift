package import JSON
package import Signals
internal import Wire

/// An intent of a view, without the type of its arguments.
package final class ViewIntent {
  package let name: String

  /// The shape of the arguments.
  let shape: Shape

  /// The binder of the view that the intent opens; `nil` if it opens none.
  fileprivate(set) var opens: String?

  /// Whether the answer is stored under the client's `cmd`, so that a retry is not run again.
  package fileprivate(set) var isKept = true

  /// Whether clients send the intent with each typed key.
  fileprivate(set) var isLive = false

  /// Whether it is the main action of the view, which clients offer first.
  fileprivate(set) var isMain = false

  /// Whether clients ask the person for confirmation first.
  fileprivate(set) var isDestructive = false

  /// The property on which it depends whether the intent makes sense now; `nil` if it always does.
  ///
  /// `isMet` is whether the property must say something, or must not.
  fileprivate(set) var condition: (property: String, isMet: Bool)?

  /// The member of a row that must say something, or nothing.
  fileprivate(set) var rowCondition: (member: String, isMet: Bool)?

  /// The rows that it takes; `nil` if clients find that by its parameters.
  fileprivate(set) var rows: Rows?

  /// Whether the value of its answer is what the user wants.
  fileprivate(set) var isAnswer = false

  /// Notes for people about the parameters, in their order.
  fileprivate(set) var fields: [(name: String, field: IntentField)] = []

  /// The rows for which an intent is: those of a property, or none.
  enum Rows {
    case of(String)
    case noList
  }

  /// Returns the request that runs instead of the intent, whose answer is its answer; `nil` if the
  /// intent runs itself.
  package fileprivate(set) var request: ((_ arguments: JSONText) throws -> IntentRequest)?

  /// The intent as an ``Intent`` of its argument type.
  let typed: AnyObject

  private let take: (JSONText) throws(JSONDecodingError) -> () throws -> JSONText?

  init<Arguments: Decodable>(_ name: String, _ shape: Shape, _ intent: Intent<Arguments>) {
    self.name = name
    self.shape = shape
    typed = intent
    take = { text throws(JSONDecodingError) in
      if Arguments.self == JSONText.self { try shape.checkNames(in: text) }
      return try intent.ready(for: text)
    }
    intent.intent = self
  }

  /// Decodes the arguments of a request.
  ///
  /// - Returns: A closure that runs the intent. It returns the result, `nil` for none, and throws
  ///   the service's errors.
  /// - Throws: An error if the arguments do not match.
  package func ready(
    for arguments: JSONText
  ) throws(JSONDecodingError) -> () throws -> JSONText? {
    try take(arguments)
  }
}

/// An intent of a view with typed arguments.
///
/// It calls a method of a service, which may fail, or is observed as a signal of the arguments, or
/// both.
package final class Intent<Arguments: Decodable>: SignalProtocol {
  private unowned let view: View
  fileprivate weak var intent: ViewIntent?

  /// Emits the arguments; made by the first observer, because most intents only call a method.
  private var values: PassthroughSubject<Arguments, Never>?
  private var call: ((Arguments) throws -> JSONText?)?
  private var isDismissing = false

  /// The arguments of the request that is being run, as JSON.
  private var text: JSONText?

  init(on view: View) {
    self.view = view
  }

  /// Observes the arguments of each request.
  package func observe(with observer: @escaping Observer<Arguments, Never>) -> any Disposable {
    let observed = values ?? PassthroughSubject()
    values = observed
    return observed.observe(with: observer)
  }

  /// Calls a method of a service.
  ///
  /// Its result or error is the answer.
  @discardableResult
  package func calls<Value: Encodable>(
    _ method: @escaping (Arguments) throws -> Value
  ) -> Self {
    let encoder = view.client.context.views.encoder
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

  fileprivate func calls(_ method: @escaping (Arguments) throws -> JSONText?) -> Self {
    precondition(call == nil, "an intent of \(view.binder) calls two methods")
    call = method
    return self
  }

  /// Opens a view with each request.
  @discardableResult
  package func opens(
    _ binder: String, as style: View.Style = .push, _ bind: @escaping (View, Arguments) -> Void
  ) -> Self {
    intent?.opens = binder
    self.bind(to: view) { [unowned self] view, arguments in
      view.open(binder, as: style, with: text) { bind($0, arguments) }
    }
    view.reopens(binder) { [unowned view] text in
      let decoder = view.client.context.views.decoder
      guard let arguments = try? decoder.decode(Arguments.self, from: text) else { return }
      view.open(binder, as: style, with: text) { bind($0, arguments) }
    }
    return self
  }

  /// Declares effects beyond the recorded events, for example on the session or with a secret.
  ///
  /// The intent is run with every request and its answer is never stored, so it accepts no
  /// `_meta.cmd`.
  @discardableResult
  package func unkept() -> Self {
    intent?.isKept = false
    return self
  }

  /// Closes the view after each request, unless the called method throws.
  @discardableResult
  package func dismisses() -> Self {
    isDismissing = true
    return self
  }

  /// Lets clients send the intent with each typed key.
  ///
  /// A newer request supersedes the previous one.
  @discardableResult
  package func live() -> Self {
    intent?.isLive = true
    return self
  }

  /// Declares the main action of the view, or of the rows that it takes, which clients offer first.
  ///
  /// Of several of the view, or of one list, at most one makes sense at a time; see ``when(_:)``.
  @discardableResult
  package func main() -> Self {
    intent?.isMain = true
    return self
  }

  /// Declares that the intent makes sense only while a property says something: its value is there,
  /// and neither null, false, 0 nor empty.
  ///
  /// Clients then offer it only meanwhile. The service decides itself what it accepts.
  @discardableResult
  package func when(_ property: String) -> Self {
    intent?.condition = (property, true)
    return self
  }

  /// Declares that the intent makes sense only while a property says nothing; see ``when(_:)``.
  @discardableResult
  package func unless(_ property: String) -> Self {
    intent?.condition = (property, false)
    return self
  }

  /// Declares that the intent makes sense only for rows of which a member says something, or nothing; see
  /// ``when(_:)``.
  @discardableResult
  package func whenRow(_ member: String, isMet: Bool) -> Self {
    intent?.rowCondition = (member, isMet)
    return self
  }

  /// Declares that the effect cannot be undone, so that clients ask for confirmation.
  @discardableResult
  package func destructive() -> Self {
    intent?.isDestructive = true
    return self
  }

  fileprivate func ready(for text: JSONText) throws(JSONDecodingError) -> () throws -> JSONText? {
    let arguments = try view.client.context.views.decoder.decode(Arguments.self, from: text)
    return { [self] in
      self.text = text
      let value = try call?(arguments)
      values?.send(arguments)
      if isDismissing { view.dismiss() }
      return value
    }
  }
}

/// A request that a view makes for its client.
package struct IntentRequest {
  package let method: String
  package let parameters: JSONText

  package init(_ method: String, _ parameters: JSONText) {
    (self.method, self.parameters) = (method, parameters)
  }
}

extension Intent where Arguments == JSONText {
  /// Runs a function with the arguments, whose result or error is the answer.
  @discardableResult
  package func runs(_ body: @escaping (JSONText) throws -> JSONText?) -> Self { calls(body) }

  /// Makes a request in place of the intent, for methods that are no commands.
  package func requests(_ make: @escaping (_ arguments: JSONText) throws -> IntentRequest) {
    intent?.request = make
    unkept()
  }

  /// Adds notes for people about the parameters.
  package func describe(_ fields: [(name: String, field: IntentField)]) {
    intent?.fields = fields.filter { !$0.field.isEmpty }
  }

  /// Declares the property whose rows the intent takes by their `id`.
  package func takesRow(of list: String) { intent?.rows = .of(list) }

  /// Declares that an `id` is asked for like any other parameter, although the view has rows.
  package func takesNoRow() { intent?.rows = .noList }

  /// Declares that the user wants to see the value of the answer.
  package func answers() { intent?.isAnswer = true }

  /// Declares the view that the function of the intent opens.
  package func leads(to binder: String) { intent?.opens = binder }
}

extension Shape {
  /// Checks that an object has all required members, and no others than these.
  fileprivate func checkNames(in text: JSONText) throws(JSONDecodingError) {
    guard let given = text.members else {
      throw JSONDecodingError(path: "", expected: "object", got: "another value")
    }
    for member in members where !member.isOptional && given[member.name] == nil {
      throw JSONDecodingError(
        member: member.name, of: "", expected: member.shape.name, got: "nothing")
    }
    let names = members.map(\.name)
    for name in given.keys.sorted() where !names.contains(name) {
      throw JSONDecodingError(
        member: name, of: "", expected: "no such member", got: "a value")
    }
  }
}

/// The parameters of a method that takes none.
package struct NoParameters: Decodable {
  private enum Keys: CodingKey {}

  package init() {}

  package init(from decoder: any Decoder) throws {
    // Opens the container so that the decoder can report unknown members.
    _ = try decoder.container(keyedBy: Keys.self)
  }
}
