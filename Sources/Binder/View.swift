package import API
package import Connections
public import JSON
public import Signals
internal import Wire

/// A view on the screen of a client: what it shows, and what people can do with it.
///
/// The terminal and the page show the properties and the intents in the order of their first use.
///
/// A function of an intent may keep it. After the view is closed, it does nothing.
public final class View {
  /// Weak, because intents of the view may keep this object.
  package private(set) weak var engine: Connections.View?
  package let context: CallContext

  package init(_ engine: Connections.View, _ context: CallContext) {
    (self.engine, self.context) = (engine, context)
  }

  /// The client that sees the view.
  public var caller: Caller { Caller(context) }

  // MARK: Properties

  /// Shows a value that does not change.
  public func assign(_ name: String, _ value: some Encodable) { engine?.assign(name, value) }

  /// Shows each value of a signal while the view is open.
  public func bind<Value: Encodable>(_ name: String, to signal: some SignalProtocol<Value, Never>) {
    if let engine { signal.bind(to: engine[name]) }
  }

  /// Shows each array of a signal as a list while the view is open; only the differences are sent.
  public func bindList<Element: Encodable>(
    _ name: String, to signal: some SignalProtocol<[Element], Never>
  ) {
    if let engine { signal.bind(to: engine[name]) }
  }

  /// Shows each loaded array of a signal as a list, and whether it is loading or has failed.
  public func bindList<Element: Encodable, Failure: Error>(
    _ name: String, toLoading signal: LoadingSignal<[Element], Failure>
  ) {
    guard let engine else { return }
    signal.mapLoadingError { ServiceRejection.adapted($0) }
      .consumeLoadingState(by: engine[name]).bind(to: engine[name])
  }

  /// Shows a list that emits each change; the changes are sent as they are made.
  public func bindList<Element: Encodable>(
    _ name: String,
    toChanges signal: some SignalProtocol<OrderedCollectionChangeset<[Element]>, Never>
  ) {
    if let engine { signal.bind(to: engine[name]) }
  }

  /// Shows rows, which all views share; the cost of a change depends on the changed rows only.
  public func bind<Key, Row: Encodable>(_ name: String, to rows: RowList<Key, Row>) {
    if let engine { rows.bind(to: engine[name]) }
  }

  /// Shows a computed value, which is computed once for all views.
  public func bind<Value: Encodable>(_ name: String, to computed: Computed<Value>) {
    if let engine { computed.bind(to: engine[name]) }
  }

  /// Shows a computed list, which is computed once for all views; only the differences are sent.
  public func bindList<Element: Encodable>(_ name: String, to computed: Computed<[Element]>) {
    if let engine { computed.bind(to: engine[name]) }
  }

  /// Shows whether the value of a property is loaded, and the error; the value itself stays as it is.
  public func bindState<Value, Failure: Rejecting>(
    of name: String, to states: SafeSignal<ObservedLoadingState<Value, Failure>>
  ) {
    guard let engine else { return }
    states.map(\.forClients).updateLoadingState(of: engine[name]).bind(to: engine) { _, _ in }
  }

  /// Calls a function with each value of a signal while the view is open.
  public func observe<Value>(
    _ signal: some SignalProtocol<Value, Never>, _ body: @escaping (Value) -> Void
  ) {
    if let engine { signal.bind(to: engine) { _, value in body(value) } }
  }

  /// Declares how clients show a property to people.
  public func hint(_ name: String, _ hint: Hint) {
    engine?[name].hint(hint.engine)
  }

  /// Declares members of a value, or of each element of a list, that clients do not show to people.
  public func hide(_ members: String..., of name: String) { engine?[name].hiding(members) }

  /// The ways to show a value to people.
  public enum Hint: Sendable {
    /// The numbers are bytes.
    case bytes
    /// The numbers are seconds.
    case seconds
    /// The fractions are parts of 1, which people read as percentages.
    case share
    /// The number of elements before the first one of the list that is shown.
    case before
    /// The number of elements after the last one of the list that is shown.
    case after
    /// The value is shown only while it is there, and neither null, false, 0 nor empty.
    case quiet
    /// The value is for programs, and not shown.
    case hidden

    fileprivate var engine: ViewProperty.Hint {
      switch self {
      case .bytes: .bytes
      case .seconds: .seconds
      case .share: .share
      case .before: .before
      case .after: .after
      case .quiet: .quiet
      case .hidden: .hidden
      }
    }
  }

  // MARK: Intents

