import Glibc
import JSON
import Testing

/// Bindings of the daemon, killed before a binding has passed a value on.
struct BindingKillTests {
  private func call(_ line: String, _ client: TestSocket) throws -> JSONObject {
    let result = try client.result(line)
    #expect(result["code"] == nil, "\(result)")
    return result
  }

  /// A wrapper that slows journal writes, so that the kill precedes the write of the binding.
  private static let slowDisk = [
    "env", "ASAN_OPTIONS=detect_leaks=0", "strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e",
    "trace=pwrite64", "-e", "inject=pwrite64:delay_enter=20000",
  ]

  @Test(
    .needs("strace"),
    arguments: [("cells/p", "cells/q"), ("people/1/name", "cells/kim")])
  func `15: a binding does not overwrite an acknowledged value after a kill`(
    left: String, right: String
  ) throws {
    let daemon = try DaemonProcess(wrapper: Self.slowDisk)
    var client = try TestSocket(daemon.socket)
    _ = try call(#"{"id":1,"method":"people.create","params":["Kim"]}"#, client)
    _ = try call(
      #"{"id":2,"method":"bind","params":{"expr":"\#(left) <> \#(right)","scope":"daemon"}}"#,
      client)
    for round in 0..<8 {
      let (set, other) = round % 3 == 0 ? (left, right) : (right, left)
      _ = try call(#"{"id":3,"method":"set","params":["\#(set)","n\#(round)"]}"#, client)
      try daemon.killAndStart()
      client = try TestSocket(daemon.socket)
      for source in [set, other] {
        _ = try call(
          #"{"id":4,"method":"wait","params":{"source":"\#(source)","value":"n\#(round)","_meta":{"timeout_ms":60000}}}"#,
          client)
      }
    }
    // A start without pending values records nothing.
    let last = try daemon.last()
    client.close()
    #expect(daemon.end() == 0)
    try daemon.start()
    #expect(try daemon.last() == last)
  }
}
