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

  @Test(.enabled(if: getuid() == 0, "only root can become other users"))
  func `the last room of the disk is for administrators, and each user's figures are shown`()
    throws
  {
    let mount = try TemporaryMount(kibibytes: 65_536)
    guard mount.isMounted else { return }
    chmod(mount.path, 0o755)
    let daemon = try DaemonProcess(["--config", place.path + "/binder.conf"], in: mount.path)
    let user = try OtherUser(uid: 4001, groups: [], socket: daemon.socket)
    let set = line("cells.set", #"["a","\#(value)"]"#)
    // On a slow machine the disk may be full for a moment before it is measured again.
    var data: JSONObject?
    for _ in 0..<1_000_000 where data?["reason"] != .string("disk_reserve") {
      data = try refusal(#require(user.call(set)))
    }
    #expect(data?["name"] == .string("read_only"))
    #expect(data?["reason"] == .string("disk_reserve"))
    #expect(data?["retry"] == .bool(true))
    #expect(daemon.log.contains("less than disk_reserve: commands of all users but administrators"))
    let owner = try TestSocket(daemon.socket)
    #expect(try refusal(owner.call(set))?["reason"] != .string("disk_reserve"))
    let stats = try owner.result(line("stats", "{}"))
    guard case .object(let counters)? = stats["stats"],
      case .number(let free)? = counters["disk_free_bytes"],
      case .number(let reserved)? = counters["disk_reserved_bytes"]
    else {
      Issue.record("\(stats)")
      return
    }
    #expect((free.int64 ?? 0) < (reserved.int64 ?? 0))
    guard case .array(let users)? = try owner.result(line("get", #"["daemon/users"]"#))["value"]
    else {
      Issue.record("no users")
      return
    }
    let own = users.compactMap { if case .object(let user) = $0 { user } else { nil } }
      .first { $0["uid"] == .number(JSONNumber(4001)) }
    #expect(own?["connections"] == .number(JSONNumber(1)))
    guard case .number(let written)? = own?["journal_bytes"] else { return }
    // The files of the tail take some of the disk.
    #expect((written.int64 ?? 0) > 30_000_000)
  }

  /// Connects many times as another user, asks for a long value on the first and on the last
  /// connection, and prints how many bytes the kernel holds for each.
  ///
  /// The answer of another connection shows that the daemon has sent as much as there is room for.
  private static let crowd = """
    import array, fcntl, os, select, socket, sys, termios
    os.chdir(os.path.dirname(sys.argv[1]))
    os.setgroups([]); os.setgid(4001); os.setuid(4001)
    def connect():
        client = socket.socket(socket.AF_UNIX)
        client.connect(os.path.basename(sys.argv[1]))
        return client
    clients = [connect() for _ in range(300)]
    clients[-1].sendall(b'{"id":1,"method":"ping"}\\n')
    clients[-1].recv(4096)
    def held(client):
        client.sendall(b'{"id":1,"method":"hello","params":{"limits":{"line":1000000}}}\\n')
        client.recv(65536)
        client.sendall(b'{"id":2,"method":"get","params":["cells/a"]}\\n')
        count = array.array("i", [0])
        select.select([client], [], [])
        clients[1].sendall(b'{"id":3,"method":"ping"}\\n')
        clients[1].recv(4096)
        fcntl.ioctl(client, termios.FIONREAD, count)
        return count[0]
    print(held(clients[0]), held(clients[-1]))
    """

  @Test(.enabled(if: getuid() == 0, "only root can become other users"))
  func `the kernel holds less output for each client of a user who has very many`() throws {
    let client = try TestSocket(daemon.socket)
    #expect(try refusal(client.call(line("cells.set", #"["a","\#(value)"]"#))) == nil)
    let counts = try run(["python3", "-c", Self.crowd, daemon.socket]).split(separator: " ")
      .compactMap { Int($0.filter(\.isNumber)) }
    #expect(counts.count == 2)
    #expect(counts.first ?? 0 > 65_536, "\(counts)")
    #expect(1...40_000 ~= counts.last ?? 0, "\(counts)")
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