  /// Lets the client call a method.
  ///
  /// Its parameters, their docs, its errors and the rights to call it are those of the method. A
  /// client that may not call it is not offered the intent.
  ///
  /// - Parameters:
  ///   - name: The name of the intent in this view.
  ///   - fixed: Values of parameters that the client does not give.
  @discardableResult
  public func intent(
    _ name: String, calls method: Method, with fixed: JSONObject = [:]
  ) -> Intent {
    guard let engine, context.rights.method(named: method.name) != nil else { return Intent(nil) }
    let intent = engine.intent(name, taking: shape(of: method.parameters, without: fixed))
    intent.describe(fields(of: method.parameters, without: fixed))
    if method.isCommand {
      intent.runs { [context] given in
        let text = given.adding(fixed)
        let run: () throws -> JSONText?
        do throws(WireError) {
          run = try context.now.step(of: method.name, text)
        } catch {
          throw error.inArguments
        }
        return try run()
      }
    } else {
      intent.requests { IntentRequest(method.name, $0.adding(fixed)) }
      intent.answers()
    }
    return Intent(intent)
  }

  /// Lets the client run a function that is no method of its own.
  ///
  /// As a method: what it records is recorded as a whole or not at all, and the role of the client must
  /// allow each stream.
  ///
  /// - Parameters:
  ///   - name: The name of the intent in this view.
  ///   - parameters: One for each parameter of the function, in its order.
  ///   - body: Gets the parameters; its result is the value of the answer.
  @discardableResult
  public func intent<each Value: Decodable, Result: Codable>(
    _ name: String, _ parameters: repeat Parameter<each Value>,
    calls body: @escaping (repeat each Value) throws -> Result
  ) -> Intent {
    intent(name, repeat each parameters, opens: nil) { [context] (value: repeat each Value) in
      try context.catalog.text(body(repeat each value))
    }
  }

  /// Lets the client run a function that returns nothing; see ``intent(_:_:calls:)``.
  @discardableResult
  public func intent<each Value: Decodable>(
    _ name: String, _ parameters: repeat Parameter<each Value>,
    calls body: @escaping (repeat each Value) throws -> Void
  ) -> Intent {
    intent(name, repeat each parameters, opens: nil) { (value: repeat each Value) in
      try body(repeat each value)
      return nil
    }
  }

  /// Lets the client run a function, and then opens another view with the same parameters.
  ///
  /// - Parameters:
  ///   - name: The name of the intent in this view.
  ///   - parameters: One for each parameter of the function, in its order; the view that is opened has
  ///     the same ones.
  ///   - target: The name of the view that it opens.
  ///   - body: Gets the parameters; its result is the value of the answer. If it throws, no view is
  ///     opened.
  @discardableResult
  public func intent<each Value: Decodable, Result: Codable>(
    _ name: String, _ parameters: repeat Parameter<each Value>, opens target: String,
    as style: Style = .push, calls body: @escaping (repeat each Value) throws -> Result
  ) -> Intent {
    guard context.mayOpen(target) else { return Intent(nil) }
    return intent(name, repeat each parameters, opens: (target, style)) {
      [context] (value: repeat each Value) in
      try context.catalog.text(body(repeat each value))
    }
  }

  /// Lets the client run a function that returns nothing, and then opens another view with the same
  /// parameters; see ``intent(_:_:opens:as:calls:)``.
  @discardableResult
  public func intent<each Value: Decodable>(
    _ name: String, _ parameters: repeat Parameter<each Value>, opens target: String,
    as style: Style = .push, calls body: @escaping (repeat each Value) throws -> Void
  ) -> Intent {
    guard context.mayOpen(target) else { return Intent(nil) }
    return intent(name, repeat each parameters, opens: (target, style)) {
      (value: repeat each Value) in
      try body(repeat each value)
      return nil
    }
  }

  /// Lets the client open a view that has no name of its own in the catalogue.
  ///
  ///     view.intent("show", Parameter<String>("id"), opens: "user", fill: { bindUser($0, $1) })
  ///
  /// It is opened again after a restart of the daemon.
  ///
  /// - Parameters:
  ///   - name: The name of the intent in this view.
  ///   - parameters: One for each parameter of the functions, in its order.
  ///   - target: The name of the view that it opens.
  ///   - fill: Fills that view.
  ///   - body: Runs before, as a method. If it throws, no view is opened.
  @discardableResult
  public func intent<each Value: Decodable>(
    _ name: String, _ parameters: repeat Parameter<each Value>, opens target: String,
    as style: Style = .push, fill: @escaping (View, repeat each Value) -> Void,
    calls body: ((repeat each Value) throws -> Void)? = nil
  ) -> Intent {
    let opened = {
      [context] (engine: Connections.View, given: JSONText, value: repeat each Value) in
      _ = engine.open(target, as: style.engine, with: given) {
        fill(View($0, context), repeat each value)
      }
    }
    engine?.reopens(target) { [context, weak engine] given in
      guard let engine,
        let values = try? (repeat (each parameters).value(in: given, context.catalog.decoder))
      else { return }
      opened(engine, given, repeat each values)
    }
    let intent = intent(name, repeat each parameters) {
      [weak engine] (given: JSONText, value: repeat each Value) in
      try body?(repeat each value)
      if let engine { opened(engine, given, repeat each value) }
      return nil
    }
    intent.engine?.leads(to: target)
    return intent
  }

