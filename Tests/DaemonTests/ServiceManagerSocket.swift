import Glibc
import TestSupport

/// The notification socket of a service manager; see sd_notify(3).
final class ServiceManagerSocket {
  private let directory: TemporaryDirectory
  private let descriptor: CInt

  init() throws {
    directory = try TemporaryDirectory()
    descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { throw DaemonProcess.Failure(description: "bind: \(errno)") }
  }

  deinit {
    close(descriptor)
  }

  var path: String { directory.path + "/notify" }

  /// A wrapper for a daemon that sends notifications to this socket.
  var wrapper: [String] { ["env", "NOTIFY_SOCKET=\(path)"] }

  /// Sends messages to the socket until it takes no more.
  func fill() throws {
    let other = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
    defer { close(other) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(other, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { throw DaemonProcess.Failure(description: "connect: \(errno)") }
    while send(other, "STATUS=x", 8, CInt(MSG_DONTWAIT)) > 0 {}
    guard errno == EAGAIN else { throw DaemonProcess.Failure(description: "send: \(errno)") }
  }

  /// Returns the next notification; `nil` if none arrives in time.
  func told(within milliseconds: CInt = 60_000) -> String? {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, milliseconds) > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
  }

  /// Waits for a notification.
  func wait(for text: String) -> Bool {
    while let told = told() { if told.contains(text) { return true } }
    return false
  }
}
