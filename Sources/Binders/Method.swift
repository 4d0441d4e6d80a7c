internal import Connections
internal import JSON
internal import Wire

/// One method as it is offered: what dispatch runs and `describe` shows.
final class Method {
  /// How a method is answered.
  enum Kind {
    /// It may write: it decides on what is recorded, and its answer waits until that is durable.
    case command
    /// It reads what is durable, after what the same client has written before.
    case query
    /// As a query, but answered in a later turn, out of order.
    case late
    /// The same, with an answer that may be as long as a line: begun when there is room for it.
    case long
    /// It waits for nothing that the client has asked before.
    case prompt

    /// Whether the answer may come after those of later requests.
    var isAsync: Bool { self == .late || self == .long }
  }

  /// The whole name, for example `"cells.set"`.
  let name: String
  let doc: String
  let kind: Kind
  let parameters: [Parameter]

  /// What the method of the service returns, the member `value` of the result; `nil` when it returns
  /// nothing, or the result has other members.
  let value: Shape?

  /// The whole result, an object.
  let result: Shape

  /// The types of events that it may record; `nil` for those of all writable sources.
  let writes: [String]?

  /// The `reason` of each `rejected` that it may answer.
  let errors: [String]

  /// Whether members of its parameters that are not known are passed over.
  let takesUnknown: Bool
  let run: Runner

  /// How a command is run as a part of a larger one; `nil` for what is none.
  let step: Step?

  /// Runs a request that names this method.
  typealias Runner = (
    _ interface: Interface, _ call: Call, _ request: Request, _ line: Span<UInt8>
  ) -> Void

  /// Reads the parameters of a command and returns what runs it.
  typealias Step = (
    _ interface: Interface, _ parameters: JSONText?
  ) throws(WireError) -> () throws -> JSONText?

  init(
    name: String, doc: String, kind: Kind, parameters: [Parameter], value: Shape?, result: Shape,
    writes: [String]?, errors: [String], takesUnknown: Bool, step: Step?, run: @escaping Runner
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
    self.step = step
    self.run = run
  }

  /// The service that it is a method of; `nil` for those of the protocol.
  var service: String? {
    guard let point = name.firstIndex(of: "."), name != "rpc.discover" else { return nil }
    return String(name[..<point])
  }

  /// One parameter.
  struct Parameter {
    let name: String
    let shape: Shape
    let isOptional: Bool
    let doc: String?
  }
}

/// Parameters that say what they mean; the names and types come from the type itself.
package protocol DocumentedParameters: Decodable {
  /// One line for each parameter, by its name.
  static var docs: [String: String] { get }
}

/// The methods, found by the bytes of their names.
struct MethodTable {
  /// All of them, by name.
  private(set) var methods: [Method] = []

  /// The methods whose names have a length.
  private var byLength: [[Method]] = []

  mutating func add(_ method: Method) {
    let length = method.name.utf8.count
    while byLength.count <= length { byLength.append([]) }
    precondition(!methods.contains { $0.name == method.name }, "two methods \(method.name)")
    byLength[length].append(method)
    methods.insert(method, at: methods.firstIndex { $0.name > method.name } ?? methods.count)
  }

  /// The method of a name as it stands in a line.
  func find(_ token: JSONScanner.StringToken, in line: Span<UInt8>) -> Method? {
    if token.isEscaped {
      let name = JSONScanner(line).text(token)
      return methods.first { $0.name == name }
    }
    let length = token.end - token.start
    guard length < byLength.count else { return nil }
    return byLength[length].first { isName($0.name, at: token.start, in: line) }
  }

  private func isName(_ name: String, at start: Int, in line: Span<UInt8>) -> Bool {
    let name = name.utf8.span
    for i in name.indices where line[start + i] != name[i] { return false }
    return true
  }
}
