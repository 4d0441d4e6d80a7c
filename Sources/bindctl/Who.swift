import BinderClient
import Console
import Glibc
import JSON

let whoOption = Option(
  "who", "add who did it: user, program with process ID, and method")

extension JSONObject {
  /// Returns who has recorded an event, for people; `nil` if the event does not say.
  var who: String? {
    guard case .object(let who)? = self["who"], let uid = who.uint("uid").map(uid_t.init) else {
      return nil
    }
    let user = getpwuid(uid).map { String(cString: $0.pointee.pw_name) } ?? "\(uid)"
    let program = who.string("program") ?? ""
    // Without a process it was the daemon itself, in the name of a user.
    let process = who.uint("pid").flatMap { $0 == 0 ? nil : "\(program)[\($0)]" } ?? "binderd"
    return "\(user) \(process) \(who.string("method") ?? "")"
  }
}

extension BinderConnection {
  /// Returns who has changed a source last, up to a position, as the member `who` of an event.
  func lastChange(of source: String, upTo seq: JSONValue) throws -> JSONValue? {
    var stream = source[...]
    // The event may be in the stream of a parent source.
    while true {
      var params: JSONObject = [
        "source": .string("events"), "limit": .number(JSONNumber(1)), "who": .bool(true),
        "filter": .object(["streams": .array([.string(String(stream))])]),
      ]
      if case .number(let number) = seq, let last = number.int64 {
        params["before"] = .number(JSONNumber(last + 1))
      }
      let page = try call("history", params).object
      if let who = page.items.first?.event["who"] { return who }
      guard let slash = stream.lastIndex(of: "/") else { return nil }
      stream = stream[..<slash]
      guard stream.contains("/") else { return nil }
    }
  }
}
