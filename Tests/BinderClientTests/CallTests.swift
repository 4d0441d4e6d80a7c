import BinderClient
import Glibc
import JSON
import TestSupport
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
  func `a result is decoded as the requested type`() throws {
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
  func `an unknown error of a newer daemon is passed on unchanged`() throws {
    let text = #"{"code":4711,"message":"new"}"#
    let daemon = try ScriptedDaemon([[ScriptedDaemon.hello, .refuse(text)]])
    let client = BinderClient(socket: daemon.path, name: "test")
    #expect(throws: ClientError.unknownError(try JSONText(parsing: text))) {
      try client.call("get")
    }
  }

  @Test
  func `a lost call is not repeated, and the next one reconnects`() throws {
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
  func `a call ends at its deadline, and its late answer is ignored`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .take, .take,
        .send(#"{"jsonrpc":"2.0","id":2,"result":{"value":"late"}}"#),
        .send(#"{"jsonrpc":"2.0","id":3,"result":{"value":"mine"}}"#),
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    // The time of the call does not include the greeting.
    _ = try client.connected()
    #expect(throws: ClientError.timedOut) {
      try client.call("a", until: Deadline(inMilliseconds: 20))
    }
    #expect(try client.call("b").text == #"{"value":"mine"}"#)
  }

  @Test
  func `an answer with very many members is read`() throws {
    let members = (0..<5_000).map { #""cells/n\#($0)":\#($0)"# }.joined(separator: ",")
    let answer = #"{"values":{\#(members)}}"#
    let daemon = try ScriptedDaemon([[ScriptedDaemon.hello, .answer(answer)]])
    let client = BinderClient(socket: daemon.path, name: "test")
    #expect(try client.call("get").text == answer)
  }

  @Test
  func `a call times out although the daemon sends other lines without end`()
    throws
  {
    let noise = ScriptedDaemon.Step.repeat(#"{"jsonrpc":"2.0","method":"next","params":{"sub":1}}"#)
    let daemon = try ScriptedDaemon([[ScriptedDaemon.hello, .take, noise]])
    let client = BinderClient(socket: daemon.path, name: "test")
    client.limits = AnswerLimits(milliseconds: 100)
    #expect(throws: ClientError.timedOut) { try client.call("a") }
  }

  @Test
  func `unrequested notifications and answers are not kept`() async {
    // In a process of its own, in which no other test uses memory.
    await #expect(processExitsWith: .success) { try CallTests().receiveUnrequested() }
  }

  private func receiveUnrequested() throws {
    // 2 × 192 MiB are sent.
    let text = String(repeating: "x", count: 1 << 20)
    let noise = Array(
      repeating: ScriptedDaemon.Step.send(
        #"{"jsonrpc":"2.0","method":"next","params":{"sub":1,"value":"\#(text)"}}"#), count: 192)
    let answers = Array(
      repeating: ScriptedDaemon.Step.send(#"{"jsonrpc":"2.0","id":77,"result":"\#(text)"}"#),
      count: 192)
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, .take] + noise + answers
        + [.send(#"{"jsonrpc":"2.0","id":2,"result":{"value":1}}"#)]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let before = residentKilobytes
    let answer = try client.call("a").text
    precondition(answer == #"{"value":1}"#, answer)
    let growth = residentKilobytes - before
    precondition(growth < 100_000, "\(growth) KiB")
  }

  @Test
  func `late answers to timed-out calls are not kept`() throws {
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .take, .take, .take,
        .send(#"{"jsonrpc":"2.0","id":2,"result":{"value":"late"}}"#),
        .send(#"{"jsonrpc":"2.0","id":3,"result":{"value":"late"}}"#),
        .send(#"{"jsonrpc":"2.0","id":4,"result":{"value":"mine"}}"#),
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    // The time of the calls does not include the greeting.
    _ = try client.connected()
    for method in ["a", "b"] {
      #expect(throws: ClientError.timedOut) {
        try client.call(method, until: Deadline(inMilliseconds: 20))
      }
    }
    #expect(try client.call("c").text == #"{"value":"mine"}"#)
    #expect(try client.connected().unreadAnswers == 0)
  }

  @Test
  func `the next call after an invalid line reconnects`() throws {
    let daemon = try ScriptedDaemon([
      [ScriptedDaemon.hello, .take, .send("nonsense")],
      [ScriptedDaemon.hello, .answer(#"{"value":2}"#)],
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    #expect(throws: ClientError.notUnderstood("a line that is not JSON")) {
      try client.call("a")
    }
    #expect(try client.call("b").text == #"{"value":2}"#)
  }

  @Test
  func `the memory of an unread stream is bounded`() throws {
    let text = String(repeating: "x", count: 1 << 20)
    let noise = ScriptedDaemon.Step.repeat(
      #"{"jsonrpc":"2.0","method":"next","params":{"sub":"t0","seq":9,"event":{"a":"\#(text)"}}}"#)
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .answer(#"{"sub":"t0","epoch":"e","after":0}"#), .take, noise,
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    let follower = try client.follow([Topic(eventsFrom: nil, durable: DurableReader("d"))])
    #expect(throws: ClientError.notUnderstood("more than 64 MiB before an answer")) {
      try follower.acknowledge(0, upTo: 1)
    }
  }

  @Test
  func `a daemon that accepts a connection and stays silent is reported and abandoned`() throws {
    let daemon = try ScriptedDaemon([[.take, .hang]])
    let client = BinderClient(socket: daemon.path, name: "test")
    client.limits = AnswerLimits(milliseconds: 100, noteMilliseconds: 20)
    var notes: [ConnectionNote] = []
    client.onNote = { notes.append($0) }
    #expect(throws: ClientError.timedOut) { try client.call("a") }
    #expect(notes == [.silent(path: daemon.path)])
  }

  @Test
  func `notifications during a call reach their observer`() throws {
    let fail = #"{"binding":1,"error":{"code":1,"message":"m","data":{}}}"#
    let daemon = try ScriptedDaemon([
      [
        ScriptedDaemon.hello, .take,
        .send(#"{"jsonrpc":"2.0","method":"fail","params":\#(fail)}"#),
        .send(#"{"jsonrpc":"2.0","id":2,"result":{}}"#),
      ]
    ])
    let client = BinderClient(socket: daemon.path, name: "test")
    var told: [String] = []
    try client.connected().onNotification = { told.append("\($0) \($1)") }
    _ = try client.call("ping")
    #expect(told == ["fail \(fail)"])
  }

  @Test
  func `a socket without permission is distinguished from a missing daemon`() {
    func error(_ code: CInt) -> ClientError {
      let place = SocketSearch.Place(path: "/s", origin: "--socket")
      return .noDaemon([.init(place: place, code: code, reason: "R")])
    }
    #expect(error(EACCES).description == "permission denied: tried /s (--socket: R)")
    #expect(error(EACCES).isDenied)
    #expect(error(ENOENT).description == "no daemon answers: tried /s (--socket: R)")
    #expect(!error(ENOENT).isDenied)
    #expect(ClientError.lost(reason: "permission_denied").isDenied)
  }

  /// The resident memory of this process, in KiB.
  private var residentKilobytes: Int {
    let status = Files.text(of: "/proc/self/statm").split(separator: " ")
    return (Int(status[1]) ?? 0) * 4
  }

  @Test
  func `an answer that is not JSON is reported`() throws {
    let daemon = try ScriptedDaemon([[.take, .send("HTTP/1.1 400 Bad Request")]])
    let client = BinderClient(socket: daemon.path, name: "test")
    #expect(throws: ClientError.notUnderstood("a line that is not JSON")) {
      try client.call("ping")
    }
  }

  @Test
  func `without a daemon, the error names every tried path`() throws {
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
  func `the option precedes the environment, and a named path precedes the defaults`() {
    func paths(
      _ option: String?, _ named: String?, _ runtime: String?, daemon: String? = nil,
      surrounding: String? = nil
    ) -> [String] {
      let variables = [
        "BINDER_SOCKET": named, "XDG_RUNTIME_DIR": runtime, "BINDER_NAME": surrounding,
      ]
      return SocketSearch(option: option, daemon: daemon) { variables[$0] ?? nil }.places
        .map(\.path)
    }
    #expect(paths("/o", "/b", "/x") == ["/o"])
    #expect(paths(nil, "/b", "/x") == ["/b"])
    #expect(paths(nil, nil, "/x") == ["/x/binder/bus.sock", "/run/binder/bus.sock"])
    #expect(paths(nil, "", nil) == ["/run/binder/bus.sock"])
    #expect(paths("/o", nil, nil, daemon: "choresd") == ["/o"])
    let chores = ["/x/choresd/bus.sock", "/run/choresd/bus.sock"]
    #expect(paths(nil, "/b", "/x", daemon: "choresd") == chores)
    #expect(paths(nil, nil, "/x", surrounding: "choresd") == chores)
    #expect(paths(nil, "/b", "/x", surrounding: "choresd") == ["/b"])
    #expect(paths(nil, nil, nil, daemon: "a-d", surrounding: "b") == ["/run/a-d/bus.sock"])
    for name in ["binderd", "binder", ""] {
      #expect(paths(nil, nil, nil, surrounding: name) == ["/run/binder/bus.sock"])
    }
  }
}
