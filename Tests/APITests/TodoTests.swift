import API
import Apps
import Configuration
import Connections
import Model
import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct TodoTests {
  private static func bench() throws -> Bench {
    try Bench { bindTodo($0, to: TodoService(in: $1.host.library)) }
  }

  @Test
  func `methods add, change and remove, and say what is wrong`() throws {
    let bench = try Self.bench()
    let client = bench.connect()
    _ = client.call(#"{"id":1,"method":"subscribe","params":{"source":"todo/*","sub":"t"}}"#)
    client.send(#"{"id":2,"method":"todo.add","params":["milk"]}"#)
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":2,"result":{"value":{"id":1,"title":"milk","done":false},"#
          + #""seq":1,"version":1}}"#,
        #"{"jsonrpc":"2.0","method":"next","params":{"sub":"t","seq":1,"source":"todo/1","#
          + #""value":{"id":1,"title":"milk","done":false}}}"#,
      ])
    for (method, params, value) in [
      ("finish", "[1]", #"{"id":1,"title":"milk","done":true}"#),
      ("rename", #"[1,"tea"]"#, #"{"id":1,"title":"tea","done":true}"#),
      ("reopen", "[1]", #"{"id":1,"title":"tea","done":false}"#),
      ("list", "[]", #"[{"id":1,"title":"tea","done":false}]"#),
      ("clear_done", "[]", "0"),
      ("remove", "[1]", #"{"id":1,"title":"tea","done":false}"#),
    ] {
      let answer = client.call(#"{"id":3,"method":"todo.\#(method)","params":\#(params)}"#)
      #expect(answer.contains(#""value":\#(value)"#), "\(method): \(answer)")
    }
    let unknown = client.error(#"{"id":4,"method":"todo.finish","params":[1]}"#)
    #expect(unknown?.name == .notFound)
    #expect(unknown?.message == "there is nothing to do with the number 1")
    #expect(
      client.error(#"{"id":5,"method":"todo.add","params":[""]}"#)?.data["path"]
        == .string("/title"))
  }

  @Test
  func `its view sends each change as a difference, and asks before it removes`() throws {
    let client = try Self.bench().connect()
    let opened = client.call(#"{"id":1,"method":"open","params":{"binder":"todo","view":"t"}}"#)
    #expect(opened.contains(#""props":{"todo":{"kind":"list","value":[]}}"#))
    for intent in [
      #""toggle":{"params":{"id":"integer"},"main":true}"#,
      #""add":{"params":{"title":"string"}}"#,
      #""rename":{"params":{"id":"integer","title":"string"}}"#,
      #""remove":{"params":{"id":"integer"},"destructive":true}"#,
      #""clear_done":{"params":{},"destructive":true}"#,
    ] { #expect(opened.contains(intent), "\(intent)") }
    func ask(_ name: String, _ args: String, _ changes: String) {
      client.send(
        #"{"id":2,"method":"intent","params":{"view":"t","name":"\#(name)","args":\#(args)}}"#)
      let last = client.settle().last ?? ""
      #expect(last.contains(#""props":{"todo":{"changes":[\#(changes)]}}"#), "\(name): \(last)")
    }
    ask(
      "add", #"{"title":"milk"}"#,
      #"{"op":"insert","at":0,"value":{"id":1,"title":"milk","done":false}}"#)
    ask(
      "add", #"{"title":"tea"}"#,
      #"{"op":"insert","at":1,"value":{"id":2,"title":"tea","done":false}}"#)
    ask("toggle", #"{"id":2}"#, #"{"op":"merge","at":1,"value":{"done":true}}"#)
    ask(
      "rename", #"{"id":1,"title":"bread"}"#, #"{"op":"merge","at":0,"value":{"title":"bread"}}"#)
    ask("clear_done", "{}", #"{"op":"remove","at":1}"#)
    ask("remove", #"{"id":1}"#, #"{"op":"remove","at":0}"#)
  }

  /// Parses a role from the members of a configuration.
  private static func role(_ members: String) throws -> Role {
    let text = #"{"roles":[{"name":"family","users":["*"],\#(members)}]}"#
    let nobody = Accounts(user: { _ in nil }, group: { _ in nil })
    let configuration = try Configuration(parsing: Array(text.utf8), file: "f", nobody)
    return try #require(
      configuration.roles.entry(for: Peer(uid: 1, groups: []), owner: 500)?.role)
  }

  @Test
  func `a role that may read all of it sees the view, and changes only what it may write`() throws {
    let bench = try Self.bench()
    let owner = bench.connect()
    for title in ["milk", "tea"] {
      _ = owner.call(#"{"id":1,"method":"todo.add","params":["\#(title)"]}"#)
    }
    let open = #"{"id":1,"method":"open","params":{"binder":"todo","view":"t"}}"#
    let one = bench.connect(uid: 7, as: try Self.role(#""methods":["**"],"read":["todo/1"]"#))
    #expect(one.error(open)?.name == .notFound)
    #expect(
      one.call(#"{"id":2,"method":"todo.list"}"#).contains(
        #""value":[{"id":1,"title":"milk","done":false}]"#))
    let family = bench.connect(
      uid: 7, as: try Self.role(#""methods":["**"],"read":["todo/**"],"write":["todo/1"]"#))
    #expect(family.call(open).contains(#""title":"tea""#))
    func name(_ intent: String, _ args: String) -> ErrorName? {
      family.error(
        #"{"id":3,"method":"intent","params":{"view":"t","name":"\#(intent)","args":\#(args)}}"#)?
        .name
    }
    #expect(name("toggle", #"{"id":1}"#) == nil)
    #expect(name("toggle", #"{"id":2}"#) == .permissionDenied)
    #expect(name("add", #"{"title":"bread"}"#) == .permissionDenied)
    // The answer for a row that does not exist is the same.
    for request in [
      #""todo.clear_done""#, #""todo.finish","params":[2]"#, #""todo.finish","params":[9]"#,
    ] {
      let answer = family.error(#"{"id":4,"method":\#(request)}"#)
      #expect(answer?.name == .permissionDenied, "\(request)")
    }
    let wrong = family.error(#"{"id":4,"method":"todo.finish","params":["two"]}"#)
    #expect(wrong?.name == .invalidParams)
    #expect(wrong?.data["got"] == .string("string"))
    let items = owner.call(#"{"id":5,"method":"todo.list"}"#)
    #expect(items.contains(#""title":"milk","done":true},{"id":2,"title":"tea","done":false}]"#))
  }
}
