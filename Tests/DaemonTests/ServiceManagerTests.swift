import Glibc
import TestSupport
import Testing

/// A service manager that is too busy to read its messages.
struct ServiceManagerTests {
  private let manager: ServiceManagerSocket
  private let daemon: DaemonProcess

  /// Starts a daemon whose manager takes no message.
  init() throws {
    manager = try ServiceManagerSocket()
    try manager.fill()
    daemon = try DaemonProcess(wrapper: manager.wrapper)
    _ = try TestSocket(daemon.socket).call(#"{"id":1,"method":"ping"}"#)
  }

  @Test
  func `a busy manager gets READY=1 later, and after what was sent before`() {
    #expect(manager.wait(for: "READY=1\nSTATUS=serving"))
    #expect(daemon.end() == 0)
    #expect(manager.wait(for: "STOPPING=1"))
  }

  @Test
  func `a busy manager gets RELOADING=1, READY=1 and STOPPING=1 in this order`() {
    #expect(manager.wait(for: "STATUS=serving"))
    #expect(throws: Never.self) { try manager.fill() }
    kill(daemon.pid, SIGHUP)
    for _ in 0..<12_000 where !daemon.log.contains("was reloaded") { usleep(5_000) }
    kill(daemon.pid, SIGTERM)
    #expect(manager.wait(for: "RELOADING=1"))
    #expect(manager.told() == "READY=1\n")
    #expect(manager.told() == "STOPPING=1\n")
    #expect(daemon.waitForEnd() == 0)
  }
}
