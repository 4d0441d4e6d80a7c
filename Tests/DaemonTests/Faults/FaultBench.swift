import Glibc
import JSON
import TestSupport
import Testing

/// A daemon for fault injection, and the checks that must hold after each fault.
final class FaultBench {
  let daemon: DaemonProcess

  /// A client that connected before the fault.
  let old: TestSocket

  private let sockets: Int
  private let files: Int

  /// The files that a fault may open which were not needed before: the database of another reader.
  private static let laterFiles = 4
  private let memory: Int
  private let epoch: JSONValue?

  /// The number of acknowledged increments by ``old``.
  private var acknowledged = 0

  /// - Parameter limits: Limits that differ from the defaults, for example shorter times.
  init(limits: [String: Int] = [:]) throws {
    let place = try TemporaryDirectory()
    defer { withExtendedLifetime(place) {} }
    let file = place.path + "/binder.conf"
    let members = limits.map { #""\#($0)":\#($1)"# }.joined(separator: ",")
    Files.write(#"{"limits":{\#(members)}}"#, to: file)
    daemon = try DaemonProcess(["--config", file])
    old = try TestSocket(daemon.socket)
    epoch = try old.result(#"{"id":0,"method":"hello"}"#)["epoch"]
    // Allocate everything that is allocated once before measuring.
    for _ in 0..<20 {
      let client = try TestSocket(daemon.socket)
      _ = try client.call(#"{"id":1,"method":"subscribe","params":["cells/**"]}"#)
      _ = try client.call(#"{"id":1,"method":"history","params":{"source":"events"}}"#)
      client.close()
    }
    // The daemon notices a little later that a client has gone.
    let alone = #""connections":1,"#
    let first = self.old
    try Self.waitUntil("the clients have gone") {
      try first.call(#"{"id":1,"method":"stats"}"#).contains(alone)
    }
    sockets = daemon.sockets
    files = daemon.descriptors - sockets
    memory = daemon.residentBytes
    try count()
    try count()
  }

  /// Increments a cell and waits for the acknowledgement.
  func count() throws {
    acknowledged += 1
    let result = try old.result(
      #"{"id":"count","method":"cells.add","params":{"name":"counted"}}"#)
    #expect(result["value"] == .number(JSONNumber(acknowledged)))
  }

  /// Returns a number of `stats`.
  func stats(_ name: String) throws -> Int {
    guard case .object(let stats)? = try old.result(#"{"id":1,"method":"stats"}"#)["stats"],
      case .number(let number)? = stats[name]
    else { return -1 }
    return Int(number.int64 ?? -1)
  }

  func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
    try Self.waitUntil(what, condition)
  }

  static func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
    if try !holds(condition) { Issue.record("it does not come to that: \(what)") }
  }

  /// Checks that the daemon has survived a fault.
  ///
  /// It answers old and new clients, memory and descriptors are at their earlier level, and
  /// acknowledged commands are there, also after a kill.
  ///
  /// - Parameter growth: The allowed growth in bytes, including memory kept by the allocator.
  func checkWellBeing(growth: Int = 6 << 20) throws {
    try count()
    let new = try TestSocket(daemon.socket)
    for client in [old, new] {
      #expect(try client.call(#"{"id":1,"method":"ping"}"#).contains(#""last":"#))
    }
    new.close()
    try waitUntil("the others are gone") {
      try stats("connections") == 1 && stats("subscriptions") == 0
    }
    try waitUntil("sockets are as before") { daemon.sockets <= sockets }
    try waitUntil("files are as before") {
      daemon.descriptors - daemon.sockets <= files + Self.laterFiles
    }
    try waitUntil("memory is as before") {
      DaemonProcess.isSanitized || daemon.residentBytes - memory < growth
    }
    #expect(
      daemon.log.utf8.allSatisfy { $0 == 0x0A || $0 >= 0x20 && $0 != 0x7F },
      "what clients say reaches the log as it is")
    try daemon.killAndStart()
    let after = try TestSocket(daemon.socket)
    let value = try after.result(#"{"id":1,"method":"get","params":["cells/counted"]}"#)["value"]
    #expect(value == .number(JSONNumber(acknowledged)))
    #expect(try after.result(#"{"id":1,"method":"hello"}"#)["epoch"] == epoch)
    after.close()
    #expect(daemon.end() == 0)
    #expect(
      try run([DaemonProcess.executable, "--verify", "--journal", daemon.journal])
        .contains("read back"))
  }
}

/// Returns the `data` of the error of an answer.
func error(_ line: String?) -> JSONObject? {
  guard let line, case .object(let frame)? = try? JSONValue(parsing: line),
    case .object(let error)? = frame["error"], case .object(let data)? = error["data"]
  else { return nil }
  return data
}

/// Returns the stable name of the error of an answer.
func errorName(_ line: String?) -> String? {
  guard case .string(let name)? = error(line)?["name"] else { return nil }
  return name
}
