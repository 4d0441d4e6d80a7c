import Glibc
import JSON
import TestSupport
import Testing

/// The memory of a start.
struct ReplayMemoryTests {
  @Test
  func `a replay of large events needs no more memory than one of small events`() throws {
    guard !DaemonProcess.isSanitized else { return }
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket)
    let text = String(repeating: "x", count: 250_000)
    for i in 0..<400 {
      #expect(
        try client.call(#"{"id":1,"method":"cells.set","params":["n","\#(i)\#(text)"]}"#)
          .contains(#""seq":"#))
    }
    client.close()
    try daemon.killAndStart()
    let again = try TestSocket(daemon.socket)
    #expect(try again.result(#"{"id":1,"method":"ping"}"#)["last"] == .number(JSONNumber(400)))
    let line = Files.text(of: "/proc/\(daemon.pid)/status").split(separator: "\n")
      .first { $0.hasPrefix("VmHWM:") }
    let peak = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? .max
    #expect(peak < 64 << 10, "\(peak) KiB")
  }
}
