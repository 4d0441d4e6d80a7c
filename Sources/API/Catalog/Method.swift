package import Connections
package import JSON
package import Signals
package import Wire

/// A method that clients can call, as used by dispatch and `describe`.
package final class Method {
  /// The order in which a method is run and answered.
  package enum Kind {
    /// May record events.
    ///
    /// The answer waits until they are durable.
    case command
    /// Reads durable values, including earlier writes of the same client.
    case query
    /// A query that is answered in a later turn, out of order.
    case late
    /// A late query whose answer may be as long as a line.
    ///
    /// It starts when there is room for the answer.
    case long
    /// Runs at once, without waiting for earlier requests of the client.
    case prompt

    /// Whether the answer may follow answers to later requests.
    var isAsync: Bool { self == .late || self == .long }
  }

  /// The outcome of what a method does here, after the active daemon has run it.
  package enum LocalEffect {
    case done
    /// It must be tried again later.
    case pending
    case failed
  }

  /// The daemon that runs a method, where several share a journal.
  package enum Site {
    /// The daemon of the client.
    case here
    /// The active daemon.
    case active
    /// The active daemon, where the method leaves something that ends with the connection.
    case session
    /// The active daemon like ``session``; the function then has the same effect on the connection
    /// here.
    case both(_ here: (_ context: CallContext, _ params: JSONText?) -> LocalEffect)
    /// The active daemon like ``session`` if the function returns `true` for a parameter; otherwise
    /// here.
    case depends(on: String, (_ value: JSONText?, _ context: CallContext) -> Bool)

    /// Whether the method leaves something that ends with the connection.
    var leavesSomething: Bool {
      switch self {
      case .here, .active: false
      case .session, .both, .depends: true
      }
    }

    /// The active daemon, if it knows the handle in a parameter and this one does not.
    static func ofHandle(
      _ parameter: String, _ isKnown: @escaping (Connection, Handle) -> Bool
    ) -> Site {
      .depends(on: parameter) { value, context in
        guard let handle = value.flatMap({ Handle(encoded: $0.text) }) else { return false }
        return !isKnown(context.connection, handle)
      }
    }

    /// The active daemon for subscriptions of durable readers.
    package static var ofSubscription: Site { ofHandle("sub") { $0.subscription($1) != nil } }

    /// The active daemon for views that it runs.
    static var ofView: Site { ofHandle("view") { $0.views[$1] != nil } }
  }

  /// The full name, for example `"cells.set"`.
  package let name: String
  let doc: String
  let kind: Kind
  let site: Site
  let parameters: [Parameter]

  /// The type of the result's member `value`; `nil` if the method returns nothing or the result has
  /// other members.
  let value: Shape?

  /// The type of the result, an object.
  let result: Shape

  /// The event types that the method may record; `nil` for those of all writable sources.
  let writes: [String]?

  /// The `reason` of each `rejected` error that the method may return.
  let errors: [String]

  /// Whether unknown parameters are ignored.
  let takesUnknown: Bool

  /// Whether the method acts in the name of a user: the one logged in, or one that a parameter names.
  let isPersonal: Bool
  let run: Runner

  /// The number of requests for the method since the start.
  var calls: UInt64 = 0

  /// Runs a command as part of an `atomic`; `nil` if the method cannot be part of one.
  let step: Step?

  /// Runs a request that names this method.
  ///
  /// Returns the work that the request must wait for before it runs again; `nil` if it was handled.
  package typealias Runner = (
    _ context: CallContext, _ call: Call, _ request: Request, _ line: Span<UInt8>
  ) -> Connection.Parking?

  /// Reads the parameters of a command, which is part of another request, and returns a closure that
  /// runs it.
  ///
  /// The line has the parameters; it may have more.
  package typealias Step = (
    _ context: CallContext, _ request: Request, _ line: Span<UInt8>
  ) throws(WireError) -> () throws -> JSONText?

  package init(
    name: String, doc: String, kind: Kind, parameters: [Parameter], value: Shape?, result: Shape,
    writes: [String]?, errors: [String], takesUnknown: Bool,
    isPersonal: Bool, site: Site? = nil, step: Step?, run: @escaping Runner
  ) {
    self.name = name
    self.doc = doc
    self.kind = kind
    self.site = site ?? (kind == .command ? .active : .here)
    self.parameters = parameters
    self.value = value
    self.result = result
    self.writes = writes
    self.errors = errors
    self.takesUnknown = takesUnknown
    self.isPersonal = isPersonal
    self.step = step
    self.run = run
  }

  /// Whether a provider runs it later; the value of the answer is the number of the call.
  var isQueued: Bool { writes?.contains("services.called") == true }

  /// The service that the method belongs to; `nil` for methods of the protocol.
  var service: String? {
    guard let point = name.firstIndex(of: "."), name != "rpc.discover" else { return nil }
    return String(name[..<point])
  }

  /// Whether another daemon runs a request, while this one follows.
  func isAway(_ request: Request, _ line: Span<UInt8>, _ context: CallContext) -> Bool {
    switch site {
    case .here: false
    case .active, .session, .both: true
    case .depends(let parameter, let isAway):
      isAway(value(of: parameter, in: request, line), context)
    }
  }

  /// Returns the value of a parameter; `nil` if the request does not have it.
  private func value(of name: String, in request: Request, _ line: Span<UInt8>) -> JSONText? {
    guard let place = request.params else { return nil }
    let params = JSONText(scanned: line.extracting(place))
    guard request.isPositional else { return params.members?[name] }
    guard let index = parameters.firstIndex(where: { $0.name == name }),
      let elements = params.elements, index < elements.count
    else { return nil }
    return elements[index]
  }

  /// The types of the parameters, an object.
  private var parameterTypes: Shape {
    .object(
      parameters.map { .init(name: $0.name, shape: $0.shape, isOptional: $0.isOptional) })
  }

  /// Returns the types of the parameters of some methods, by full name.
  package static func parameterTypes(of methods: [Method]) -> [String: Shape] {
    Dictionary(methods.map { ($0.name, $0.parameterTypes) }) { first, _ in first }
  }

  /// A parameter of a method.
  package struct Parameter {
    package let name: String
    package let shape: Shape
    package let isOptional: Bool
    let doc: String?

    package init(name: String, shape: Shape, isOptional: Bool, doc: String?) {
      (self.name, self.shape, self.isOptional, self.doc) = (name, shape, isOptional, doc)
    }
  }
}

