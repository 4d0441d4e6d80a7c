import JSON
import TestSupport
import Testing

/// Every word of the protocol is in snake case.
struct WordTests {
  /// The words of OpenRPC and JSON Schema in the document of `rpc.discover`.
  private static let foreign: Set<String> = [
    "additionalProperties", "anyOf", "contentDescriptors", "externalDocs", "maxItems", "maxLength",
    "minItems", "minLength", "oneOf", "paramStructure", "readOnly", "tagGroups",
  ]

  /// The members whose values are texts or data and no words.
  private static let texts: Set<String> = [
    "$ref", "$schema", "about", "description", "doc", "message", "path", "pattern", "summary",
    "time", "title", "version",
  ]

  /// Returns the words with an upper-case letter or a hyphen in an answer.
  ///
  /// A text with spaces is no word.
  private static func faults(in value: JSONValue) -> [String] {
    switch value {
    case .object(let object):
      return object.members.flatMap { member in
        let isFault = !foreign.contains(member.name) && !isWord(member.name)
        let below = texts.contains(member.name) ? [] : faults(in: member.value)
        return (isFault ? [member.name] : []) + below
      }
    case .array(let elements): return elements.flatMap(faults)
    case .string(let text):
      return isWord(text) || text.utf8.contains(UInt8(ascii: " ")) ? [] : [text]
    default: return []
    }
  }

  private static func isWord(_ text: String) -> Bool {
    !text.utf8.contains { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 || $0 == UInt8(ascii: "-") }
  }

  private let daemon: DaemonProcess
  private let client: TestSocket

  init() throws {
    daemon = try DaemonProcess()
    client = try TestSocket(daemon.socket)
    _ = try client.call(
      #"{"id":0,"method":"hello","params":{"protocol":[1],"limits":{"line":16777216}}}"#)
  }

  private func check(_ method: String, _ params: String = "{}") throws -> JSONObject {
    let request = #"{"id":1,"method":"\#(method)","params":\#(params)}"#
    let result = try client.result(request)
    #expect(result["code"] == nil, "\(request)")
    let faults = Self.faults(in: .object(result))
    #expect(faults.isEmpty, "\(method) \(params): \(Set(faults).sorted())")
    return result
  }

  @Test
  func `methods, parameters, results, sources, events and reasons are in snake case`() throws {
    _ = try check("rpc.discover")
    guard case .object(let services)? = try check("describe")["services"] else {
      Issue.record("no services")
      return
    }
    #expect(services.members.count > 10)
    for service in services.members { _ = try check("describe", #"["\#(service.name)"]"#) }
    for method in ["stats", "ping", "bindings.list"] { _ = try check(method) }
  }

  /// The views, with arguments and the intents that open further views.
  private static let views: [(view: String, args: String, intents: [(String, String)])] = [
    ("cell", #"{"name":"lamp"}"#, []), ("people", "{}", []), ("person", #"{"id":1}"#, []),
    ("feeds", "{}", []), ("feed", #"{"id":"a"}"#, []), ("search", "{}", []), ("system", "{}", []),
    ("threads", "{}", []), ("thread", #"{"id":1}"#, []), ("todo", "{}", []),
    ("friends", "{}", [("show", #"{"id":"lee"}"#)]),
    ("profile", "{}", [("edit_profile", "{}"), ("token", "{}"), ("friends", "{}")]),
    ("room", #"{"room":1}"#, [("describe", "{}")]), ("chat", "{}", []),
  ]

  @Test
  func `the properties and intents of all views are in snake case`() throws {
    _ = try check("open", #"{"binder":"chat","view":"login"}"#)
    try next(#""method":"opened""#)
    _ = try check("close", #"{"view":"login"}"#)
    for (method, params) in [
      ("cells.set", #"["lamp",{}]"#), ("people.create", #"["kim"]"#),
      ("feeds.subscribe", #"{"url":"http://127.0.0.1:1/feed","id":"a"}"#),
      ("users.log_in", #"["lee"]"#), ("users.log_in", #"["kim"]"#), ("threads.start", #"["tea"]"#),
      ("threads.post", #"[1,"green"]"#), ("chat.create", #"["lobby"]"#),
      ("chat.send", #"[1,"hi"]"#),
      ("users.add_friend", #"["lee"]"#),
    ] { _ = try check(method, params) }
    guard case .array(let known)? = try check("describe")["views"] else {
      Issue.record("no views")
      return
    }
    #expect(Set(known.compactMap(\.name)) == Set(Self.views.map(\.view)))
    for (view, args, intents) in Self.views {
      let opener = try TestSocket(daemon.socket)
      _ = try opener.call(#"{"id":1,"method":"users.log_in","params":["kim"]}"#)
      try opener.send(
        #"{"id":2,"method":"open","params":{"binder":"\#(view)","view":"v","args":\#(args)}}"#)
      for (i, intent) in intents.enumerated() {
        let params = #"{"view":"v","name":"\#(intent.0)","args":\#(intent.1)}"#
        try opener.send(#"{"id":\#(i + 3),"method":"intent","params":\#(params)}"#)
      }
      try opener.send(#"{"id":99,"method":"sync"}"#)
      var opened = 0
      while let line = try opener.line(), !line.contains(#""id":99,"#) {
        guard line.contains(#""intents":"#) else {
          #expect(!line.contains(#""error":{"code":1001"#), "\(line)")
          continue
        }
        opened += 1
        let faults = Self.faults(in: try JSONValue(parsing: line))
        #expect(faults.isEmpty, "\(view): \(Set(faults).sorted())")
      }
      #expect(opened > intents.count, "\(view)")
      opener.close()
    }
  }

  private func next(_ part: String) throws {
    let line = try client.line()
    #expect(line?.contains(part) == true, "\(line ?? "the end")")
  }
}

extension JSONValue {
  fileprivate var name: String? {
    guard case .object(let object) = self, case .string(let name)? = object["name"] else {
      return nil
    }
    return name
  }
}
