public import JSON
internal import Synchronization

/// A service that a program provides, with its methods.
///
/// ```swift
/// let stock = Service("stock", doc: "What is in the store.")
///   .method("add", "Adds things; returns how many there are.") { (call, add: Add) in
///     let count = try await call.get(add.thing, or: 0) + (add.n ?? 1)
///     try call.set(add.thing, to: count)
///     return count
///   }
/// try await client.provide(stock).wait()
/// ```
///
/// Here `Add` is a `Decodable` structure with the members `thing` and `n`.
/// The daemon checks parameters and results by the types. Calls run one after the other, so a method may
/// read a value, decide, and set it; with more ``jobs`` so many run at a time.
public struct Service: Sendable {
  /// A method, without its types.
  struct Method: Sendable {
    let doc: String

    /// JSON Schemas.
    let params: JSONObject
    let result: JSONObject?
    let isQueued: Bool
    let run: @Sendable (ServiceCall) async throws -> JSONValue
  }

  /// The name of the service: 1 to 32 of `[a-z0-9_]`, a letter first.
  public let name: String

  /// A line about the service.
  public let doc: String

  /// A line about each source below `services/NAME/`, by name.
  public let sources: [String: String]

  /// The texts of its views by name, `SERVICE` or `SERVICE.NAME`; see binder.view(5).
  public let views: [String: String]

  /// The most calls that run at a time.
  public let jobs: Int

  /// The time in which a call is answered.
  public let timeout: Duration

  /// The deliveries of a queued call after which it is parked.
  public let maxDeliveries: Int

  private(set) var methods: [String: Method] = [:]

  /// Creates a service without methods.
  public init(
    _ name: String, doc: String = "", sources: [String: String] = [:],
    views: [String: String] = [:], jobs: Int = 1,
    timeout: Duration = .seconds(30), maxDeliveries: Int = 5
  ) {
    (self.name, self.doc, self.sources, self.jobs) = (name, doc, sources, max(1, jobs))
    (self.views, self.timeout, self.maxDeliveries) = (views, timeout, maxDeliveries)
  }

  /// Returns the service with another method.
  ///
  /// If the body throws a ``Refusal``, the caller gets its message; of another error the description.
  ///
  /// - Parameters:
  ///   - name: The name: 1 to 32 of `[A-Za-z0-9_]`.
  ///   - doc: A line about the method.
  ///   - docs: Lines about its parameters, by name.
  ///   - isQueued: Whether a call waits in the journal until it is answered, also while the program is
  ///     away.
  ///   - body: Gets the call, and the parameters: a type with a member for each.
  public func method<Params: Decodable & Sendable, Result: Codable & Sendable>(
    _ name: String, _ doc: String = "", params docs: [String: String] = [:],
    isQueued: Bool = false, body: @escaping @Sendable (ServiceCall, Params) async throws -> Result
  ) -> Service {
    adding(name, doc, docs, Params.self, isQueued ? nil : Shape(of: Result.self), isQueued) {
      call, params in try JSONEncoder().text(try await body(call, params)).value
    }
  }

  /// Returns the service with another method, which returns nothing.
  ///
  /// See ``method(_:_:params:isQueued:body:)``.
  public func method<Params: Decodable & Sendable>(
    _ name: String, _ doc: String = "", params docs: [String: String] = [:],
    isQueued: Bool = false, body: @escaping @Sendable (ServiceCall, Params) async throws -> Void
  ) -> Service {
    adding(name, doc, docs, Params.self, nil, isQueued) { call, params in
      try await body(call, params)
      return .null
    }
  }

  private func adding<Params: Decodable & Sendable>(
    _ name: String, _ doc: String, _ docs: [String: String], _ params: Params.Type,
    _ result: Shape?, _ isQueued: Bool,
    _ run: @escaping @Sendable (ServiceCall, Params) async throws -> JSONValue
  ) -> Service {
    var service = self
    service.methods[name] = Method(
      doc: doc, params: Shape(of: params).checked.adding(docs), result: result?.checked,
      isQueued: isQueued
    ) { call in
      try await run(call, try JSONValue.object(call.params).text.decoded(as: Params.self))
    }
    return service
  }

  /// The time to answer a call, in milliseconds.
  var milliseconds: Int64 {
    timeout.components.seconds * 1000 + timeout.components.attoseconds / 1_000_000_000_000_000
  }

  /// The parameters of `provide`.
  var declaration: JSONObject {
    var methods = JSONObject()
    for (name, method) in self.methods.sorted(by: { $0.key < $1.key }) {
      var declared: JSONObject = ["doc": .string(method.doc)]
      declared["params"] = .object(method.params)
      declared["result"] = method.result.map { .object($0) }
      if method.isQueued { declared["delivery"] = .string("queued") }
      methods[name] = .object(declared)
    }
    var (docs, texts) = (JSONObject(), JSONObject())
    for (name, doc) in sources.sorted(by: { $0.key < $1.key }) { docs[name] = .string(doc) }
    for (name, text) in views.sorted(by: { $0.key < $1.key }) { texts[name] = .string(text) }
    return [
      "service": .string(name), "doc": .string(doc), "methods": .object(methods),
      "sources": .object(docs), "views": .object(texts),
      "call_ms": .number(JSONNumber(milliseconds)),
      "max_deliveries": .number(JSONNumber(maxDeliveries)),
    ]
  }
}

