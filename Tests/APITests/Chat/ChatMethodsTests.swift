import Configuration
import Connections
import EventSourcing
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Users and rooms without views, as scripts use them.
@Suite(.leavesNothing)
struct ChatMethodsTests {
  private let chat: ChatBench
  private var bench: Bench { chat.bench }

  init() throws { chat = try ChatBench() }

  @Test
  func `a connection has no user before a login and after a logout`() throws {
    let client = bench.connect()
    #expect(
      error(client, "chat.create", #"{"name":"lobby"}"#)?.data["reason"]
        == .string("not_logged_in"))
    // Requests in the same turn as the login, before it is durable, already run as kim.
    client.send(
      #"{"id":1,"method":"users.log_in","params":{"name":"kim"}}"#,
      #"{"id":2,"method":"chat.create","params":{"name":"lobby"}}"#,
      #"{"id":3,"method":"users.whoami"}"#)
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":1,"result":{"value":"kim","seq":1,"version":1}}"#,
        #"{"jsonrpc":"2.0","id":2,"result":{"value":1,"seq":2,"version":1}}"#,
        #"{"jsonrpc":"2.0","id":3,"result":{"value":{"user":"kim","names":["kim"]}}}"#,
      ])
    #expect(call(client, "users.log_out", "{}").contains(#""value":true"#))
    #expect(
      error(client, "chat.send", #"{"room":1,"text":"x"}"#)?.data["reason"]
        == .string("not_logged_in"))
    #expect(call(client, "users.whoami", "{}").contains(#"{"value":{"names":["kim"]}}"#))
  }

  @Test
  func `a script without a login can act under the names of its own user`() throws {
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    let script = bench.connect()
    #expect(
      call(script, "chat.send", #"{"room":"lobby","text":"backup done","as":"kim"}"#)
        .contains(#""value":1"#))
    let stranger = bench.connect(uid: 7)
    #expect(
      error(stranger, "chat.send", #"{"room":"lobby","text":"x","as":"kim"}"#)?.data["reason"]
        == .string("name_taken"))
    #expect(error(stranger, "users.log_in", #"{"name":"kim"}"#)?.name == .rejected)
    #expect(error(stranger, "users.log_in", "{}")?.name == .invalidParams)
    #expect(error(stranger, "chat.join", #"{"room":9,"as":"lee"}"#)?.name == .notFound)
  }

  @Test
  func `the parameter as is refused on a connection with a login`() throws {
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    let lee = chat.client("lee")
    _ = lee.open("chat", "c")
    let views = lee.connection.views.all.count
    for view in [
      #""binder":"room","args":{"room":"lobby","as":"kim"}"#,
      #""binder":"profile","args":{"as":"kim"}"#, #""binder":"friends","args":{"as":"kim"}"#,
    ] {
      #expect(error(lee, "open", "{\(view)}")?.data["reason"] == .string("logged_in"), "\(view)")
    }
    for (method, rest) in [
      ("chat.join", #""room":1,"#), ("chat.unread", ""), ("users.token", ""), ("users.edit", ""),
    ] {
      #expect(
        error(lee, method, #"{\#(rest)"as":"kim"}"#)?.data["reason"] == .string("logged_in"),
        "\(method)")
    }
    #expect(lee.connection.views.all.count == views, "what is open stays")
    #expect(call(lee, "users.whoami", "{}").contains(#""user":"lee""#))
    #expect(call(lee, "chat.join", #"{"room":1,"as":"lee"}"#).contains(#""value":true"#))
    #expect(lee.open("profile", "p", #"{"as":"lee"}"#).first?.contains(#""value":"lee""#) == true)
  }

  @Test
  func `a token is returned once, not stored, and logs its bearer in`() throws {
    let kim = chat.client("kim")
    #expect(
      error(kim, "users.token", #"{"_meta":{"cmd":"c-1"}}"#)?.data["path"]
        == .string("/_meta/cmd"))
    #expect(call(kim, "users.token", "{}").contains(#""value":"1.secret-1""#))
    let stranger = bench.connect(uid: 7)
    #expect(
      error(stranger, "users.log_in", #"{"token":"1.secret-2"}"#)?.data["reason"]
        == .string("bad_token"))
    #expect(call(stranger, "users.log_in", #"{"token":"1.secret-1"}"#).contains(#""value":"kim""#))
    #expect(call(stranger, "users.edit", #"{"about":"hi"}"#).contains(#""about":"hi""#))
    #expect(call(kim, "users.revoke", "{}").contains(#""value":1"#))
    #expect(error(stranger, "users.edit", #"{"about":"x"}"#)?.name == .rejected)
    for method in ["users.edit", "users.token"] {
      #expect(error(stranger, method, #"{"as":"kim"}"#)?.data["reason"] == .string("name_taken"))
    }
    var journal = ""
    bench.store.replay(after: 0) {
      journal += $0.records.map { $0.data + ($0.meta ?? "") }.joined()
    }
    #expect(!journal.contains(#""1.secret-1"#))
  }

  @Test
  func `a method without parameters accepts only an empty object`() throws {
    for method in ["users.whoami", "users.log_out"] {
      #expect(call(bench.connect(), method, "{}").contains(#""result""#))
      #expect(error(bench.connect(), method, #"{"x":1}"#)?.name == .invalidParams)
    }
  }

  @Test
  func `history before the first number is empty`() throws {
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    _ = call(kim, "chat.send", #"{"room":1,"text":"one"}"#)
    for number in [Int.min, -1, 0, 1] {
      #expect(
        call(kim, "chat.history", #"{"room":1,"before":\#(number)}"#).contains(#""value":[]"#))
    }
    #expect(call(kim, "chat.history", #"{"room":1,"before":\#(Int.max)}"#).contains("one"))
  }

  @Test
  func `atomic runs in the session of its caller, and refuses calls that return secrets`() throws {
    let kim = chat.client("kim")
    #expect(
      call(
        kim, "atomic",
        #"{"calls":[{"method":"chat.create","params":{"name":"lobby"}},"#
          + #"{"method":"chat.send","params":{"room":1,"text":"hello"}}]}"#
      )
      .contains(#""values":[1,1]"#))
    #expect(
      error(kim, "atomic", #"{"calls":[{"method":"users.token"}]}"#)?.name == .invalidParams)
  }

  @Test
  func `rooms and messages are sources, history is paged, unread is counted`() throws {
    let (kim, lee) = (chat.client("kim"), chat.client("lee", uid: 1001))
    chat.makeRoom("lobby", by: kim)
    _ = call(lee, "chat.join", #"{"room":"lobby"}"#)
    _ = call(lee, "subscribe", #"{"source":"chat/rooms/1/messages","sub":"m"}"#)
    _ = call(kim, "chat.send", #"{"room":1,"text":"one"}"#)
    #expect(
      lee.settle() == [
        #"{"jsonrpc":"2.0","method":"next","params":{"sub":"m","seq":5,"value":"#
          + #"[{"id":1,"author":"kim","text":"one","time":1767323045000005,"edited":false,"#
          + #""removed":false}]}}"#
      ])
    _ = call(kim, "chat.edit", #"{"room":1,"id":1,"text":"uno"}"#)
    _ = lee.settle()
    #expect(
      call(lee, "chat.history", #"{"room":1}"#).contains(
        #""author":"kim","text":"uno","time":1767323045000005,"edited":true"#))
    #expect(call(lee, "chat.history", #"{"room":1,"before":1}"#).contains(#""value":[]"#))
    #expect(
      call(lee, "chat.unread", "{}").contains(#"[{"id":1,"name":"lobby","unread":1}]"#))
    #expect(call(lee, "chat.read", #"{"room":1}"#).contains(#""value":0"#))
    #expect(call(lee, "get", #"["presence/online"]"#).contains(#"["kim","lee"]"#))
    #expect(
      error(lee, "chat.remove_message", #"{"room":1,"id":1}"#)?.data["reason"]
        == .string("not_author"))
  }

  @Test
  func `no method reveals an unreadable room`() throws {
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    _ = call(kim, "chat.send", #"{"room":1,"text":"secret"}"#)
    let everything = Rules(allow: [Rule(try #require(Pattern("**")))])
    let role = Role(name: "deaf", methods: everything, read: Rules(), write: Rules())
    let deaf = bench.connect(as: role)
    #expect(error(deaf, "chat.history", #"{"room":1}"#)?.name == .notFound)
    #expect(call(deaf, "chat.unread", #"{"as":"kim"}"#).contains(#""value":[]"#))
    #expect(error(deaf, "chat.send", #"{"room":1,"text":"x","as":"kim"}"#)?.name == .notFound)
    #expect(error(deaf, "open", #"{"binder":"room","args":{"room":1}}"#)?.name == .notFound)
  }

  @Test
  func `a hidden room looks like a missing one`() throws {
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    func rules(_ patterns: String...) -> Rules {
      Rules(allow: patterns.compactMap { Pattern($0).map { Rule($0) } })
    }
    let role = Role(
      name: "deaf", methods: rules("**"), read: rules("cells/**"), write: rules("chat/read/*"))
    let deaf = bench.connect(as: role)
    let last = bench.host.last
    for (method, rest) in [
      ("join", ""), ("leave", ""), ("rename", #","name":"x""#), ("topic", #","topic":"x""#),
      ("send", #","text":"x""#), ("edit", #","id":1,"text":"x""#), ("remove_message", #","id":1"#),
      ("read", ""),
    ] {
      func told(_ room: String) -> WireError? {
        error(deaf, "chat.\(method)", #"{"room":\#(room)\#(rest),"as":"kim"}"#)
      }
      #expect(told(#""lobby""#)?.message == "there is no room 'lobby'", "\(method)")
      #expect(told("1")?.message == "there is no room '1'", "\(method)")
      #expect(told("2")?.message == "there is no room '2'", "\(method)")
    }
    #expect(
      error(deaf, "chat.history", #"{"room":"lobby"}"#)?.message == "there is no room 'lobby'")
    #expect(
      error(deaf, "chat.history", #"{"room":"none"}"#)?.message == "there is no room 'none'")
    for name in ["lobby", "new"] {
      #expect(
        error(deaf, "chat.create", #"{"name":"\#(name)","as":"kim"}"#)?.data["id"]
          == .string("chat/rooms/*"), "whether the name is free or not")
    }
    #expect(bench.host.last == last)
    let reader = bench.connect(
      as: Role(name: "r", methods: rules("**"), read: rules("chat/rooms/*"), write: rules()))
    #expect(
      error(reader, "chat.leave", #"{"room":"lobby","as":"kim"}"#)?.data["need"]
        == .string("write chat/rooms/1"))
    #expect(
      error(reader, "chat.history", #"{"room":"lobby"}"#)?.data["id"]
        == .string("chat/rooms/1/messages"))
  }

  @Test
  func `presence is watched, and ends with the connection`() throws {
    let watcher = bench.connect()
    _ = call(watcher, "subscribe", #"{"source":"presence/online","sub":"p"}"#)
    let kim = chat.client("kim")
    #expect(watcher.settle().last?.contains(#""value":["kim"]"#) == true)
    kim.connection.end()
    #expect(watcher.settle().last?.contains(#""value":[]"#) == true)
  }

  @Test(arguments: ["users", "chat", "presence"])
  func `every feature is described`(service: String) throws {
    let client = bench.connect()
    let answer = call(client, "describe", #"["\#(service)"]"#)
    #expect(!answer.contains(#""doc":"""#))
    guard case .object(let object)? = try? JSONValue(parsing: answer),
      case .object(let result)? = object["result"], case .object(let methods)? = result["methods"]
    else {
      Issue.record("\(answer)")
      return
    }
    for method in methods.members {
      guard case .object(let method) = method.value, case .array(let params)? = method["params"]
      else { continue }
      for case .object(let parameter) in params { #expect(parameter["doc"] != nil, "\(method)") }
    }
  }

  // MARK: Hidden from clients

  private func rules(_ patterns: String..., but denied: String...) -> Rules {
    Rules(
      allow: patterns.compactMap { Pattern($0).map { Rule($0) } },
      deny: denied.compactMap { Pattern($0).map { Rule($0) } })
  }

  @Test
  func `removing a hidden room does not reveal it`() throws {
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    let deaf = bench.connect(
      as: Role(
        name: "deaf", methods: rules("**"), read: rules("cells/**"), write: rules("users/*")))
    for room in [#""lobby""#, "1", "2"] {
      let told = error(deaf, "chat.remove", #"{"room":\#(room),"as":"kim"}"#)?.message
      #expect(told == "there is no room '\(room.replacing("\"", with: ""))'")
    }
  }

  @Test
  func `a hidden user looks like a missing one`() throws {
    _ = chat.client("hida", uid: 1)
    _ = chat.client("kim", uid: 7)
    let role = Role(
      name: "deaf", methods: rules("**"), read: rules("users/kim"), write: rules("users/kim"))
    let deaf = bench.connect(uid: 7, as: role)
    for (method, params) in [
      ("users.log_in", #"{"name":"NAME"}"#), ("users.add_friend", #"{"name":"NAME","as":"kim"}"#),
      ("users.remove_friend", #"{"name":"NAME","as":"kim"}"#),
      ("users.edit", #"{"about":"x","as":"NAME"}"#), ("users.token", #"{"as":"NAME"}"#),
      ("chat.unread", #"{"as":"NAME"}"#), ("open", #"{"binder":"profile","args":{"as":"NAME"}}"#),
    ] {
      func told(_ name: String) -> String {
        call(deaf, method, params.replacing("NAME", with: name)).replacing("hidb", with: "hida")
      }
      #expect(told("hida") == told("hidb"), "\(method)")
    }
    #expect(
      bench.connect().call(#"{"id":1,"method":"get","params":["users/hidb"]}"#).contains(
        "not_found"))
  }

  // MARK: Slow secrets

  @Test
  func `a token is verified off the event loop, and later requests wait`() throws {
    let kim = chat.client("kim", uid: 1)
    let good = try token(of: kim)
    let (guest, other) = (bench.connect(uid: 2), bench.connect(uid: 3))
    chat.secrets.isSlow = true
    guest.send(
      #"{"id":1,"method":"users.log_in","params":{"token":"\#(good)"}}"#,
      #"{"id":2,"method":"users.whoami"}"#)
    #expect(guest.settle() == [])
    #expect(other.call(#"{"id":1,"method":"users.whoami"}"#).contains(#""id":1,"result""#))
    chat.secrets.work()
    let answers = guest.settle()
    #expect(
      answers.map { $0.contains(#""value":"kim""#) || $0.contains(#""user":"kim""#) } == [
        true, true,
      ])

    other.send(
      #"[{"id":1,"method":"users.log_in","params":{"token":"1.secret-9"}},{"id":2,"method":"ping"}]"#
    )
    #expect(other.settle() == [])
    chat.secrets.work()
    let batch = other.settle().first ?? ""
    #expect(batch.contains("bad_token") && batch.contains(#""id":2,"result""#))
    #expect(
      error(other, "users.log_in", #"{"token":"1.x"}"#)?.data["reason"] == .string("bad_token"),
      "what has not the form of a token is refused at once")
    #expect(
      error(other, "users.log_in", #"{"token":"9.secret-1"}"#)?.data["reason"]
        == .string("bad_token"))
  }

  @Test
  func `a token is created off the event loop, by a call and in a view`() throws {
    let kim = chat.client("kim")
    chat.secrets.isSlow = true
    let last = bench.host.last
    kim.send(#"{"id":1,"method":"users.token"}"#)
    #expect(kim.settle() == [])
    #expect(bench.host.last == last)
    chat.secrets.work()
    #expect(kim.settle().first?.contains(#""value":"1.secret-1""#) == true)

    _ = kim.open("profile", "p")
    let opened = kim.ask("p", "token").joined()
    let view = try #require(opened.firstMatch(of: /"opened":"?([0-9.a-z]+)/)?.output.1)
    #expect(kim.ask(String(view), "make") == [])
    chat.secrets.work()
    #expect(kim.settle().joined().contains("2.secret-2"))
  }

  @Test
  func `a client that leaves during the token check leaks nothing`() throws {
    let kim = chat.client("kim", uid: 1)
    let good = try token(of: kim)
    let guest = bench.connect(uid: 2)
    chat.secrets.isSlow = true
    guest.send(#"{"method":"users.log_in","params":{"token":"\#(good)"}}"#)
    guest.connection.end()
    chat.secrets.work()
    #expect(kim.call(#"{"id":1,"method":"ping"}"#).contains("result"))
  }
}
