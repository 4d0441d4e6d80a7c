import Glibc
import JSON
import TestSupport
import Testing

/// The state quota on the real daemon: refusals, warnings and ways to free space.
struct StateQuotaTests {
  private let place: TemporaryDirectory
  private let daemon: DaemonProcess
  private let value = String(repeating: "x", count: 250_000)

  init() throws {
    place = try TemporaryDirectory()
    chmod(place.path, 0o755)
    Files.write(
      #"{"socket_mode":"0666","limits":{"state":4000000,"state_user":2000000},"#
        + #""roles":[{"name":"panel","users":[4001,4002],"methods":["**"],"read":["**"],"#
        + #""write":["**"]}]}"#,
      to: place.path + "/binder.conf")
    daemon = try DaemonProcess(["--config", place.path + "/binder.conf"], in: place.path)
  }

  private func line(_ method: String, _ params: String) -> String {
    #"{"id":1,"method":"\#(method)","params":\#(params)}"#
  }

  private func append(_ list: String) -> String {
    line("lists.append", #"["\#(list)","\#(value)"]"#)
  }

  /// Returns the members of the error of an answer; `nil` for other answers.
  private func refusal(_ answer: String) throws -> JSONObject? {
    guard case .object(let frame) = try JSONValue(parsing: answer),
      case .object(let error)? = frame["error"], case .object(let data)? = error["data"]
    else { return nil }
    return data
  }

  @Test
  func `the state never exceeds its quota, also after a kill`() throws {
    var client = try TestSocket(daemon.socket)
    for i in 0..<15 {
      #expect(try refusal(client.call(append("l\(i)"))) == nil)
    }
    #expect(daemon.log.contains("the state has 3"))
    for _ in 0..<2 {
      let data = try refusal(client.call(append("more")))
      #expect(data?["name"] == .string("limit_reached"))
      #expect(data?["limit"] == .string("state"))
      #expect(data?["max"] == .number(JSONNumber(4_000_000)))
      // A refused `atomic` leaves nothing behind.
      let calls =
        #"[{"method":"cells.set","params":["a",1]},"#
        + #"{"method":"lists.append","params":["more","\#(value)"]}]"#
      let atomic = try refusal(client.call(line("atomic", #"{"calls":\#(calls)}"#)))
      #expect(atomic?["limit"] == .string("state"))
      #expect(try client.call(line("get", #"["cells/a"]"#)).contains("not_found"))
      client.close()
      try daemon.killAndStart(["--config", place.path + "/binder.conf"])
      #expect(daemon.log.contains("the state has 3"))
      client = try TestSocket(daemon.socket)
    }
    #expect(try refusal(client.call(line("lists.clear", #"["l1"]"#))) == nil)
    #expect(try refusal(client.call(append("more"))) == nil)
  }

  @Test(.enabled(if: getuid() == 0, "only root can become other users"))
  func `one user can fill only a share of the quota, and others have theirs`() throws {
    let client = try OtherUser(uid: 4001, groups: [], socket: daemon.socket)
    var answer: String?
    for i in 0..<7 {
      answer = client.call(append("mine\(i)"))
      #expect(try refusal(#require(answer)) == nil)
    }
    #expect(daemon.log.contains("the state of user 4001 has 1"))
    answer = client.call(append("mine9"))
    #expect(try refusal(#require(answer))?["limit"] == .string("state_user"))
    let other = try OtherUser(uid: 4002, groups: [], socket: daemon.socket)
    answer = other.call(append("others"))
    #expect(try refusal(#require(answer)) == nil)
    // Each user sees their own usage.
    answer = client.call(line("stats", "{}"))
    guard case .object(let frame) = try JSONValue(parsing: #require(answer)),
      case .object(let result)? = frame["result"], case .object(let usage)? = result["usage"],
      case .number(let bytes)? = usage["state_user"], case .number(let all)? = usage["state"]
    else {
      Issue.record("\(answer ?? "nothing")")
      return
    }
    #expect(1_750_000..<1_760_000 ~= bytes.int64 ?? 0)
    #expect(2_000_000..<2_010_000 ~= all.int64 ?? 0)
  }

  @Test
  func `a name without a value is charged to nobody, and goes on with its version`() throws {
    let client = try TestSocket(daemon.socket)
    for i in 0..<200 {
      _ = try client.call(line("cells.set", #"["n\#(i)",1]"#))
      if i != 7 { _ = try client.call(line("cells.remove", #"["n\#(i)"]"#)) }
    }
    func usage(_ client: TestSocket) throws -> Int {
      guard case .object(let usage)? = try client.result(line("stats", "{}"))["usage"],
        case .number(let bytes)? = usage["state"]
      else { return 0 }
      return Int(bytes.int64 ?? 0)
    }
    #expect(try usage(client) < 3_000)
    #expect(
      try client.call(line("journal.compact", #"{"before":{"seq":399}}"#)).contains("result"))
    client.close()
    daemon.end()
    try daemon.start(["--config", place.path + "/binder.conf"])
    let after = try TestSocket(daemon.socket)
    #expect(try usage(after) < 3_000)
    for (name, version) in [("n3", 3), ("n7", 2)] {
      let answer = try after.call(line("cells.set", #"["\#(name)",2]"#))
      #expect(answer.contains(#""version":\#(version)"#), "\(answer)")
    }
    after.close()
    daemon.end()
    #expect(
      try run([DaemonProcess.executable, "--verify", "--journal", daemon.journal])
        .contains("events read back"))
    let lines = place.path + "/lines"
    _ = try run([DaemonProcess.executable, "--export", lines, "--journal", daemon.journal])
    _ = try run([DaemonProcess.executable, "--import", lines, "--journal", place.path + "/n.db"])
  }
}