/// The error of a method that refuses: the caller gets the message.
public struct Refusal: Error, CustomStringConvertible {
  /// The message for the caller.
  public let description: String

  /// Creates a refusal with a message.
  public init(_ message: String) { description = message }
}

/// A call of a method of a ``Service``.
///
/// The values of a service are the sources `services/SERVICE/NAME`. What a call sets is recorded in the
/// same commit as its answer; if the method throws, nothing is.
public final class ServiceCall: Sendable {
  fileprivate struct Changes {
    var events: [(name: String, value: JSONValue?)] = []
    var live: [(name: String, value: JSONValue)] = []
  }

  /// The parameters by name.
  public let params: JSONObject

  /// The user of the caller.
  public let uid: UInt32

  /// The process of the caller.
  public let pid: Int32

  private let service: String
  private let read: @Sendable (_ source: String) async throws -> JSONValue?
  private let changes = Mutex(Changes())

  init(
    _ service: String, _ params: JSONObject, uid: UInt32, pid: Int32,
    _ read: @escaping @Sendable (_ source: String) async throws -> JSONValue?
  ) {
    (self.service, self.params, self.uid, self.pid, self.read) = (service, params, uid, pid, read)
  }

  /// Returns a value as this call and those before have set it; `nil` if there is none.
  public func get(_ name: String) async throws -> JSONValue? {
    let own = changes.withLock { changes in changes.events.first { $0.name == name } }
    if let own { return own.value }
    return try await read("services/\(service)/\(name)")
  }

  /// Returns a decoded value as this call and those before have set it.
  ///
  /// - Parameter other: The value if there is none.
  public func get<Value: Decodable>(_ name: String, or other: Value) async throws -> Value {
    guard let value = try await get(name), value != .null else { return other }
    return try value.text.decoded()
  }

  /// Sets a value in the journal.
  ///
  /// - Throws: The error of a value that is not JSON.
  public func set(_ name: String, to value: some Encodable) throws {
    let value = try JSONEncoder().text(value).value
    changes.withLock { $0.put(name, value) }
  }

  /// Removes a value.
  public func remove(_ name: String) {
    changes.withLock { $0.put(name, nil) }
  }

  /// Shows a value as `live/SERVICE/NAME`, which the journal does not keep.
  ///
  /// - Throws: The error of a value that is not JSON.
  public func publish(_ name: String, _ value: some Encodable) throws {
    let value = try JSONEncoder().text(value).value
    changes.withLock { $0.live.append((name, value)) }
  }

  /// Returns the members of the reply.
  func reply(_ value: JSONValue) -> JSONObject {
    changes.withLock { changes in
      var reply: JSONObject = ["value": value]
      let events = changes.events.map { entry($0.name, $0.value) }
      let live = changes.live.map { entry($0.name, $0.value) }
      if !events.isEmpty { reply["events"] = .array(events) }
      if !live.isEmpty { reply["publish"] = .array(live) }
      return reply
    }
  }

  private func entry(_ name: String, _ value: JSONValue?) -> JSONValue {
    var entry: JSONObject = ["source": .string("\(service)/\(name)")]
    entry["value"] = value
    return .object(entry)
  }
}

extension ServiceCall.Changes {
  fileprivate mutating func put(_ name: String, _ value: JSONValue?) {
    if let i = events.firstIndex(where: { $0.name == name }) {
      events[i].value = value
    } else {
      events.append((name, value))
    }
  }
}

extension Shape {
  /// The JSON Schema of what the daemon checks of it.
  fileprivate var checked: JSONObject {
    switch self {
    case .any: return [:]
    case .bool, .integer, .number, .string, .map: return ["type": .string(name)]
    case .natural: return ["type": .string(name), "minimum": .number(JSONNumber(0))]
    case .words(let words): return ["enum": .array(words.map { .string($0) })]
    case .text: return ["type": .string(name)]
    case .array(let element):
      return ["type": .string(name), "items": .object(element.checked)]
    case .either(let shapes):
      let names = shapes.map(\.name)
      guard shapes.allSatisfy({ $0.checked.members.count == 1 && $0.checked["type"] != nil })
      else { return [:] }
      return ["type": .array(names.map { .string($0) })]
    case .object(let members):
      var properties = JSONObject()
      for member in members { properties[member.name] = .object(member.shape.checked) }
      let required = members.filter { !$0.isOptional }.map { JSONValue.string($0.name) }
      return [
        "type": .string(name), "properties": .object(properties), "required": .array(required),
        "additionalProperties": .bool(false),
      ]
    }
  }
}

extension JSONObject {
  /// Returns the schema of an object with lines about its members.
  fileprivate func adding(_ docs: [String: String]) -> JSONObject {
    guard case .object(var properties)? = self["properties"] else { return self }
    for (name, doc) in docs {
      guard case .object(var property)? = properties[name] else { continue }
      property["description"] = .string(doc)
      properties[name] = .object(property)
    }
    var schema = self
    schema["properties"] = .object(properties)
    return schema
  }
}