  /// Lets the client run a function whose result comes later, and shows it in a property: loading,
  /// then the value or the error.
  ///
  /// A newer request supersedes the previous one.
  ///
  /// - Parameters:
  ///   - name: The name of the intent in this view.
  ///   - parameters: One for each parameter of the function, in its order.
  ///   - property: The property that shows the result; it has none before the first request.
  ///   - body: Gets the parameters. The signal is observed at once, within the command.
  @discardableResult
  public func intent<each Value: Decodable, Loaded: Encodable, Failure: Error>(
    _ name: String, _ parameters: repeat Parameter<each Value>, loads property: String,
    calls body: @escaping (repeat each Value) throws -> LoadingSignal<Loaded, Failure>
  ) -> Intent {
    guard let engine else { return Intent(nil) }
    let shown = engine[property].loadedWhenAsked()
    let requests = PassthroughSubject<LoadingSignal<Loaded, any Error>, Never>()
    requests.flatMapLatest { $0 }.consumeLoadingState(by: shown).bind(to: shown)
    return intent(name, repeat each parameters) { (_: JSONText, value: repeat each Value) in
      requests.send(try body(repeat each value).mapLoadingError { ServiceRejection.adapted($0) })
      return nil
    }
  }

  private func intent<each Value: Decodable>(
    _ name: String, _ parameters: repeat Parameter<each Value>,
    opens target: (name: String, style: Style)?,
    calls body: @escaping (repeat each Value) throws -> JSONText?
  ) -> Intent {
    let intent = intent(name, repeat each parameters) {
      [context, weak engine] (given: JSONText, value: repeat each Value) in
      let value = try body(repeat each value)
      if let target, let engine {
        try context.open(target.name, as: target.style.engine, with: given, from: engine)
      }
      return value
    }
    if let target {
      intent.engine?.leads(to: target.name)
      reopen(target.name, target.style)
    }
    return intent
  }

  /// Lets the client run a function with the values of the parameters, and with their text.
  private func intent<each Value: Decodable>(
    _ name: String, _ parameters: repeat Parameter<each Value>,
    runs body: @escaping (JSONText, repeat each Value) throws -> JSONText?
  ) -> Intent {
    guard let engine else { return Intent(nil) }
    var described: [API.Method.Parameter] = []
    repeat described.append((each parameters).described)
    let all = described
    let intent = engine.intent(name, taking: shape(of: all, without: [:]))
    intent.describe(fields(of: all, without: [:]))
    intent.runs { [context] given in
      let members = given.members ?? [:]
      var rest = all.map { members[$0.name] }[...]
      do {
        let values = try
          (repeat (each parameters).value(of: rest.removeFirst(), context.catalog.decoder))
        return try body(given, repeat each values)
      } catch let fault as JSONDecodingError {
        throw WireError(fault).inArguments
      } catch {
        throw ServiceRejection.adapted(error)
      }
    }
    return Intent(intent)
  }

  /// Opens a view again that this view has opened before a restart.
  private func reopen(_ target: String, _ style: Style) {
    engine?.reopens(target) { [context, weak engine] text in
      if let engine { try? context.open(target, as: style.engine, with: text, from: engine) }
    }
  }

  /// Lets the client do what is declared for it: for example close the view.
  @discardableResult
  public func intent(_ name: String) -> Intent { intent(name) {} }

  /// Lets the client open another view, by its name.
  ///
  /// A client that may not open it is not offered the intent.
  ///
  /// - Parameters:
  ///   - name: The name of the intent in this view.
  ///   - target: The name of the view that it opens.
  ///   - fixed: Values of parameters of that view that the client does not give.
  @discardableResult
  public func intent(
    _ name: String, opens target: String, as style: Style = .push, with fixed: JSONObject = [:]
  ) -> Intent {
    guard let engine, let members = context.parameters(ofView: target) else { return Intent(nil) }
    let left = members.filter { fixed[$0.name] == nil }
    let intent = engine.intent(name, taking: .object(left))
    intent.leads(to: target)
    intent.runs { [context, unowned engine] given in
      try context.open(target, as: style.engine, with: given.adding(fixed), from: engine)
      return nil
    }
    reopen(target, style)
    return Intent(intent)
  }

