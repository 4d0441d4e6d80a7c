import Glibc
import TestSupport

/// A binderd under a service manager that stores descriptors; see `Tests/systemd/service-manager`.
final class ManagedDaemon {
  /// The program of the service manager.
  static let manager = #filePath.replacing(
    "DaemonTests/ManagedDaemon.swift", with: "systemd/service-manager")

  private let directory: TemporaryDirectory
  private var pid: pid_t = 0

  var socket: String { directory.path + "/bus.sock" }
  var log: String { Files.text(of: directory.path + "/log") }

  /// The steps of the manager, a line for each.
  var steps: [Substring] { Files.text(of: directory.path + "/steps").split(separator: "\n") }

  /// The names of the descriptors that the manager has now.
  var stored: Set<String> {
    var names: Set<String> = []
    for step in steps {
      let words = step.split(separator: " ").map(String.init)
      guard words.count == 2 else { continue }
      if words[0] == "stored" { names.insert(words[1]) }
      if words[0] == "removed" { names.remove(words[1]) }
    }
    return names
  }

  /// The process of the daemon.
  var daemon: pid_t {
    steps.last { $0.hasPrefix("started") }?.split(separator: " ").last.flatMap { pid_t($0) } ?? 0
  }

  /// The path of the configuration, if there is one.
  var configuration: String { directory.path + "/binder.conf" }

  /// Starts a daemon and waits until it is ready.
  ///
  /// - Parameters:
  ///   - configuration: The text of the configuration; `nil` for none.
  ///   - wrapper: The words before the program.
  ///   - prepare: Puts files into the directory of the configuration.
  init(
    _ arguments: [String] = [], store: Int = 1_000, configuration text: String? = nil,
    wrapper: [String] = [], prepare: (_ directory: String) -> Void = { _ in }
  ) throws {
    _ = DaemonProcess.descriptorLimit
    directory = try TemporaryDirectory()
    prepare(directory.path)
    if let text { Files.write(text, to: directory.path + "/binder.conf") }
    let file = text == nil ? "/dev/null" : directory.path + "/binder.conf"
    let words =
      [Self.manager, socket, "--store", "\(store)", "--"] + wrapper + [DaemonProcess.executable]
      + ["--journal", directory.path + "/journal.db", "--config", file] + arguments
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, file) in [(CInt(1), "/steps"), (2, "/log")] {
      posix_spawn_file_actions_addopen(
        &actions, descriptor, directory.path + file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }
    var argv = words.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    guard posix_spawn(&pid, words[0], &actions, nil, &argv, environ) == 0 else {
      throw DaemonProcess.Failure(description: "\(words[0]) does not start")
    }
    try waitUntilReady(1)
  }

  deinit { end() }

  /// Stops the daemon, its clients and its manager.
  func end() {
    guard pid > 0 else { return }
    kill(pid, SIGTERM)
    waitpid(pid, nil, 0)
    pid = 0
  }

  private var readyCount: Int { steps.count { $0 == "ready" } }

  private func waitUntilReady(_ count: Int) throws {
    guard holds({ readyCount >= count }) else {
      throw DaemonProcess.Failure(description: "is not ready: \(log)")
    }
  }

  /// Ends the daemon with a signal and waits for the next one.
  func killAndWait(_ signal: CInt = SIGKILL) throws {
    let count = readyCount
    kill(daemon, signal)
    try waitUntilReady(count + 1)
  }

  /// Restarts the daemon in order.
  func restart() throws {
    let count = readyCount
    kill(pid, SIGUSR1)
    try waitUntilReady(count + 1)
  }

  /// Waits until the manager holds a number of clients, and none of them is being served.
  func settle(clients count: Int) throws {
    guard waitForStored(clients: count) else {
      throw DaemonProcess.Failure(description: "not \(count) clients: \(stored)")
    }
    // One client is served after the other.
    let other = try TestSocket(socket)
    defer { other.close() }
    _ = try other.call(#"{"id":1,"method":"ping"}"#)
  }

  /// Waits until the manager holds a number of clients.
  func waitForStored(clients count: Int) -> Bool {
    holds { stored.count { $0.hasPrefix("kept-client-") } == count }
  }
}