/// Lets the active daemon run requests, while this one follows.
protocol RequestForwarder: AnyObject {
  /// Whether requests of a client are passed on now.
  func takes(_ connection: Connection) -> Bool

  /// Passes a request on.
  ///
  /// - Returns: The reason to wait if the request must be tried again later; `nil` if it was taken.
  func forward(
    _ call: Call, _ method: Method, _ request: Request, _ line: Span<UInt8>,
    _ context: CallContext
  ) -> Connection.Parking?
}

/// Parameters with documentation.
///
/// Names and types come from the type itself.
package protocol DocumentedParameters: Decodable {
  /// A line of documentation for each parameter, by name.
  static var docs: [String: String] { get }
}

/// The methods, found by the bytes of a name.
final class MethodTable {
  /// All methods, sorted by name.
  let methods: [Method]
  private let names: NameTable

  /// The usual shapes of requests, by the index of the method.
  private var shapes: RequestShapes

  /// - Parameter methods: The methods in any order; their names must differ.
  init(_ methods: [Method] = []) {
    self.methods = methods.sorted { $0.name < $1.name }
    names = NameTable(self.methods.map(\.name))
    shapes = RequestShapes(self.methods.map { ($0.name, $0.parameters.map(\.name)) })
    for (method, next) in zip(self.methods, self.methods.dropFirst()) {
      precondition(method.name != next.name, "two methods \(method.name)")
    }
  }

  func contains(_ name: String) -> Bool { names.find(name.utf8.span) != nil }

  /// Returns the method with a name; `nil` if there is none.
  func find(_ name: String) -> Method? { names.find(name.utf8.span).map { methods[$0] } }

  /// Returns the methods that meet a condition.
  func filter(_ isIncluded: (Method) -> Bool) -> MethodTable {
    MethodTable(methods.filter(isIncluded))
  }

  /// Reads a line with one request.
  ///
  /// - Throws: See ``Request/init(parsing:idBytes:)``.
  @inline(__always)
  func read(
    _ line: Span<UInt8>, into request: inout Request, idBytes: Int
  ) throws(Request.Fault) {
    guard !shapes.read(line, into: &request, idBytes: idBytes) else { return }
    request = try Request(parsing: line, idBytes: idBytes)
  }

  /// Returns the method of a request that is part of a line; `nil` if there is none.
  ///
  /// - Parameter request: Read by ``read(_:into:idBytes:)`` of this table, or by the general scan.
  @inline(__always)
  func find(_ request: Request, in line: Span<UInt8>) -> Method? {
    if let shape = request.shape { return methods[shape] }
    return find(request.method, in: line)
  }

  private func find(_ token: JSONScanner.StringToken, in line: Span<UInt8>) -> Method? {
    if token.isEscaped {
      let name = JSONScanner(line).text(token)
      return names.find(name.utf8.span).map { methods[$0] }
    }
    return names.find(line.extracting(token.start..<token.end)).map { methods[$0] }
  }
}

/// The services made of programs, whose methods come and go.
package struct ProvidedMethods {
  package struct Service {
    let name: String
    let doc: String

    /// The declared sources, by name.
    let sources: [(name: String, doc: String)]

    /// The methods, sorted by name.
    package let methods: [Method]

    /// The views, sorted by name.
    let views: [ViewBinder]

    package init(
      name: String, doc: String, sources: [(name: String, doc: String)], methods: [Method],
      views: [ViewBinder]
    ) {
      (self.name, self.doc, self.sources, self.methods) = (name, doc, sources, methods)
      self.views = views
    }
  }

  /// Returns a method by the bytes of its full name; `nil` if only ``method`` may know it.
  package var find: (_ name: Span<UInt8>) -> Method? = { _ in nil }

  /// Returns a method by its full name; `nil` if no program has declared it.
  package var method: (_ name: String) -> Method? = { _ in nil }

  /// Returns a service by its name; `nil` if no program has declared it.
  package var service: (_ name: String) -> Service? = { _ in nil }

  /// Returns a few services whose names are near one in the order.
  package var near: (_ service: String) -> [Service] = { _ in [] }

  /// Returns the names of the services, sorted.
  package var names: () -> [String] = { [] }

  /// Returns a signal of why a queued call has failed or is parked, or of `nil` when it succeeds.
  package var outcomes: (_ call: UInt64) -> SafeSignal<String?> = { _ in .never() }

  package init() {}

  /// Returns a view of a program; `nil` if no program has declared it.
  func view(_ name: String) -> ViewBinder? {
    service(String(name.prefix { $0 != "." }))?.views.first { $0.name == name }
  }
}