  /// Opens views without parameters beside each other, by their names.
  ///
  /// Those that the client may not open are left out.
  public func tabs(_ names: String...) {
    let context = context
    engine?.tabs(
      names.filter(context.mayOpen).map { name in
        Connections.View.Tab(name) { context.fill($0, as: name, with: JSONText(trusted: "{}")) }
      })
  }

  /// Opens views beside each other that have no names of their own in the catalogue.
  ///
  ///     view.tabs(("rooms", { bindRooms($0, user) }), ("profile", { bindProfile($0, user) }))
  public func tabs(_ tabs: (name: String, fill: (View) -> Void)...) {
    engine?.tabs(
      tabs.map { tab in
        Connections.View.Tab(tab.name) { [context] in tab.fill(View($0, context)) }
      })
  }

  /// The presentation of a view that another one opens.
  public enum Style: Sendable {
    /// One level deeper, with a way back.
    case push
    /// On top, until it is dismissed.
    case present
    /// In place of the view that was opened so before.
    case replace

    var engine: Connections.View.Style {
      switch self {
      case .push: .push
      case .present: .present
      case .replace: .replace
      }
    }
  }

  /// Opens a view that has no name of its own in the catalogue.
  ///
  /// The client learns of it after the answer to its request.
  ///
  /// - Parameters:
  ///   - name: The name of the view that clients see.
  ///   - fill: Fills it.
  public func open(_ name: String, as style: Style = .push, fill: (View) -> Void) {
    _ = engine?.open(name, as: style.engine) { [context] in fill(View($0, context)) }
  }

  /// Closes the view because its purpose is fulfilled.
  public func dismiss() { engine?.dismiss() }
}

/// Something that a client can do in a view.
public struct Intent {
  /// `nil` if the client is not offered it.
  fileprivate let engine: Connections.Intent<JSONText>?

  init(_ engine: Connections.Intent<JSONText>?) { self.engine = engine }

  /// Declares the main action of the view, which clients offer first.
  @discardableResult public func main() -> Intent { declared { $0.main() } }

  /// Declares that the effect cannot be undone, so that clients ask for confirmation.
  @discardableResult public func destructive() -> Intent { declared { $0.destructive() } }

  /// Lets clients send the intent with each typed key; a newer one supersedes the one before.
  @discardableResult public func live() -> Intent { declared { $0.live() } }

  /// Declares effects beyond the recorded events, as ``Method/unkept()`` does for a method.
  @discardableResult public func unkept() -> Intent { declared { $0.unkept() } }

  /// Closes the view afterwards, unless the method has failed.
  @discardableResult public func dismisses() -> Intent { declared { $0.dismisses() } }

  /// Offers the intent only while a property says something: its value is there, and neither null,
  /// false, 0 nor empty.
  @discardableResult public func when(_ property: String) -> Intent {
    declared { $0.when(property) }
  }

  /// Offers the intent only while a property says nothing; see ``when(_:)``.
  @discardableResult public func unless(_ property: String) -> Intent {
    declared { $0.unless(property) }
  }

  /// Offers the intent only for rows of which a member says something; see ``when(_:)``.
  @discardableResult public func whenRow(_ member: String) -> Intent {
    declared { $0.whenRow(member, isMet: true) }
  }

  private func declared(_ declare: (Connections.Intent<JSONText>) -> Void) -> Intent {
    engine.map(declare)
    return self
  }
}

private func shape(of parameters: [API.Method.Parameter], without fixed: JSONObject) -> Shape {
  .object(
    parameters.filter { fixed[$0.name] == nil }.map {
      Shape.Member(name: $0.name, shape: $0.shape, isOptional: $0.isOptional)
    })
}

private func fields(
  of parameters: [API.Method.Parameter], without fixed: JSONObject
) -> [(name: String, field: IntentField)] {
  parameters.filter { fixed[$0.name] == nil }.map { ($0.name, IntentField(of: $0)) }
}

extension JSONText {
  /// Returns an object with more members.
  fileprivate func adding(_ fixed: JSONObject) -> JSONText {
    guard !fixed.members.isEmpty else { return self }
    var members = members ?? [:]
    for member in fixed.members { members[member.name] = member.value.text }
    return JSONText(members: members)
  }
}
