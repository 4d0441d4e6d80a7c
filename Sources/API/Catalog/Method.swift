package import Connections
package import JSON
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

  /// The full name, for example `"cells.set"`.
  let name: String
  let doc: String
  let kind: Kind
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

  /// Whether the method acts in the name of a user; see ``PersonalParameters``.
  let isPersonal: Bool
  let run: Runner

  /// Runs a command as part of an `atomic`; `nil` if the method cannot be part of one.
  let step: Step?

  /// Runs a request that names this method.
  ///
  /// Returns the work that the request must wait for before it runs again; `nil` if it was handled.
  package typealias Runner = (
    _ context: CallContext, _ call: Call, _ request: Request, _ line: Span<UInt8>
  ) -> Connection.Parking?

  /// Decodes the parameters of a command and returns a closure that runs it.
  package typealias Step = (
    _ context: CallContext, _ parameters: JSONText?
  ) throws(WireError) -> () throws -> JSONText?

  init(
    name: String, doc: String, kind: Kind, parameters: [Parameter], value: Shape?, result: Shape,
    writes: [String]?, errors: [String], takesUnknown: Bool,
    isPersonal: Bool, step: Step?, run: @escaping Runner
  ) {
    self.name = name
    self.doc = doc
    self.kind = kind
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

  /// The service that the method belongs to; `nil` for methods of the protocol.
  var service: String? {
    guard let point = name.firstIndex(of: "."), name != "rpc.discover" else { return nil }
    return String(name[..<point])
  }

  /// A parameter of a method.
  struct Parameter {
    let name: String
    let shape: Shape
    let isOptional: Bool
    let doc: String?
  }
}

/// Parameters with documentation.
///
/// Names and types come from the type itself.
package protocol DocumentedParameters: Decodable {
  /// A line of documentation for each parameter, by name.
  static var docs: [String: String] { get }
}

/// Parameters of a method that acts in the name of a user: the one logged in, or the one named.
package protocol PersonalParameters {
  var `as`: String? { get }
}

/// The methods, found by a hash of the bytes of a name.
struct MethodTable {
  /// All methods, sorted by name.
  private(set) var methods: [Method] = []

  /// The methods by hash, with open addressing; a power of two, at most half of it in use.
  private var slots: [Method?] = [nil]

  mutating func add(_ method: Method) {
    precondition(!methods.contains { $0.name == method.name }, "two methods \(method.name)")
    methods.insert(method, at: methods.firstIndex { $0.name > method.name } ?? methods.count)
    if methods.count * 2 > slots.count {
      slots = Array(repeating: nil, count: slots.count * 2)
      for method in methods { fill(method) }
    } else {
      fill(method)
    }
  }

  private mutating func fill(_ method: Method) {
    var slot = Self.hash(method.name.utf8.span) & (slots.count - 1)
    while slots[slot] != nil { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = method
  }

  /// Returns a hash that is not seeded: the names are those of the daemon.
  @inline(__always)
  private static func hash(_ name: Span<UInt8>) -> Int {
    var hash: UInt32 = 0
    for i in name.indices { hash = (hash ^ UInt32(name[i])) &* 0x0100_0193 }
    return Int(hash ^ hash >> 15)
  }

  func contains(_ name: String) -> Bool { methods.contains { $0.name == name } }

  /// Returns the methods that meet a condition.
  func filter(_ isIncluded: (Method) -> Bool) -> MethodTable {
    var table = MethodTable()
    for method in methods where isIncluded(method) { table.add(method) }
    return table
  }

  /// Returns the method with a name that is part of a line; `nil` if there is none.
  func find(_ token: JSONScanner.StringToken, in line: Span<UInt8>) -> Method? {
    if token.isEscaped {
      let name = JSONScanner(line).text(token)
      return methods.first { $0.name == name }
    }
    let name = line.extracting(token.start..<token.end)
    var slot = Self.hash(name) & (slots.count - 1)
    while let method = slots[slot] {
      if method.name.utf8.span.hasSameBytes(as: name) { return method }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }
}
