import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// `rpc.discover` against the rules of OpenRPC 1.2.6 (<https://spec.open-rpc.org/>), as far as the
/// document uses them.
@Suite(.leavesNothing)
struct OpenRPCTests {
  private let document: JSONObject
  private let methods: [JSONObject]

  /// The line of the document.
  private let line: String

  init() throws {
    let client = try Bench().connect()
    line = client.call(#"{"id":1,"method":"rpc.discover"}"#)
    guard case .object(let frame) = try JSONValue(parsing: line),
      case .object(let result)? = frame["result"]
    else { throw CancellationError() }
    document = result.resolved
    methods = try Self.objects(document["methods"])
  }

  private static func objects(_ value: JSONValue?) throws -> [JSONObject] {
    guard case .array(let elements)? = value else {
      Issue.record("no array: \(String(describing: value))")
      return []
    }
    return try elements.map { element in
      guard case .object(let object) = element else {
        Issue.record("no object: \(element)")
        throw CancellationError()
      }
      return object
    }
  }

  private func string(_ object: JSONObject, _ name: String) -> String? {
    if case .string(let text)? = object[name] { text } else { nil }
  }

  private func only(_ object: JSONObject, _ names: Set<String>) {
    #expect(Set(object.members.map(\.name)).isSubset(of: names))
  }

  @Test
  func `each service that describe lists has a document, also one without methods`() throws {
    let client = try WholeBench().bench.connect()
    guard case .object(let services)? = client.result(#"{"id":1,"method":"describe"}"#)?["services"]
    else {
      Issue.record("no services")
      return
    }
    var withoutMethods: [String] = []
    for service in services.members.map(\.name) {
      let document = client.result(#"{"id":1,"method":"rpc.discover","params":["\#(service)"]}"#)
      let methods = try Self.objects(document?.resolved["methods"])
      if methods.isEmpty { withoutMethods.append(service) }
    }
    #expect(withoutMethods.contains("daemon"))
  }

  @Test
  func `the document of one service has its methods only`() throws {
    let client = try Bench().connect()
    let result = client.result(#"{"id":1,"method":"rpc.discover","params":["cells"]}"#)
    let names = try Self.objects(result?.resolved["methods"]).compactMap { string($0, "name") }
    #expect(names.contains("cells.set"))
    #expect(names.allSatisfy { $0.hasPrefix("cells.") })
    #expect(
      client.error(#"{"id":1,"method":"rpc.discover","params":["cell"]}"#)?.data["did_you_mean"]
        == .string("cells"))
  }

  @Test
  func `the document has a version, an info object and no unknown members`() throws {
    only(document, ["openrpc", "info", "methods", "components"])
    let version = try #require(string(document, "openrpc"))
    #expect(version.wholeMatch(of: /1\.2\.[0-9]+/) != nil)
    guard case .object(let info)? = document["info"] else {
      Issue.record("no info")
      return
    }
    only(info, ["title", "version"])
    #expect(string(info, "title")?.isEmpty == false)
    #expect(string(info, "version")?.isEmpty == false)
  }

  @Test
  func `each method occurs once and has parameters and a result`() throws {
    let names = methods.compactMap { string($0, "name") }
    #expect(names.count == methods.count)
    #expect(Set(names).count == names.count)
    for method in methods {
      only(method, ["name", "summary", "params", "result", "errors"])
      guard case .object(let result)? = method["result"] else {
        Issue.record("no result")
        continue
      }
      only(result, ["name", "schema"])
      #expect(string(result, "name")?.isEmpty == false)
      try checkSchema(result["schema"])
    }
  }

  @Test
  func `parameters have unique names and schemas, and the required ones are first`() throws {
    for method in methods {
      let parameters = try Self.objects(method["params"])
      let names = parameters.compactMap { string($0, "name") }
      #expect(Set(names).count == parameters.count, "\(names)")
      let required = parameters.map { $0["required"] == .bool(true) }
      #expect(required == required.sorted { $0 && !$1 }, "\(method["name"] ?? .null) \(names)")
      for parameter in parameters {
        only(parameter, ["name", "description", "required", "schema"])
        try checkSchema(parameter["schema"])
      }
    }
  }

  private func schema(_ method: String, _ parameter: String) throws -> JSONValue? {
    let found = methods.first { string($0, "name") == method }
    return try Self.objects(found?["params"]).first { string($0, "name") == parameter }?["schema"]
  }

  @Test
  func `unknown members are accepted in hello only`() throws {
    for name in ["client", "limits"] {
      guard case .object(let schema)? = try schema("hello", name) else {
        Issue.record("no schema of \(name)")
        continue
      }
      #expect(schema["type"] == .string("object"))
      #expect(schema["properties"] != nil)
      #expect(schema["additionalProperties"] == nil)
    }
    guard case .object(let filter)? = try schema("subscribe", "filter") else {
      Issue.record("no schema of the filter")
      return
    }
    #expect(filter["additionalProperties"] == .bool(false))
  }

  @Test
  func `handles are numbers or strings`() throws {
    for (method, parameter) in [
      ("subscribe", "sub"), ("unsubscribe", "sub"), ("ack", "sub"), ("open", "view"),
      ("intent", "view"), ("close", "view"),
    ] {
      #expect(
        try schema(method, parameter)?.text.text
          == #"{"anyOf":[{"type":"integer"},{"type":"string"}]}"#, "\(method)")
    }
  }

  @Test
  func `the codes of a method's errors are unique`() throws {
    for method in methods {
      let errors = try Self.objects(method["errors"] ?? .array([]))
      for error in errors {
        only(error, ["code", "message", "data"])
        #expect(string(error, "message")?.isEmpty == false)
      }
      let codes = errors.compactMap { error -> Int64? in
        if case .number(let code)? = error["code"] { code.int64 } else { nil }
      }
      #expect(codes.count == errors.count)
      #expect(Set(codes).count == codes.count, "\(method["name"] ?? .null)")
    }
  }

  /// Checks a JSON Schema, as far as this protocol uses the language.
  private func checkSchema(_ value: JSONValue?) throws {
    guard case .object(let schema)? = value else {
      if case .bool? = value { return }
      Issue.record("no schema: \(String(describing: value))")
      return
    }
    only(
      schema,
      [
        "type", "items", "properties", "required", "additionalProperties", "anyOf", "enum",
        "minimum", "maximum",
      ])
    if case .array(let words)? = schema["enum"] {
      #expect(!words.isEmpty && schema["type"] == nil)
      return
    }
    if let several = schema["anyOf"] {
      for schema in try Self.objects(several) { try checkSchema(.object(schema)) }
      return
    }
    let types: Set = ["object", "array", "string", "number", "integer", "boolean", "null"]
    #expect(types.contains(string(schema, "type") ?? ""))
    if let items = schema["items"] { try checkSchema(items) }
    if let additional = schema["additionalProperties"] { try checkSchema(additional) }
    guard case .object(let properties)? = schema["properties"] else { return }
    for property in properties.members { try checkSchema(property.value) }
  }

  @Test
  func `every result has a type, and every method takes options`() throws {
    for method in methods {
      guard case .object(let result)? = method["result"],
        case .object(let schema)? = result["schema"]
      else {
        Issue.record("no result of \(method["name"] ?? .null)")
        continue
      }
      let forms =
        if case .array(let forms)? = schema["anyOf"] { try Self.objects(.array(forms)) } else {
          [schema]
        }
      for form in forms {
        #expect(form["additionalProperties"] == .bool(false), "\(method["name"] ?? .null)")
        #expect(form["properties"] != nil)
      }
      let options = try Self.objects(method["params"]).last
      #expect(options.flatMap { string($0, "name") } == "_meta")
      #expect(options?["required"] == .bool(false))
      try checkSchema(options?["schema"])
    }
  }

  @Test
  func `the document resolves its references, and fits into a line of the default length`() {
    #expect(line.contains(##""$ref":"#/components/"##))
    #expect(!JSONValue.object(document).text.text.contains(#""$ref""#))
  }
}
