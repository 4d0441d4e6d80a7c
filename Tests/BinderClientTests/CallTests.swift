import BinderClient
import JSON
import Testing
import Wire

struct CallTests {
  @Test
  func `a call says hello first and returns the result`() throws {
    let daemon = try ScriptedDaemon([[ScriptedDaemon.hello, .answer(#"{"value":3,"seq":8}"#)]])
    let client = BinderClient(socket: daemon.path, name: "test", version: "1")
    let result = try client.call("cells.add", ["name": .string("n")])
    #expect(result.text == #"{"value":3,"seq":8}"#)
    #expect(try client.connected().greeting.epoch == "e")
    let requests = try daemon.requests()
    #expect(requests[0].map { $0["method"] } == [.string("hello"), .string("cells.add")])
    #expect(requests[0][1]["params"] == .object(["name": .string("n")]))
  }

  @Test
  func `a result is decoded as the type that is asked for`() throws {
    struct Sum: Decodable {
      let value: Int
    }
    let daemon = try ScriptedDaemon([[ScriptedDaemon.hello, .answer(#"{"value":3,"seq":8}"#)]])
    let client = BinderClient(socket: daemon.path, name: "test")
    #expect(try client.call("cells.add", as: Sum.self).value == 3)
  }

  @Test
  func `an error of the daemon is thrown with its data`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello,
        .refuse(
          #"{"code":1001,"message":"no source 'a'","data":{"name":"not_found","retry":false,"id":"a"}}"#
        ),
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let error = #expect(throws: ClientError.self) { try client.call("get") }
    guard case .refused(let refusal) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(refusal.name == .notFound)
    #expect(refusal.data["id"] == .string("a"))
  }

  @Test
  func `an error of a newer daemon is told as it is`() throws {
    let text = #"{"code":4711,"message":"new"}"#
    let daemon = try ScriptedDaemon([[ScriptedDaemon.hello, .refuse(text)]])
    let client = BinderClient(socket: daemon.path, name: "test")
    #expect(throws: ClientError.unknownError(try JSONText(parsing: text))) {
      try client.call("get")
    }
  }

  @Test
  func `a lost call is not repeated, the next one connects anew`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .take,
        .send(#"{"jsonrpc":"2.0","method":"closing","params":{"reason":"restart"}}"#),
      ],
      [ScriptedDaemon.hello, .answer(#"{"value":2}"#)],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    #expect(throws: ClientError.lost(reason: "restart")) { try client.call("a") }
    #expect(try client.call("b").text == #"{"value":2}"#)
    let requests = try daemon.requests()
    #expect(requests[0].map { $0["method"] } == [.string("hello"), .string("a")])
    #expect(requests[1].map { $0["method"] } == [.string("hello"), .string("b")])
  }

  @Test
  func `a call ends at its deadline, and its late answer is not taken for another`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .take, .take,
        .send(#"{"jsonrpc":"2.0","id":2,"result":{"value":"late"}}"#),
        .send(#"{"jsonrpc":"2.0","id":3,"result":{"value":"mine"}}"#),
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    #expect(throws: ClientError.timedOut) {
      try client.call("a", until: Deadline(inMilliseconds: 20))
    }
    #expect(try client.call("b").text == #"{"value":"mine"}"#)
  }

  @Test
  func `nonsense from the other end is named`() throws {
    let daemon = try ScriptedDaemon([[.take, .send("HTTP/1.1 400 Bad Request")]])
    let client = BinderClient(socket: daemon.path, name: "test")
    #expect(throws: ClientError.notUnderstood("a line that is not JSON")) {
      try client.call("ping")
    }
  }

  @Test
  func `where nobody listens, every place that was tried is named`() throws {
    let search = SocketSearch(option: nil) { $0 == "XDG_RUNTIME_DIR" ? "/nowhere" : nil }
    #expect(
      search.places.map(\.path) == ["/nowhere/binder/bus.sock", "/run/binder/bus.sock"])
    let client = BinderClient(socket: "/nowhere/s", name: "test")
    let error = #expect(throws: ClientError.self) { try client.call("ping") }
    #expect(
      error?.description
        == "no daemon answers: tried /nowhere/s (--socket: No such file or directory)")
  }

  @Test
  func `the option comes before the environment, what is named before what is usual`() {
    func paths(_ option: String?, _ named: String?, _ runtime: String?) -> [String] {
      SocketSearch(option: option) { $0 == "BINDER_SOCKET" ? named : runtime }.places.map(\.path)
    }
    #expect(paths("/o", "/b", "/x") == ["/o"])
    #expect(paths(nil, "/b", "/x") == ["/b"])
    #expect(paths(nil, nil, "/x") == ["/x/binder/bus.sock", "/run/binder/bus.sock"])
    #expect(paths(nil, "", nil) == ["/run/binder/bus.sock"])
  }
}
