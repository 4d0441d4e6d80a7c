import Glibc
import JSON
import TestSupport
import Testing

/// The limits of a role on the real daemon: they apply to its users, and to nobody else.
@Suite(.enabled(if: getuid() == 0, "only root can become other users"))
struct RoleLimitTests {
  private let place: TemporaryDirectory
  private let daemon: DaemonProcess
  private let value = String(repeating: "x", count: 250_000)

  init() throws {
    place = try TemporaryDirectory()
    chmod(place.path, 0o755)
    Self.configure(
      place,
      #""connections_user":2,"state_user":1100000,"subs":1,"leases_user":1,"locks_user":1,"#
        + #""providers_user":0,"queued_user":0,"memory_user":70000"#)
    daemon = try DaemonProcess(["--config", place.path + "/binder.conf"], in: place.path)
  }

  private static func configure(_ place: TemporaryDirectory, _ limits: String) {
    let rights = #""methods":["**"],"read":["**"],"write":["**"]"#
    Files.write(
      #"{"socket_mode":"0666","roles":[{"name":"guest","users":[4001],\#(rights),"#
        + #""limits":{\#(limits)}},{"name":"panel","users":[4002],\#(rights)}]}"#,
      to: place.path + "/binder.conf")
  }

  private var grant: String { line("lease.grant", #"{"ttl_ms":60000}"#) }

  private func line(_ method: String, _ params: String = "{}") -> String {
    #"{"id":1,"method":"\#(method)","params":\#(params)}"#
  }

  /// Returns the limit that an answer names; `nil` if it is no error.
  private func limit(_ answer: String?) -> String? {
    guard let answer, case .object(let frame)? = try? JSONValue(parsing: answer),
      case .object(let error)? = frame["error"]
    else { return answer == nil ? "nothing" : nil }
    guard case .object(let data)? = error["data"] else { return "no data" }
    return data["limit"].map { "\($0.text.text) \(data["max"]?.text.text ?? "")" }
      ?? error["message"]?.text.text
  }

  private func result(_ answer: String?) throws -> JSONObject {
    guard let answer, case .object(let frame) = try JSONValue(parsing: answer),
      case .object(let result)? = frame["result"]
    else {
      Issue.record("\(answer ?? "nothing")")
      return [:]
    }
    return result
  }

  @Test
  func `each limit of a role holds for its users, and for nobody else`() throws {
    let guest = try OtherUser(uid: 4001, groups: [], socket: daemon.socket)
    let panel = try OtherUser(uid: 4002, groups: [], socket: daemon.socket)
    let subscribe = line("subscribe", #"["cells/a"]"#)
    let requests: [(refusedWith: String, lines: [String])] = [
      (
        #""state_user" 1100000"#,
        (0..<5).map { line("lists.append", #"["l\#($0)","\#(value)"]"#) }
      ),
      (#""subs" 1"#, [subscribe, subscribe]),
      ("(leases_user)", [grant, grant]),
      (
        "(providers_user)",
        [line("provide", #"{"service":"lamp","methods":{"blink":{}}}"#)]
      ),
    ]
    for (refusal, lines) in requests {
      let answers = lines.map { limit(guest.call($0)) }
      #expect(answers.dropLast().allSatisfy { $0 == nil }, "\(refusal): \(answers)")
      #expect(answers.last??.contains(refusal) == true, "\(refusal): \(answers)")
    }
    for (refusal, lines) in requests {
      let own = lines.map { $0.replacing("[\"l", with: "[\"p") }
      #expect(own.map { limit(panel.call($0)) }.allSatisfy { $0 == nil }, "\(refusal)")
    }
    let second = try OtherUser(uid: 4001, groups: [], socket: daemon.socket)
    #expect(limit(second.call(line("ping"))) == nil)
    let third = try OtherUser(uid: 4001, groups: [], socket: daemon.socket).line() ?? ""
    #expect(third.contains(#""limit":"connections_user","max":2"#), "\(third)")
  }

  @Test
  func `hello, whoami, acl and daemon users show the limits of a role`() throws {
    let guest = try OtherUser(uid: 4001, groups: [], socket: daemon.socket)
    let panel = try OtherUser(uid: 4002, groups: [], socket: daemon.socket)
    func shown(_ object: JSONObject, _ name: String) -> JSONValue? {
      guard case .object(let limits)? = object["limits"] else { return nil }
      return limits[name]
    }
    let one = JSONValue.number(JSONNumber(1))
    #expect(shown(try result(guest.call(line("hello"))), "subs") == one)
    #expect(shown(try result(panel.call(line("hello"))), "subs") != one)
    #expect(shown(try result(guest.call(line("whoami"))), "subs") == one)
    #expect(try result(panel.call(line("whoami")))["limits"] == nil)
    let owner = try TestSocket(daemon.socket)
    let acl = line("acl", #"{"uid":4001,"method":"ping"}"#)
    #expect(shown(try owner.result(acl), "subs") == one)
    guard case .array(let users)? = try owner.result(line("get", #"["daemon/users"]"#))["value"]
    else {
      Issue.record("no users")
      return
    }
    let limits = users.compactMap { user -> JSONValue? in
      if case .object(let user) = user { shown(user, "subs") } else { nil }
    }
    #expect(limits == [one])
  }

  @Test
  func `a reload changes the limits of connected clients`() throws {
    let guest = try OtherUser(uid: 4001, groups: [], socket: daemon.socket)
    let subscribe = line("subscribe", #"["cells/a"]"#)
    #expect(limit(guest.call(subscribe)) == nil)
    #expect(limit(guest.call(subscribe)) == #""subs" 1"#)
    Self.configure(place, #""subs":2"#)
    let owner = try TestSocket(daemon.socket)
    #expect(try owner.call(line("reload")).contains("roles"))
    #expect(limit(guest.call(subscribe)) == nil)
    #expect(limit(guest.call(subscribe)) == #""subs" 2"#)
    for _ in 0..<2 { #expect(limit(guest.call(grant)) == nil) }
  }
}
